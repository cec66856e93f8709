"""Shared fixtures: the store of cells, the same as for the papers' tables, and the files of a class."""

from tests.course.thirty import thirty as thirty
from tests.papers.conftest import desk as desk
from tests.papers.conftest import store as store
