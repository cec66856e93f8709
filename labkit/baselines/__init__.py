"""Baselines that learn little or nothing from labels, and transforms of vectors."""
