"""A pretrained transformer as an encoder to fine-tune: token numbers (n, length), lengths (n,) -> (n, size).

    below     the frozen part: embeddings and lower layers, computed once per sentence and cached
    above     the last layers, which are trained: all their weights, or low-rank adapters
    head      if no layer is trained: a linear map after the whole model, initially the identity

A run stores only the trained weights. Loading a run opens the model again, and raises an error if it has changed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import torch
from torch import Tensor, nn

from labkit.explanation import LEFT_OUT, Parts
from labkit.extras import require
from labkit.text import without_halves
from labkit.training.encoders import STEPS, in_turn, inside, integrated, parts_by_words
from labkit.training.reader import Reader

TRANSFORMER = "transformer"
MOST_KEPT = 2**29  # numbers: 2 GB; sentences beyond that are not cached but encoded each time
_KEPT_AT_ONCE = 64  # sentences
_PROBE = "A sentence to try a model by."
_LAYERS = ("encoder", "transformer")  # the attributes with the layers of BERT and similar models, and of DistilBERT


@dataclass(frozen=True)
class ModelReader:
    """Converts sentences to a model's token numbers, including its special tokens; long sentences are truncated."""

    tokenizer: Any
    max_length: int | None
    prompt: str = ""  # text placed before each sentence

    def numbers(self, text: str) -> list[int]:
        """The sentence as numbers; never empty, because of the special tokens."""
        text = self.prompt + without_halves(text)
        numbers: list[int] = self.tokenizer(text, truncation=True, max_length=self.max_length)["input_ids"]
        return numbers

    def spelled(self, text: str) -> list[tuple[str, int]]:
        """The sentence's words up to the maximum length, each with its number of tokens; "" for a special token."""
        text = self.prompt + without_halves(text)
        asked = {"truncation": True, "max_length": self.max_length}
        if not self.tokenizer.is_fast:
            tokens = self.tokenizer.convert_ids_to_tokens(self.numbers(text))
            return [("" if token in self.tokenizer.all_special_tokens else token, 1) for token in tokens]
        found = self.tokenizer(text, return_offsets_mapping=True, **asked)
        return spelled_words(text, found.word_ids(), found["offset_mapping"], begin=len(self.prompt))

    def knows(self, word: str) -> bool:
        """Whether the model has a token for any part of this word."""
        return any(token != self.tokenizer.unk_token for token in self.tokenizer.tokenize(word))

    batch = staticmethod(Reader.batch)


def spelled_words(
    text: str, words: Sequence[int | None], offsets: Sequence[tuple[int, int]], *, begin: int = 0
) -> list[tuple[str, int]]:
    """The words of a text with their numbers of tokens; "" for a special token, and for text before `begin`."""
    groups = groupby(zip(words, offsets, strict=True), key=lambda each: each[0])
    spans = [(number, [span for _, span in tokens]) for number, tokens in groups]
    return [
        ("" if number is None or each[-1][1] <= begin else text[each[0][0] : each[-1][1]].strip().lower(), len(each))
        for number, each in spans
    ]


class Transformer(nn.Module):
    """The last layers of a sentence-transformers model, or a linear map after it, and the rest of the model below."""

    def __init__(self, model: Any, *, layers: int, rank: int = 0) -> None:
        super().__init__()
        first, *last = model
        self.above: nn.Module | None = None
        self.head: nn.Linear | None = None
        lower: nn.Module | None = first.auto_model
        if layers:
            upper, lower = _parted(first.auto_model, layers)
            _require_same(first.auto_model, upper, lower, model.tokenizer)
            self.above = copy.deepcopy(upper).train()
            self.last = copy.deepcopy(nn.ModuleList(last))
            _adapt(self.above, rank)
            if lower is not None:  # modules of all layers, such as MPNet's positions, stay as in the lower layers
                for name, parameter in self.above.named_parameters():
                    parameter.requires_grad &= ".layer." in name
        else:
            size = model.get_embedding_dimension()
            self.head = nn.Linear(size, size)
            nn.init.eye_(self.head.weight)
            nn.init.zeros_(self.head.bias)
        # in a dictionary, because submodules would be saved and moved with this module
        self._below = (lower, () if layers else tuple(last))
        self._place: dict[tuple[int, ...], int] = {}
        self._kept = torch.empty(0)

    def remember(self, rows: Iterable[list[int]]) -> None:
        """Compute the input of the trained part for these sentences, in a fixed order, and cache it.

        The input is the states of a sentence's tokens or, for a head, its vector.
        """
        if self._below[0] is None:
            return
        ordered = sorted({tuple(row) for row in rows}, key=lambda row: (len(row), row))
        self._place, count, numbers = {}, 0, 0
        parts: list[Tensor] = []
        for start in range(0, len(ordered), _KEPT_AT_ONCE):
            part = ordered[start : start + _KEPT_AT_ONCE]
            states = self._entering(*Reader.batch(part)).cpu()
            numbers += sum(len(row) * states.shape[2] for row in part) if self.head is None else states.numel()
            if numbers > MOST_KEPT:
                break
            for row, state in zip(part, states, strict=True):
                self._place[row] = count  # where the states of the sentence begin
                parts.append(state[: len(row)] if self.head is None else state[None])
                count += len(parts[-1])
        self._kept = torch.cat(parts) if parts else torch.empty(0)

    def forward(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        """Vectors of length 1, (n, size)."""
        there = inside(lengths, numbers.shape[1])
        entering = numbers if self._below[0] is None else self._known(numbers, lengths)
        if self.head is not None:
            return nn.functional.normalize(self.head(entering).float(), dim=1)
        return nn.functional.normalize(_through(self.last, _states(self.above, entering, there), there).float(), dim=1)

    def whole(self, model: Any) -> Any:
        """A copy of the sentence-transformers model with the trained weights, which gives the same vectors."""
        from sentence_transformers import SentenceTransformer
        from sentence_transformers.sentence_transformer.modules import Dense, Normalize

        first, *last = copy.deepcopy(model)
        if self.above is not None:
            body = first.auto_model
            name = _stack_of(body)
            above = copy.deepcopy(self.above)
            for module in list(above.modules()):
                for place, child in module.named_children():
                    if hasattr(child, "get_base_layer"):  # merge an adapter into the weights
                        child.merge()  # type: ignore[operator]
                        setattr(module, place, child.get_base_layer())  # type: ignore[operator]
            learned = above.get_submodule(name).get_submodule("layer")
            assert isinstance(learned, nn.ModuleList)
            if self._below[0] is None:
                body.load_state_dict(above.state_dict(), strict=False)  # the trained part has no pooler
            for here, other in zip(reversed(getattr(body, name).layer), reversed(learned), strict=False):
                here.load_state_dict(other.state_dict())
            last = list(copy.deepcopy(self.last))
        if self.head is not None:
            size = self.head.in_features
            dense = Dense(size, size, activation_function=nn.Identity())
            dense.linear.load_state_dict(self.head.state_dict())
            last.append(dense)
        return SentenceTransformer(modules=[first, *last, Normalize()], device="cpu").eval()

    def parts(self, reader: ModelReader, sentence: str, steps: int) -> Parts:
        """Split the vector of one sentence into the parts of its words, with the model's own weights."""
        lower, last = self.eval()._below
        embedded: Any = lower or self.above

        def vectors(x: Tensor) -> Tensor:
            states = _states(lower, x) if lower else x
            if self.head is not None:
                vector: Tensor = self.head(_through(last, states))
                return vector
            return _through(_without_length(self.last), _states(self.above, states))

        return parts_of_tokens(vectors, embedded.get_input_embeddings(), reader, sentence, steps)

    def state_dict(self, *args: Any, **kwargs: Any) -> dict[str, Any]:  # type: ignore[override]
        """The trained weights by name, without the frozen weights of the model."""
        learning = {name for name, parameter in self.named_parameters() if parameter.requires_grad}
        return {name: value for name, value in super().state_dict(*args, **kwargs).items() if name in learning}

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Restore the trained weights."""
        own = super().state_dict()
        frozen = {name: own[name] for name in own.keys() - self.state_dict().keys()}
        return super().load_state_dict({**frozen, **state_dict}, strict, assign)

    def _known(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        """The input of the trained part, from the cache if it has all these sentences."""
        rows = zip(numbers.tolist(), lengths.tolist(), strict=True)
        places = [self._place.get(tuple(row[:length]), -1) for row, length in rows]
        if min(places) < 0:
            return self._entering(numbers, lengths)
        at = torch.tensor(places)
        if self.head is None:
            at = (at[:, None] + torch.arange(numbers.shape[1])).clamp(max=len(self._kept) - 1)
        return self._kept[at].to(numbers.device)  # states beyond a sentence's end belong to another, and are ignored

    @torch.no_grad()
    def _entering(self, numbers: Tensor, lengths: Tensor) -> Tensor:
        lower, last = self._below
        assert lower is not None
        there, device = inside(lengths, numbers.shape[1]), next(lower.parameters()).device
        states = _states(lower, numbers.to(device), there.to(device))
        return (_through(last, states, there.to(device)) if last else states).to(numbers.device)


class _Given(nn.Module):
    """Replaces a model's embeddings, whatever they are called, and returns the states from the layers below."""

    def forward(self, *args: Any, **named: Any) -> Tensor:
        (states,) = (each for each in (*args, *named.values()) if torch.is_tensor(each) and each.is_floating_point())
        return states


class _Dropout(nn.Module):
    """Dropout that only acts when called: attention, which reads `p` and applies dropout itself, drops nothing."""

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p, self.rate = 0.0, p

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.dropout(x, self.rate, self.training)


def _states(model: Any, x: Tensor, there: Tensor | None = None) -> Tensor:
    """A model's last states (n, length, d), given token numbers (n, length) or the states from the layers below."""
    there = torch.ones(x.shape[:2], device=x.device) if there is None else there
    given = {"inputs_embeds" if x.is_floating_point() else "input_ids": x}
    states: Tensor = model(**given, attention_mask=there.long()).last_hidden_state
    return states


def _through(modules: Iterable[nn.Module], states: Tensor, there: Tensor | None = None) -> Tensor:
    """Apply the modules after the model's layers to states (n, length, d): pooling, and a map if the model has one."""
    there = torch.ones(states.shape[:2], device=states.device) if there is None else there
    features: dict[str, Tensor] = {"token_embeddings": states, "attention_mask": there.long()}
    for module in modules:
        features = module(features)
    return features["sentence_embedding"]


def _parted(body: Any, layers: int) -> tuple[nn.Module, nn.Module | None]:
    """The model of the last layers, and the model of the layers below; None if all layers are trained."""
    name = _stack_of(body)
    every = list(getattr(body, name).layer)
    if layers >= len(every):
        return _twin(body, name, every), None
    upper = _twin(body, name, every[-layers:])
    upper._modules["embeddings"] = _Given()
    if "embeddings_project" in upper._modules:  # ELECTRA's projection, which belongs below
        upper._modules["embeddings_project"] = nn.Identity()
    return upper, _twin(body, name, every[:-layers])


@torch.no_grad()
def _require_same(body: Any, upper: nn.Module, lower: nn.Module | None, tokenizer: Any) -> None:
    """Raise ValueError if the two parts in sequence give different states from the whole model."""
    numbers = torch.tensor([tokenizer(_PROBE)["input_ids"]], device=next(body.parameters()).device)
    cause = None
    try:
        whole = _states(body, numbers)
        parts = _states(upper, numbers if lower is None else _states(lower, numbers))
        same = whole.shape == parts.shape and torch.allclose(whole, parts, atol=1e-4, rtol=1e-4)
    except (TypeError, ValueError, RuntimeError, AttributeError) as error:
        same, cause = False, error
    if not same:
        raise ValueError(
            f"the model is a {type(body).__name__}, whose layers cannot be fine-tuned separately as in BERT; set "
            "layers=0 to train a linear map on top"
        ) from cause


def _stack_of(body: Any) -> str:
    """The name of the module that contains the model's layers."""
    for name in _LAYERS:
        if isinstance(getattr(getattr(body, name, None), "layer", None), nn.ModuleList):
            return name
    raise ValueError(
        f"the model is a {type(body).__name__}, whose layers are not organised as in BERT or DistilBERT; set "
        "layers=0 to train a linear map on top"
    )


def _twin(body: Any, name: str, layers: list[nn.Module]) -> Any:
    """The model with only these layers and without a pooler; everything else is shared."""
    twin, stack = copy.copy(body), copy.copy(getattr(body, name))
    stack._modules = {**stack._modules, "layer": nn.ModuleList(layers)}
    twin._modules = {**twin._modules, name: stack}
    if "pooler" in twin._modules:
        twin._modules["pooler"] = None
    return twin


def _adapt(above: nn.Module, rank: int) -> None:
    """Train all weights, or adapters of this rank in the attention."""
    for module in list(above.modules()):
        for name, child in module.named_children():
            if isinstance(child, nn.Dropout):
                setattr(module, name, _Dropout(child.p))
    above.requires_grad_(not rank)
    if not rank:
        return
    require("sbert", "peft")
    from peft import LoraConfig, inject_adapter_in_model

    values = {"query": "value", "q": "v", "q_lin": "v_lin"}
    asks = [name for name in values if any(each.endswith(f".{name}") for each, _ in above.named_modules())]
    targets = [*asks, *(values[name] for name in asks)]
    inject_adapter_in_model(LoraConfig(r=rank, lora_alpha=2 * rank, target_modules=targets), above)


# --- parts of a vector -------------------------------------------------------------------------------------------


def ways_of_model(model: Any) -> tuple[str, ...]:
    """The ways in which the vectors of a sentence-transformers model can be explained, best first."""
    first, *last = model
    if type(first).__name__ == "StaticEmbedding" and not _without_length(last):
        return ("exact", LEFT_OUT)
    within = hasattr(getattr(first, "auto_model", None), "get_input_embeddings")
    return ("integrated", LEFT_OUT) if within else (LEFT_OUT,)


def parts_of_model(model: Any, sentence: str, steps: int = 0) -> Parts:
    """Split the vector of one sentence from a sentence-transformers model into the parts of its words.

    A prompt that the model adds to every sentence belongs to the rest.
    """
    prompt = (model.prompts or {}).get(model.default_prompt_name) or ""
    first, *last = model.eval()
    if ways_of_model(model)[0] == "exact":
        parts = _parts_of_table(first, prompt, sentence)
    else:
        body, pooling = first.auto_model, _without_length(last)

        def vectors(x: Tensor) -> Tensor:
            return _through(pooling, _states(body, x))

        reader = ModelReader(model.tokenizer, model.max_seq_length, prompt)
        parts = parts_of_tokens(vectors, body.get_input_embeddings(), reader, sentence, steps)
    cut = model.truncate_dim
    return parts.through(lambda rows: rows[:, :cut]) if cut else parts


def _parts_of_table(static: Any, prompt: str, sentence: str) -> Parts:
    """The mean of a table's rows: the rows of a word's tokens, divided by the number of tokens."""
    text = prompt + without_halves(sentence)
    read = static.tokenizer.encode(text, add_special_tokens=False)
    rows = static.embedding.weight.detach()[read.ids] / max(len(read.ids), 1)
    if not read.ids:
        return Parts.of_sum((), rows)
    spelled = spelled_words(text, read.word_ids, read.offsets, begin=len(prompt))
    marks = torch.tensor([name == "" for name, count in spelled for _ in range(count)], dtype=torch.bool)
    return parts_by_words(spelled, rows, rows[marks].sum(0), rows.sum(0))


def parts_of_tokens(
    vectors: Callable[[Tensor], Tensor], words: nn.Module, reader: ModelReader, sentence: str, steps: int
) -> Parts:
    """Split a vector, as a function of its token embeddings, into parts of words along the path from padding to them.

    The special tokens at both ends stay fixed and belong to the rest (Möller, Nikolaev and Padó 2023).
    """
    spelled, device = reader.spelled(sentence), next(words.parameters()).device
    numbers = torch.tensor([reader.numbers(sentence)], device=device)
    marks = torch.tensor([name == "" for name, count in spelled for _ in range(count)], device=device)
    with torch.no_grad():
        x = words(numbers)
        padding = words(torch.full_like(numbers, reader.tokenizer.pad_token_id or 0))
        start = torch.where(marks[:, None], x, padding)
    rows, rest, vector = integrated(vectors, start, in_turn(x - start), steps or STEPS)
    return parts_by_words(spelled, rows, rest, vector)


def _without_length(modules: Iterable[nn.Module]) -> list[nn.Module]:
    """The modules, without trailing modules that only normalise, because the cosine ignores length."""
    kept = list(modules)
    while kept and type(kept[-1]).__name__ == "Normalize":
        kept.pop()
    return kept
