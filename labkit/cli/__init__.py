"""The program `labkit`: its commands, what they are given, and what they say."""
