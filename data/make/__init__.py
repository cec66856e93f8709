"""The generators of the bundled corpora, one module each, with their words in `words/NAME.toml`.

A generator defines `units(seed)`, an endless stream of lists of rows that belong together, and the `SEED` and `UNITS`
of the bundled file. Its output depends only on the seed and the words, so the same seed gives the same bytes.
"""
