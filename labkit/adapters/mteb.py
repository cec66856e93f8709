"""Any method as an encoder that MTEB 2 takes. In: a fitted method. Out: `AsEncoder`.

    mteb.evaluate(AsEncoder(method), tasks)        mteb.mock_run(AsEncoder(method))

MTEB hands in batches of texts and what it knows of the task; the texts are all that matters here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from labkit import __version__
from labkit.adapters.evaluators import AsModel
from labkit.methods.contract import Method


class AsEncoder:
    """MTEB's EncoderProtocol, answered by a method."""

    def __init__(self, method: Method, name: str | None = None) -> None:
        self._model = AsModel(method)
        self._name = name or f"labkit/{method.name}"
        self.mteb_model_meta  # says at once if mteb is not installed  # noqa: B018

    @property
    def mteb_model_meta(self) -> Any:
        """What MTEB writes beside its figures: name, version, size, corpus."""
        try:
            from mteb.models.model_meta import ModelMeta
        except ImportError as error:
            raise ValueError(
                "mteb is not installed, expected version 2; install labkit with its extra: pip install 'labkit[mteb]'"
            ) from error
        method = self._model.method
        arrays = method.run("finished").arrays
        return ModelMeta(
            loader=None,
            name=self._name,
            revision=__version__,
            release_date=None,
            languages=None,
            n_parameters=sum(array.size for array in arrays.values()),
            memory_usage_mb=sum(array.nbytes for array in arrays.values()) / 2**20,
            max_tokens=None,
            embed_dim=method.encode(["one"]).shape[1],
            license="mit",
            open_weights=True,
            public_training_code=None,
            public_training_data=method.trained_on,
            framework=["PyTorch"],
            similarity_fn_name=method.similarity_name,
            use_instructions=False,
            training_datasets=None,
        )

    def encode(self, inputs: Iterable[Mapping[str, Any]], *, batch_size: int = 32, **_: Any) -> np.ndarray:
        """Batches of {"text": [...]} -> (n, d)."""
        texts = [text for batch in inputs for text in batch["text"]]
        return np.asarray(self._model.encode(texts, batch_size=batch_size))

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        return self._model.similarity(embeddings1, embeddings2)

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        return self._model.similarity_pairwise(embeddings1, embeddings2)
