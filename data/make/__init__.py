"""The generators of the embedded corpora, a module each, and their words in `words/NAME.toml`.

A generator has `SEED` and `UNITS`, which make the committed file, and `units(seed)`: an endless stream of lists of rows
that belong together. It depends on nothing but its seed and its words, so that the same seed gives the same bytes.
"""
