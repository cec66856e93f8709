"""FILM (Liang et al. 2018): fast, low-rank, readable metric learning on sparse rows.

triplets      a corpus -> sparse rows of TF-IDF, and triplets "i is closer to j than to k"
objective     the objective, its gradient, its lower bound
stiefel       descent over matrices with orthonormal columns, for any objective
solvers       minimisers; rows and triplets -> L, in three ways
reading       the rows of L in words, and a similarity in words, exactly
rule          the paper's decision rule, and probabilities from it
method        FILM with corpora, settings and run folders
deep          the paper's deep variant
"""
