"""The whole network: sentences in, a vector for each, and from it the loss of writing them and their paraphrases.

    L = (1 - λ) l_auto + (1 + λ) l_para        (eq. 10)

Both losses are means over the tokens of a batch. The paper comes to λ by way of a Lagrange multiplier; but no
multiplier is ever updated, it is a plain weighting, and L itself changes with λ. So L cannot choose λ: a held-out
figure must.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from torch import Tensor, nn

from labkit.encoders import Encoder
from labkit.paraphrase.decoder import Decoder, taught
from labkit.paraphrase.forms import packed
from labkit.paraphrase.output import token_loss

AUTO, PARAPHRASE = "auto", "paraphrase"
DECODERS = {"both": (AUTO, PARAPHRASE), AUTO: (AUTO,), PARAPHRASE: (PARAPHRASE,)}


class Model(nn.Module):
    """One encoder, one or two decoders by name. They read the encoder's word vectors, of the words they can write."""

    def __init__(self, encoder: Encoder, decoders: Mapping[str, Decoder]) -> None:
        super().__init__()
        self.encoder, self.decoders = encoder, nn.ModuleDict(decoders)

    def decoder(self, name: str) -> Decoder:
        """The one of this name; a ValueError where the model was made without it."""
        if name not in self.decoders:
            raise ValueError(
                f"decoder is {name!r}, but this model was trained with {', '.join(self.decoders)} only; "
                "train with decoders=both"
            )
        found = self.decoders[name]
        assert isinstance(found, Decoder)
        return found

    def written(self, name: str, vectors: Tensor, rows: Sequence[Sequence[int]]) -> Tensor:
        """What it costs this decoder to write these sentences from these vectors (n, size): -Σ log p of all tokens.

        The end of a sentence is a token too. A word that the decoder cannot write counts as the unknown one.
        """
        decoder = self.decoder(name)
        read, write, lengths = taught([writable(row, decoder.out.out_features) for row in rows])
        words = self.encoder.words.table(read.to(vectors.device))
        states = decoder.states(vectors, words, lengths)
        targets = packed(write, lengths).data.to(vectors.device)
        return token_loss(states, decoder.out.weight, decoder.out.bias, targets)


def writable(row: Iterable[int], words: int) -> list[int]:
    """Numbers beyond the decoders' vocabulary become 1, the unknown word.

    >>> writable([4, 9, 2], 6)
    [4, 1, 2]
    """
    return [number if number < words else 1 for number in row]


def objective(losses: Mapping[str, Tensor], emphasis: float) -> Tensor:
    """Eq. 10 with λ = `emphasis`; with one decoder, its loss alone.

    >>> import torch
    >>> objective({"auto": torch.tensor(2.0), "paraphrase": torch.tensor(3.0)}, 0.5)
    tensor(5.5000)
    """
    if len(losses) == 1:
        return next(iter(losses.values()))
    return (1 - emphasis) * losses[AUTO] + (1 + emphasis) * losses[PARAPHRASE]
