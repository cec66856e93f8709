"""Sentences and their vectors as files, written a block at a time and read back.

writing   .npz, .parquet or .tsv, whole or not at all      npz   how an .npz of any length is written
reading   .npz, .npy or .parquet, of labkit's or of others' making
"""

from labkit.embedding_files.reading import ENDINGS, read_embeddings
from labkit.embedding_files.writing import WRITERS, check_place, embedding_bytes, embedding_file, json_lines

__all__ = ["ENDINGS", "WRITERS", "check_place", "embedding_bytes", "embedding_file", "json_lines", "read_embeddings"]
