"""P-thought's parts: one encoder reads a sentence, two decoders write it and its paraphrase from the same vector.

    forms        the three GRU encoders          words (n, length, d) -> sentence vectors (n, 2 hidden)
    decoder      what writes                     a vector, the words so far -> the state before each next word
    output       states -> the loss of the next words, exact, in little memory
    model        encoder and decoders together, and eq. 10
    pairs        groups of paraphrases -> batches of ordered pairs, streamed
    vocabulary   what the encoder reads, and what the decoders may write
    search       a vector -> sentences: greedy, or a beam
    writing      the same for people to read: words, log p, what was unknown
    task         what the training loop trains: the loss of a batch of pairs, and dev's figure

`labkit.pthought.method` trains and keeps it.
"""

from labkit.pthought.batches import Epoch, Paraphrases, Reading, reading
from labkit.pthought.network import FORMS, Decoder, GruEncoder, Model, objective, token_loss
from labkit.pthought.writing import Generated, Search, beam, greedy

__all__ = [
    "FORMS",
    "Decoder",
    "Epoch",
    "Generated",
    "GruEncoder",
    "Model",
    "Paraphrases",
    "Reading",
    "Search",
    "beam",
    "greedy",
    "objective",
    "reading",
    "token_loss",
]
