"""The network: it encodes sentences as vectors, and scores how well the sentences and their paraphrases are decoded
from these vectors.

    L = (1 - λ) l_auto + (1 + λ) l_para        (eq. 10)

Both losses are means over the tokens of a batch. The paper derives λ as a Lagrange multiplier, but never updates it: it
is a fixed weight. L itself changes with λ, so a held-out score must choose λ.

    GruEncoder    word vectors (n, length, d), lengths (n,)   -> (n, 2 hidden), in one of three forms (figure 1)
    Decoder       a vector (n, size), the previous words      -> the state before each next word
    token_loss    states (tokens, hidden), words to write   -> their summed -log p
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from labkit.text import pad
from labkit.training.encoders import Encoder

# --- forms -------------------------------------------------------------------------------------------------------


FORMS = {"one-bi": (1, True), "two-forward": (2, False), "two-bi": (2, True)}  # layers, whether bidirectional


class GruEncoder(nn.Module):
    """An encoder in one of three forms; the vector is the concatenation of two final states.

        one-bi        one layer, bidirectional       its two final states
        two-forward   two layers, forward            the final state of each layer
        two-bi        two layers, bidirectional      the two final states of the second layer

    Sentences are packed: the GRU reads no padding, the backward pass starts at each sentence's last word, and time
    grows with the number of words. (torch's LSTM has a faster path for padded rows, used in `labkit.training.encoders`;
    its GRU has none.)
    """

    def __init__(self, form: str, dimension: int, hidden: int) -> None:
        super().__init__()
        layers, both_ways = FORMS[form]
        self.gru = nn.GRU(dimension, hidden, layers, batch_first=True, bidirectional=both_ways)
        xavier_(self.gru)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        return self.of_one_length(without_padding(x, lengths))

    def of_one_length(self, x: Tensor | PackedSequence) -> Tensor:
        """The vectors of packed sentences, or of sentences without padding: (n, length, d) -> (n, 2 hidden)."""
        _, final = self.gru(x)  # (layers x directions, n, hidden): the last layer comes last
        return torch.cat([final[-2], final[-1]], 1)  # (n, 2 hidden)


def without_padding(x: Tensor, lengths: Tensor) -> PackedSequence:
    """Rows (n, length, ...) without padding: all first words, then all second words, and so on."""
    return pack_padded_sequence(x, lengths.cpu(), batch_first=True, enforce_sorted=False)


def xavier_(gru: nn.GRU) -> None:
    """Draw weights uniformly in ±√(6 / (in + out)) for each of a GRU's three gates; biases are 0 (section 5.1)."""
    for name, parameter in gru.named_parameters():
        if name.startswith("weight"):
            for gate in parameter.chunk(3):
                nn.init.xavier_uniform_(gate)
        else:
            nn.init.zeros_(parameter)


# --- decoder -----------------------------------------------------------------------------------------------------

END = 0  # as input it means "begin", as output "end"; elsewhere it is padding


class Decoder(nn.Module):
    """A GRU that writes a sentence from a vector: trained on all given words at once, used one word at a time.

        s_0 = tanh(W v + b)        s_t = GRU([y_{t-1}, v], s_{t-1})        p(y_t) = softmax(U s_t + c)

    `v` is the sentence vector (n, size). With `feed` it is an input at every word, else only through s_0 (the paper
    does not say which). `words` is the number of words it can write; the word vectors it reads are passed in.
    """

    def __init__(self, dimension: int, size: int, hidden: int, words: int, *, feed: bool = True) -> None:
        super().__init__()
        self.feed = feed
        self.start = nn.Linear(size, hidden)
        self.gru = nn.GRU(dimension + feed * size, hidden, batch_first=True)
        self.out = nn.Linear(hidden, words)
        xavier_(self.gru)
        for layer in (self.start, self.out):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def first(self, vectors: Tensor) -> Tensor:
        """s_0, the state before the first word, (n, hidden)."""
        return self.start(vectors).tanh()

    def states(self, vectors: Tensor, read: Tensor, lengths: Tensor) -> Tensor:
        """The states before each next word, given the words read (n, length, d): (tokens, hidden), in packed order."""
        if self.feed:
            read = torch.cat([read, vectors[:, None].expand(-1, read.shape[1], -1)], 2)  # (n, length, d + size)
        states: Tensor = self.gru(without_padding(read, lengths), self.first(vectors)[None])[0].data
        return states

    def step(self, vectors: Tensor, read: Tensor, state: Tensor) -> tuple[Tensor, Tensor]:
        """Read one word (n, d) in a state (n, hidden): log p of the next word (n, words), and the new state."""
        if self.feed:
            read = torch.cat([read, vectors], 1)
        _, new = self.gru(read[:, None], state[None])
        return self.out(new[0]).log_softmax(1), new[0]


def taught(rows: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor, Tensor]:
    """Sentences as input and target, both (n, length + 1), and their lengths (n,).

    >>> read, write, lengths = taught([[5, 6], [7]])
    >>> read.tolist(), write.tolist(), lengths.tolist()
    ([[0, 5, 6], [0, 7, 0]], [[5, 6, 0], [7, 0, 0]], [3, 2])
    """
    read = torch.from_numpy(pad([[END, *row] for row in rows]))
    write = torch.from_numpy(pad([[*row, END] for row in rows]))
    return read, write, torch.tensor([len(row) + 1 for row in rows])


# --- output ------------------------------------------------------------------------------------------------------

LOGITS = 2**20  # computed at a time: 4 MB, which may fit into a processor's cache


def token_loss(states: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, *, logits: int = LOGITS) -> Tensor:
    """The summed loss of states (tokens, hidden), U (words, hidden), c (words,), words to write (tokens,).

        L = Σ_t [log Σ_w exp(s_t · U_w + c_w) - (s_t · U_{y_t} + c_{y_t})]

    A batch of 128 sentences of 20 words has 2,560 tokens; 35,000 words make 90 million logits, which autograd would
    hold several times. Here at most `logits` numbers (but at least one token's) are held at a time: the gradient of a
    token's loss (softmax minus one-hot) is summed in the same pass.
    """
    total: Tensor = _TokenLoss.apply(states, weight, bias, targets, max(1, logits // len(weight)))
    return total


class _TokenLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, states: Tensor, weight: Tensor, bias: Tensor, targets: Tensor, rows: int) -> Tensor:
        wanted = any(ctx.needs_input_grad)
        gradients = [torch.zeros_like(each) for each in (states, weight, bias)] if wanted else []
        total = torch.zeros((), dtype=torch.float64, device=states.device)
        for start in range(0, len(states), rows):
            part = slice(start, start + rows)
            logits = torch.addmm(bias, states[part], weight.T)  # (rows, words)
            logits = logits if logits.dtype == torch.float64 else logits.float()
            chosen = torch.arange(len(logits), device=logits.device), targets[part]
            normaliser = logits.logsumexp(1)  # (rows,)
            total += (normaliser - logits[chosen]).sum()
            if wanted:
                error = logits.sub_(normaliser[:, None]).exp_()  # softmax - one-hot, in place
                error[chosen] -= 1
                error = error.to(weight.dtype)
                gradients[0][part] = error @ weight
                gradients[1].addmm_(error.T, states[part].to(weight.dtype))
                gradients[2] += error.sum(0)
        ctx.save_for_backward(*gradients)
        return total.to(torch.float64 if states.dtype == torch.float64 else torch.float32)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        states, weight, bias = (upstream.to(each.dtype) * each for each in ctx.saved_tensors)
        return states, weight, bias, None, None


# --- model -------------------------------------------------------------------------------------------------------

AUTO, PARAPHRASE = "auto", "paraphrase"
DECODERS = {"both": (AUTO, PARAPHRASE), AUTO: (AUTO,), PARAPHRASE: (PARAPHRASE,)}


class Model(nn.Module):
    """One encoder and one or two named decoders, which read the encoder's vectors of the words they can write."""

    def __init__(self, encoder: Encoder, decoders: Mapping[str, Decoder]) -> None:
        super().__init__()
        self.encoder, self.decoders = encoder, nn.ModuleDict(decoders)

    def decoder(self, name: str) -> Decoder:
        """The decoder of this name."""
        return cast(Decoder, self.decoders[name])

    def written(self, name: str, vectors: Tensor, rows: Sequence[Sequence[int]]) -> Tensor:
        """The cost of writing these sentences from these vectors (n, size) with this decoder: -Σ log p of all tokens.

        The end of a sentence also counts as a token. A word that the decoder cannot write counts as the unknown word.
        """
        decoder = self.decoder(name)
        count = decoder.out.out_features
        read, write, lengths = taught([[number if number < count else 1 for number in row] for row in rows])
        words = self.encoder.words.table(read.to(vectors.device))
        states = decoder.states(vectors, words, lengths)
        targets = without_padding(write, lengths).data.to(vectors.device)
        return token_loss(states, decoder.out.weight, decoder.out.bias, targets)


def objective(losses: Mapping[str, Tensor], emphasis: float) -> Tensor:
    """Eq. 10 with λ = `emphasis`; with one decoder, that decoder's loss.

    >>> import torch
    >>> objective({"auto": torch.tensor(2.0), "paraphrase": torch.tensor(3.0)}, 0.5)
    tensor(5.5000)
    """
    if len(losses) == 1:
        return next(iter(losses.values()))
    return (1 - emphasis) * losses[AUTO] + (1 + emphasis) * losses[PARAPHRASE]
