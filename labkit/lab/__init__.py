"""The lab around the library: the course, the papers' tables, the runs that come along, and the command line.

The library imports nothing of it; a test says so. Only `python -m labkit` and the program `labkit` open it.
"""
