"""Our methods in the form that other libraries expect, so that their evaluations can be run on them.

evaluators   any method as a model that sentence-transformers' evaluators take     extra: sbert
mteb         any method as an encoder that MTEB 2 takes                            extra: mteb
export       a method as a folder that needs nothing of labkit; `tokenizer`        extra: export, sbert
"""
