"""The checks of the notebooks' exercises, one module per notebook."""

from labkit.course.exercises import (
    lesson_00_tour,
    lesson_01_pairs_and_weights,
    lesson_02_sentpwnet,
    lesson_03_thematic,
    lesson_04_sbert_lp,
    lesson_05_pthought,
    lesson_06_film,
    lesson_07_together,
    lesson_08_word_vectors,
    lesson_09_break_it,
    lesson_10_which_loss,
    lesson_11_from_something,
    lesson_12_why_alike,
)
