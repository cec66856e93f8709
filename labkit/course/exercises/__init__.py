"""The checks of the notebooks' exercises, a module a notebook (SentPWNet's training has its own)."""

from labkit.course.exercises import (
    break_it,
    film,
    from_something,
    own_training,
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
