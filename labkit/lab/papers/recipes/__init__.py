"""Recipes: how the rows of the papers' tables are recomputed. Each is a function of a `Case`, giving an `Outcome`.

scoring       a method trained on a corpus, scored on its test split; a picture of its classes
grades        grades of relatedness: learned from two vectors, or the similarity itself
classes       classes by the nearest training sentences; clusters by k-means
sections      triplets and clusters of sentences from the sections of articles
paraphrases   P-coherence, the weight λ, a map of groups          metric   FILM's descent, curves, rows, cost
speed         one query against n sentences, cross_encoder its slow answer          pretrained   weights of others
"""
