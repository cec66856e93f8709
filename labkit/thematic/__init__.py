"""Thematic triplets: sentences in one section should be closer to each other than to sentences in other sections."""
