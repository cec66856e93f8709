"""The command line `labkit`."""
