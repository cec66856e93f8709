"""The interface of every method. A subclass implements `_fit`, `_encode`, `_state` and `_restore`.

    fit(corpus) -> itself            encode(sentences) -> (n, d) float32        save(folder), load(folder)
    similarity(a, b) -> (n_a, n_b)   similarity_pairwise(a, b) -> (n,)          larger is closer

`encode` depends only on the sentence, never on the rest of the batch, its order or padding.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from inspect import signature
from pathlib import Path
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np
from scipy import sparse

from labkit.arrays import array_of, seeded, unit, whole
from labkit.corpora.records import Corpus
from labkit.explanation import LEFT_OUT, Contrast, Explanation, Parts, left_out
from labkit.hub import folder_of, push
from labkit.locks import locked
from labkit.progress import Progress, silent, terminal
from labkit.runs import History, Keeper, Run, Snapshots, kept, read_run, settings_of, write_run
from labkit.settings import Settings, setting

__all__ = ["Embeddings", "History", "Keeper", "Method", "Settings", "Snapshots", "setting"]

Embeddings: TypeAlias = np.ndarray | sparse.csr_array
BASE = "base."  # prefix of the arrays that belong to the base method
SAVING = 10.0  # seconds to wait for another process that writes to the same folder


class Method(ABC):
    """A way to turn sentences into vectors, with its settings and learned state."""

    name: ClassVar[str]
    Settings: ClassVar[type[Settings]] = Settings
    similarity_name: ClassVar[str] = "cosine"  # or dot, euclidean, manhattan: sentence-transformers' names
    version: ClassVar[int] = 1  # to be raised when the same settings, corpus and seed give other vectors
    measured_later: ClassVar[str] = ""  # the array of the state that stays NaN until it is measured

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__signature__ = signature(cls.Settings)  # type: ignore[attr-defined]  # what editors and `help` show

    def __init__(self, settings: Any = None, **values: Any) -> None:
        """Take settings as keyword arguments, `Bag(epochs=3)`, or as one settings object."""
        if settings is not None and not isinstance(settings, self.Settings):
            raise ValueError(f"settings is {settings!r}, expected keyword arguments: {type(self).__name__}(NAME=VALUE)")
        self.settings: Any = self.Settings.of(values) if settings is None else settings
        self.history = History()
        self.snapshots = Snapshots((), ())
        self._origin: tuple[str, str, int] | None = None  # corpus, its fingerprint, seed
        self._processes = 1  # number of processes that trained it

    def __repr__(self) -> str:
        usual = self.Settings().values()
        changed = [f"{name}={value!r}" for name, value in self.settings.values().items() if value != usual[name]]
        return f"{type(self).__name__}({', '.join(changed)})"

    # --- what a method implements ----------------------------------------------------------------------------

    @abstractmethod
    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        """Learn from the training split; methods with epochs pass the state after each epoch to the keeper."""

    @abstractmethod
    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> Embeddings:
        """Turn one or more sentences into rows, float32 (n, d)."""

    @abstractmethod
    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The learned state: arrays, and values ready for JSON."""

    @abstractmethod
    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        """Restore a state. Raise ValueError if its parts do not fit each other or the settings."""

    def selection(self, dev: Corpus) -> tuple[str, float]:
        """The name and value of the score that selects epochs and settings on a dev split; larger is better."""
        from labkit.evaluation.scores import selection

        return selection(self, dev)

    # --- explanations ----------------------------------------------------------------------------------------

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways in which the method can explain a similarity (`labkit.explanation.WAYS`), best first."""
        return (LEFT_OUT,)

    def _parts(self, sentence: str, way: str, steps: int) -> Parts:
        """Split the sentence's vector into parts, in one of the method's ways other than left-out."""
        raise NotImplementedError

    def explain(self, a: str, b: str, *, way: str = "", steps: int = 0) -> Explanation:
        """Explain the similarity of two sentences, in the given `way` or the best of the method's `ways`.

        `steps` is the number of steps of the integrated Jacobians; with 0 the method chooses it.
        """
        a, b = self._one_each(a, b)
        way = way or self.ways[0]
        if way not in self.ways:
            raise ValueError(f"method {self.name!r} does not support way {way!r}; choose one of {', '.join(self.ways)}")
        if steps and way != "integrated":
            raise ValueError(f"way {way!r} has no steps, but steps is {steps}; omit it, or use way='integrated'")
        if way == LEFT_OUT:
            return left_out(self, a, b)
        one = self._parts(a, way, steps)
        return Explanation.of_parts((a, b), way, one, one if a == b else self._parts(b, way, steps))

    def contrast(self, a: str, b: str, c: str, *, way: str = "", steps: int = 0) -> Contrast:
        """Explain why a is closer to b than to c, or why not."""
        return Contrast(*(self.explain(a, other, way=way, steps=steps) for other in (b, c)))

    def _one_each(self, *sentences: str) -> list[str]:
        self._known()
        return texts(list(sentences))

    # --- what all methods share ------------------------------------------------------------------------------

    @property
    def fitted(self) -> bool:
        """Whether the method has been fitted or loaded."""
        return self._origin is not None

    @property
    def trained_on(self) -> str:
        """The name of the training corpus."""
        return self._known()[0]

    @property
    def origin(self) -> dict[str, Any]:
        """The identity of a run: method, settings, corpus, its fingerprint, seed."""
        corpus, fingerprint, seed = self._known()
        settings = self.settings.values()
        return {"method": self.name, "settings": settings, "corpus": corpus, "fingerprint": fingerprint, "seed": seed}

    def fit(
        self,
        corpus: Corpus,
        *others: Any,
        seed: int = 0,
        progress: Progress | None = None,
        folder: Path | str | None = None,
    ) -> Self:
        """Learn from the training split of a corpus, and select epochs on its dev split if it has one.

        `history` then has a row of scores for each epoch. With `folder`, the run is saved there during training, and no
        other process can train in that folder. An interrupted run resumes from there and gives the same numbers as an
        uninterrupted one.
        """
        if others or not isinstance(corpus, Corpus):
            raise ValueError(
                f"corpus has type {type(corpus).__name__}, expected a Corpus. Use labkit.load(name or file), or "
                "labkit.corpora.from_classes(texts, labels), from_pairs or from_frame"
            )
        self._origin = (corpus.name, corpus.fingerprint, seeded(seed))
        self._processes = int(os.environ.get("WORLD_SIZE", "1"))  # as set by torchrun
        self.history, self.snapshots = History(), Snapshots((), ())
        keeping = nullcontext(None) if folder is None else kept(folder, self.run, self.origin)
        try:
            with keeping as keeper:
                self.history = self._fit(corpus, self._origin[2], progress or silent, keeper)
        except BaseException:  # includes Ctrl-C: a half-trained method must not be used
            self._origin = None
            raise
        return self

    def encode(
        self,
        sentences: str | Sequence[str],
        batch_size: int = 32,
        show_progress_bar: bool = False,
        normalize_embeddings: bool = False,
        convert_to_tensor: bool = False,
        truncate_dim: int | None = None,
    ) -> Any:
        """Encode sentences as rows: float32 (n, d), or a sparse CSR matrix for sparse methods.

        A single sentence gives a single vector (d,), or a sparse matrix with one row. `truncate_dim` keeps the first
        columns, which is meant for models trained with `matryoshka_dims`; `convert_to_tensor` returns a torch tensor.
        """
        one = isinstance(sentences, str)
        rows: Any = self._distinct([sentences] if one else sentences, batch_size, show_progress_bar)
        if truncate_dim is not None:
            rows = rows[:, : whole("truncate_dim", truncate_dim, 1, 2**31, "length of a vector")]
        rows = unit(rows) if normalize_embeddings else rows
        if convert_to_tensor:
            import torch

            rows = torch.from_numpy(rows.toarray() if sparse.issparse(rows) else rows)
        return rows[0] if one and not sparse.issparse(rows) else rows

    def _distinct(self, sentences: Any, batch_size: int, show_progress_bar: bool) -> Embeddings:
        """Encode each distinct sentence once."""
        self._known()
        sentences = texts(sentences)
        if batch_size < 1:
            raise ValueError(f"batch_size is {batch_size}, expected at least 1")
        if not sentences:
            return self._encode([""], 1, silent)[:0]
        distinct = list(dict.fromkeys(sentences))  # so that copies are encoded once and are equal to the last bit
        with terminal("sentence") if show_progress_bar else nullcontext(silent) as progress:
            rows = self._encode(distinct, batch_size, progress)
        rows = finite(rows, distinct, f"method {self.name!r}")
        if len(distinct) == len(sentences):
            return rows
        place = {text: row for row, text in enumerate(distinct)}
        return rows[[place[text] for text in sentences]]

    def similarity(self, a: Any, b: Any) -> np.ndarray:
        """The cosine of each row of `a` with each row of `b`, (n_a, n_b); both are sentences or embeddings."""
        a, b = self._unit(a), self._unit(b)
        if a.shape[1] != b.shape[1]:
            raise ValueError(f"a has {a.shape[1]} columns and b has {b.shape[1]}; encode both with the same method")
        cosines = a @ b.T
        return cosines.toarray() if sparse.issparse(cosines) else cosines

    def similarity_pairwise(self, a: Any, b: Any) -> np.ndarray:
        """The cosine of each row of `a` with the same row of `b`, (n,)."""
        a, b = self._unit(a), self._unit(b)
        if a.shape != b.shape:
            raise ValueError(f"a has shape {a.shape} and b {b.shape}, expected equal shapes; give pairs row by row")
        return np.asarray((a * b).sum(axis=1)).ravel()

    def embedded(self, rows: Any) -> Embeddings:
        """Encode sentences, or return embeddings as floating-point rows. A single item becomes one row."""
        rows = [rows] if isinstance(rows, str) else rows
        if not sparse.issparse(rows) and not (isinstance(rows, np.ndarray) and rows.dtype.kind in "biuf"):
            if not isinstance(rows, Iterable):
                return self.encode(rows)  # raises the error that says what is wrong
            rows = rows if hasattr(rows, "__array__") else list(rows)
            if isinstance(next(iter(rows), ""), str):
                return self.encode(rows)
            rows = array_of("embeddings", rows)
        rows = rows[None] if rows.ndim == 1 and isinstance(rows, np.ndarray) else rows
        if rows.ndim != 2 or rows.dtype.kind not in "biuf":
            raise ValueError(
                f"embeddings have type {rows.dtype} and shape {rows.shape}, expected a matrix with a row for each "
                "sentence. Pass the result of encode, or a list of sentences"
            )
        return rows if rows.dtype.kind == "f" else rows.astype(np.float32)

    def save(self, folder: Path | str) -> None:
        """Write the run folder. Wait while another process writes to it."""
        run = self.run("finished")
        with locked(folder, patience=SAVING):
            write_run(run, folder)

    def load(self, folder: Path | str) -> Self:
        """Load settings and learned state from a run folder of this method."""
        run = read_run(folder)
        if run.method != self.name:
            raise ValueError(
                f"run {str(folder)!r} belongs to method {run.method!r}, not {self.name!r}; labkit.load_run opens a "
                "run of any method"
            )
        self._origin = None  # until everything is loaded
        try:
            self.settings = settings_of(self.Settings, run.settings)
            require_numbers(run.arrays, self.measured_later)
            self._restore(dict(run.arrays), dict(run.words))
        except (KeyError, TypeError, IndexError) as error:
            raise ValueError(
                f"run {str(folder)!r} cannot be read: its model lacks {error} or is damaged. Train it again or use an "
                "intact copy"
            ) from error
        except ValueError as error:
            raise ValueError(f"run {str(folder)!r} cannot be read: {error}") from error
        self._origin, self._processes = (run.corpus, run.fingerprint, run.seed), run.processes
        self.history, self.snapshots = run.history, run.snapshots
        return self

    def save_pretrained(self, folder: Path | str) -> None:
        """Write the run folder: `save`, under the name that other libraries use."""
        self.save(folder)

    @classmethod
    def from_pretrained(cls, name: Path | str) -> Self:
        """Load a method of this class from a run folder, or from a repository OWNER/NAME on the Hugging Face Hub."""
        return cls().load(folder_of(name))

    def push_to_hub(self, repository: str, *, private: bool = False) -> str:
        """Push the run folder with a model card to the Hugging Face Hub, and return its URL."""
        return push(self, repository, private=private)

    def get_sentence_embedding_dimension(self) -> int:
        """The number of columns of `encode`."""
        return int(self.encode([""]).shape[1])

    def run(self, state: str) -> Run:
        """The run record that is written to disk."""
        origin = self.origin
        arrays, words = self._state()
        seen: dict[str, Any] = {"history": self.history, "snapshots": self.snapshots, "processes": self._processes}
        return Run(**origin, arrays=arrays, words=words, state=state, **seen)

    def _known(self) -> tuple[str, str, int]:
        if self._origin is None:
            raise ValueError(f"method {self.name!r} is not trained yet; call fit(corpus) or load(folder) first")
        return self._origin

    def _unit(self, rows: Any) -> Any:
        return unit(self.embedded(rows))


def texts(sentences: Any) -> list[str]:
    """The sentences as a list; raises ValueError if they are not texts."""
    if isinstance(sentences, str) or not isinstance(sentences, Iterable):
        raise ValueError(f"sentences is {type(sentences).__name__}, expected a list of texts")
    sentences = list(sentences)
    for row, text in enumerate(sentences):
        if not isinstance(text, str):
            raise ValueError(f"sentences[{row}] is {type(text).__name__}, expected a text; fill it in or drop it")
    return sentences


def finite(rows: Any, sentences: Sequence[str], whose: str) -> Any:
    """Return the rows if all are finite. NaN would spoil all later results, or keep a solver from finishing."""
    if np.isfinite(rows.data if sparse.issparse(rows) else rows).all():
        return rows
    bad = [row for row in range(rows.shape[0]) if not np.isfinite(abs(rows[[row]]).max())]
    raise ValueError(
        f"{whose} gives NaN or infinite values for {len(bad):,} of {len(sentences):,} sentences; the first is "
        f"{sentences[bad[0]]!r}. Its model is damaged; train it again or use an intact copy"
    )


def require_numbers(arrays: Mapping[str, np.ndarray], measured_later: str) -> None:
    """Raise ValueError if the method's own arrays, apart from those of its base, contain NaN or infinity."""
    for name, array in arrays.items():
        if array.dtype.kind != "f" or name == measured_later or name.startswith(BASE):
            continue
        if bad := int((~np.isfinite(array)).sum()):
            raise ValueError(
                f"{bad:,} of {array.size:,} values of {name!r} in model.safetensors are NaN or infinite; train it "
                "again or use an intact copy"
            )
