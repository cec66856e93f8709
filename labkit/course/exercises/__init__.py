"""The checks of the notebooks' exercises, one module per notebook."""

from labkit.course.exercises import (
    break_it,
    film,
    from_something,
    pairs_and_weights,
    pthought,
    sbert_lp,
    sentpwnet,
    thematic,
    together,
    tour,
    which_loss,
    why_alike,
    word_vectors,
)
