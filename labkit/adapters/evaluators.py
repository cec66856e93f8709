"""Any method as a model that sentence-transformers' evaluators take. In: a fitted method. Out: `AsModel`.

    BinaryClassificationEvaluator(a, b, labels)(AsModel(method))

Embeddings come out dense, those of the methods that stay sparse too: a row of TF-IDF then takes four bytes a word
of the vocabulary. Prompts are for models that were trained with them: here they are taken and change nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from scipy import sparse
from torch import Tensor

from labkit.arrays import unit
from labkit.method import Embeddings, Method

#: options of SentenceTransformer.encode, and the values that a method can serve
SERVED = {"precision": ("float32", None), "output_value": ("sentence_embedding",)}


class ModelCard:
    """The place where evaluators leave their figures: evaluator's name -> figures."""

    def __init__(self) -> None:
        self.metrics: dict[str, dict[str, float]] = {}

    def set_evaluation_metrics(self, evaluator: Any, metrics: dict[str, float], epoch: int = 0, step: int = 0) -> None:
        self.metrics[evaluator.name or type(evaluator).__name__] = metrics


class AsModel:
    """The part of a SentenceTransformer that evaluations use, answered by a method."""

    def __init__(self, method: Method) -> None:
        if not isinstance(method, Method):
            raise ValueError(
                f"method is {type(method).__name__}, expected a method; METHODS['lsa']() makes one, "
                "labkit.load_run(folder) opens a run"
            )
        self.method = method
        self.similarity_fn_name = method.similarity_name
        self.model_card_data = ModelCard()

    def encode(
        self,
        sentences: str | Sequence[str],
        prompt_name: str | None = None,
        prompt: str | None = None,
        batch_size: int = 32,
        show_progress_bar: bool | None = None,
        convert_to_numpy: bool = True,
        convert_to_tensor: bool = False,
        normalize_embeddings: bool = False,
        truncate_dim: int | None = None,
        **others: Any,
    ) -> np.ndarray | Tensor | list[Tensor]:
        """Rows as numpy array, as one tensor, or as a list of tensors; a single sentence gives a single row."""
        for name, known in SERVED.items():
            if others.get(name, known[0]) not in known:
                raise ValueError(
                    f"{name} is {others[name]!r}, expected {known[0]!r}; no method gives more, leave it out"
                )
        one = isinstance(sentences, str)
        rows = self.method.encode(
            [sentences] if isinstance(sentences, str) else sentences,
            batch_size=batch_size,
            show_progress_bar=bool(show_progress_bar),
        )
        dense: np.ndarray = rows if isinstance(rows, np.ndarray) else rows.toarray()
        dense = dense[:, :truncate_dim]
        dense = unit(dense) if normalize_embeddings else dense  # length 1 is that of the columns that are left
        result = dense[0] if one else dense
        if convert_to_tensor:
            return torch.from_numpy(np.ascontiguousarray(result))
        if convert_to_numpy or one:
            return result if convert_to_numpy else torch.from_numpy(result)
        return list(torch.from_numpy(np.ascontiguousarray(result)))

    encode_query = encode_document = encode

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Tensor:
        """The method's own similarity of each row with each: (n_1, n_2)."""
        return torch.from_numpy(np.asarray(self.method.similarity(_rows(embeddings1), _rows(embeddings2))))

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Tensor:
        """The method's own similarity, row by row: (n,)."""
        return torch.from_numpy(np.asarray(self.method.similarity_pairwise(_rows(embeddings1), _rows(embeddings2))))


def _rows(embeddings: Any) -> Embeddings:
    if sparse.issparse(embeddings):  # straight from the method
        return embeddings
    if isinstance(embeddings, Tensor):
        embeddings = embeddings.detach().cpu().float().numpy()
    return np.atleast_2d(np.asarray(embeddings, dtype=np.float32))
