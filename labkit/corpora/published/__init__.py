"""Published datasets: where they are, how to download them, and how to read their two forms on disk."""

from labkit.corpora.published.datasets import PUBLISHED, Published
from labkit.corpora.published.registry import fetch_published, load_published, located

__all__ = ["PUBLISHED", "Published", "fetch_published", "load_published", "located"]
