"""The papers' tables: what was printed, what this lab computes beside it, and whether the claims are borne out."""
