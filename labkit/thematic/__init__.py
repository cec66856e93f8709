"""Thematic triplets: sentences of one section should be closer to each other than to those of another section."""
