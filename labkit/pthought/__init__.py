"""P-thought's parts: one encoder reads a sentence, two decoders write it and its paraphrase from the same vector.

    network      encoder (three forms), decoders, next-word loss, and eq. 10
    batches      groups of paraphrases -> batches of ordered pairs; the words that are read and written
    writing      a vector -> sentences, by greedy or beam search
    view         P-coherence with its companion scores, and groups in the plane

`labkit.pthought.method` trains and saves it.
"""

from labkit.pthought.writing import Search

__all__ = ["Search"]
