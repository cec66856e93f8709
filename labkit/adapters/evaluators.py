"""Use any method as a model in sentence-transformers' evaluators. In: a fitted method. Out: `AsModel`.

    BinaryClassificationEvaluator(a, b, labels)(AsModel(method))

Embeddings are dense, even for sparse methods: a row of TF-IDF then takes four bytes per word of the vocabulary. Prompts
are accepted but ignored, because they only help models that were trained with them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from labkit.method import Embeddings, Method


class NoCard:
    """A stand-in for the model card to which evaluators report their metrics; a method has no card."""

    def set_evaluation_metrics(self, *_: Any, **__: Any) -> None: ...


class AsModel:
    """The part of a SentenceTransformer that evaluations use, implemented by a method.

    >>> from labkit import Lsa, load
    >>> model = AsModel(Lsa(dimension=10).fit(load("questions").take(range(100))))
    >>> model.encode("How do I keep a cat?").shape
    (10,)
    """

    def __init__(self, method: Method) -> None:
        self.method = method
        self.similarity_fn_name = method.similarity_name
        self.model_card_data = NoCard()

    def encode(
        self,
        sentences: str | Sequence[str],
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        precision: str | None = "float32",
        **prompts: Any,
    ) -> np.ndarray | Tensor | list[Tensor]:
        """Return rows as a numpy array, a tensor, or a list of tensors; for a single sentence, return a single row."""
        if precision not in ("float32", None):
            raise ValueError(f"precision is {precision!r}, but a method supports only 'float32'; omit it")
        rows: Tensor = self.method.encode(
            sentences,
            batch_size=batch_size,
            show_progress_bar=bool(show_progress_bar),
            normalize_embeddings=normalize_embeddings,
            convert_to_tensor=True,  # dense
            truncate_dim=truncate_dim,
        )
        if convert_to_tensor or (isinstance(sentences, str) and not convert_to_numpy):
            return rows
        return rows.numpy() if convert_to_numpy else list(rows)

    encode_query = encode_document = encode

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Tensor:
        """Return the method's own similarity of each row of one with each row of the other: (n_1, n_2)."""
        return torch.from_numpy(np.asarray(self.method.similarity(*map(as_rows, (embeddings1, embeddings2)))))

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Tensor:
        """Return the method's own similarity, row by row: (n,)."""
        return torch.from_numpy(np.asarray(self.method.similarity_pairwise(*map(as_rows, (embeddings1, embeddings2)))))


def as_rows(embeddings: Any) -> Embeddings:
    """Return embeddings in the form a method expects, (n, d)."""
    if sparse.issparse(embeddings):  # from the method itself
        return embeddings
    return torch.atleast_2d(torch.as_tensor(embeddings)).detach().cpu().float().numpy()
