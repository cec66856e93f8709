"""The ablations keep their cells in the same store as the papers' tables."""

from tests.papers.conftest import desk as desk
from tests.papers.conftest import store as store
