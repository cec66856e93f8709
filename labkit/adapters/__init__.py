"""Our methods and losses in the form that other libraries expect, so that they are measured, trained and served there.

evaluators   any method as a model that sentence-transformers' evaluators take               extra: sbert
mteb         any method as an encoder that MTEB 2 takes                                      extra: mteb
sklearn      any method as a transformer of texts in scikit-learn's pipelines and searches
losses       any loss as one of sentence-transformers' trainer, or of pytorch-metric-learning   extra: sbert
export       a method as a folder that needs nothing of labkit; `tokenizer`                  extra: export, sbert
"""
