"""Our methods in the form that other libraries expect, for their evaluations, pipelines and searches.

evaluators   any method as a model that sentence-transformers' evaluators take     extra: sbert
mteb         any method as an encoder that MTEB 2 takes                            extra: mteb
sklearn      any method as a transformer of texts in scikit-learn's pipelines
export       a method as a folder that needs nothing of labkit; `tokenizer`        extra: export, sbert
"""
