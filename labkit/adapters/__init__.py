"""Our methods and losses in the form that other libraries expect, so that they can be measured and trained there.

evaluators   any method as a model that sentence-transformers' evaluators take     extra: sbert
mteb         any method as an encoder that MTEB 2 takes                            extra: mteb
losses       any loss as one of sentence-transformers' trainer (extra: sbert), or of pytorch-metric-learning
"""
