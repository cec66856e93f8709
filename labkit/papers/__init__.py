"""The papers' tables: the printed numbers, ours, and whether the claims hold."""
