"""FILM (Liang et al. 2018): metric learning on sparse rows that is fast, of low rank, and can be read.

triplets      a corpus to sparse rows of TF-IDF, and to triplets "i is closer to j than to k"
objective     what is minimised, its gradient, its lower bound
stiefel       descent over matrices with orthonormal columns, for any objective
solvers       the ways to the minimum; rows and triplets to L, in three settings
reading       the rows of L in words, and a similarity in words, exactly
rule          the paper's decision rule, and probabilities from it
method        FILM with corpora, settings and run folders
deep          the paper's deep twin
"""
