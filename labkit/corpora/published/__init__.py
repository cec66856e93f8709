"""Published datasets: where they are, how to download them, and how to read their two forms on disk."""

from labkit.corpora.published.datasets import PUBLISHED
from labkit.corpora.published.registry import Published

__all__ = ["PUBLISHED", "Published"]
