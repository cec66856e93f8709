"""The ablations keep their cells in the same store as the papers' tables; a class is in a folder."""

from tests.course.thirty import thirty as thirty
from tests.papers.conftest import desk as desk
from tests.papers.conftest import store as store
