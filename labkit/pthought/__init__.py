"""P-thought's parts: one encoder reads a sentence, two decoders write it and its paraphrase from the same vector.

    network      encoder (three forms), decoders, the loss of the next words, and eq. 10
    batches      groups of paraphrases -> batches of ordered pairs, streamed; what is read, and what may be written
    task         what the training loop trains: the loss of a batch of pairs, and dev's figure
    writing      a vector -> sentences, greedy or by a beam, and the same for people to read
    view         P-coherence with what it must be read beside, and groups in the plane

`labkit.pthought.method` trains and keeps it.
"""

from labkit.pthought.writing import Search

__all__ = ["Search"]
