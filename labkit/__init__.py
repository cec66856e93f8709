"""labkit: how sentence embeddings are learned, in five papers.

corpora -> text/vectors -> encoders -> embeddings -> pairs (S, P, N): loss, weights, mining
                               |                         |
                               +------ methods: one fit/encode each ------+
                                                 |
                    evaluation, projection, runs on disk, papers' tables
                                                 |
                               figures -> notebooks · app · command line
"""

__version__ = "0.1.0"
