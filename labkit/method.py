"""What every method can do. A method subclasses `Method` directly and gives `_fit`, `_encode`, `_state`, `_restore`.

    fit(corpus) -> itself            encode(sentences) -> (n, d) float32        save(folder), load(folder)
    similarity(a, b) -> (n_a, n_b)   similarity_pairwise(a, b) -> (n,)          larger is closer

`encode` is a function of the sentence alone: never of what else is in the batch, its order, or padding.
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
from labkit.runs import History, Keeper, Run, Snapshots, read_run, settings_of, write_run
from labkit.settings import Settings, setting

__all__ = ["Embeddings", "History", "Keeper", "Method", "Settings", "Snapshots", "setting"]

Embeddings: TypeAlias = np.ndarray | sparse.csr_array
BASE = "base."  # before the name of an array: it is the base's own
SAVING = 10.0  # seconds to wait for who writes into the same folder


class Method(ABC):
    """A way to turn sentences into vectors, with settings, and what it has learned."""

    name: ClassVar[str]
    Settings: ClassVar[type[Settings]] = Settings
    similarity_name: ClassVar[str] = "cosine"  # as other libraries call it: cosine, dot, euclidean or manhattan
    version: ClassVar[int] = 1  # the next number once the same settings, corpus and seed give other vectors
    measured_later: ClassVar[str] = ""  # the array of the state that is NaN until somebody measures it

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.__signature__ = signature(cls.Settings)  # type: ignore[attr-defined]  # what editors and `help` show

    def __init__(self, settings: Any = None, **values: Any) -> None:
        """Take values for some of the settings, `Bag(epochs=3)`, or all of them as one object."""
        if settings is not None and not isinstance(settings, self.Settings):
            raise ValueError(f"settings is {settings!r}, expected keyword arguments: {type(self).__name__}(NAME=VALUE)")
        self.settings: Any = self.Settings.of(values) if settings is None else settings
        self.history = History()
        self.snapshots = Snapshots((), ())
        self._origin: tuple[str, str, int] | None = None  # corpus, its fingerprint, seed
        self._processes = 1  # that trained it

    def __repr__(self) -> str:
        usual = self.Settings().values()
        changed = [f"{name}={value!r}" for name, value in self.settings.values().items() if value != usual[name]]
        return f"{type(self).__name__}({', '.join(changed)})"

    # --- what a method gives ---------------------------------------------------------------------------------

    @abstractmethod
    def _fit(self, corpus: Corpus, seed: int, progress: Progress, keeper: Keeper | None) -> History:
        """Learn from the training split; methods with epochs pass them to the keeper."""

    @abstractmethod
    def _encode(self, sentences: list[str], batch_size: int, progress: Progress) -> Embeddings:
        """Turn sentences, at least one, into rows (n, d), float32."""

    @abstractmethod
    def _state(self) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """The learned state: arrays, and text ready for JSON."""

    @abstractmethod
    def _restore(self, arrays: dict[str, np.ndarray], words: dict[str, Any]) -> None:
        """Take over such a state; a ValueError where arrays and words do not fit each other or the settings."""

    def selection(self, dev: Corpus) -> tuple[str, float]:
        """The one figure by which its epochs and settings are chosen on a dev split, larger is better."""
        from labkit.evaluation.scores import selection

        return selection(self, dev)

    # --- what it can say of itself ---------------------------------------------------------------------------

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways in which it can explain a similarity (`labkit.explanation.WAYS`), the best first."""
        return (LEFT_OUT,)

    def _parts(self, sentence: str, way: str, steps: int) -> Parts:
        """The sentence's vector in parts, by one of its ways that is not left-out."""
        raise NotImplementedError

    def explain(self, a: str, b: str, *, way: str = "", steps: int = 0) -> Explanation:
        """Explain the similarity of two sentences, in the first or another of its `ways`.

        `steps` are those of the integrated Jacobians, 0 as many as the method needs.
        """
        a, b = self._one_each(a, b)
        way = way or self.ways[0]
        if way not in self.ways:
            raise ValueError(
                f"way is {way!r}, which method {self.name!r} does not have, expected one of {', '.join(self.ways)}"
            )
        if steps and way != "integrated":
            raise ValueError(f"steps is {steps}, but way {way!r} has no steps; omit it, or use way='integrated'")
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
        """Whether there is something to encode with."""
        return self._origin is not None

    @property
    def trained_on(self) -> str:
        """The name of the corpus."""
        return self._known()[0]

    @property
    def origin(self) -> dict[str, Any]:
        """What identifies a training: method, settings, corpus, its fingerprint, seed."""
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
        """Learn from the training split of a corpus, and choose on its dev split where there is something to choose.

        Afterwards `history` has a row of scores for each epoch. With `folder` the run is kept there as it goes, and
        nobody else may train into it. If the same training was interrupted there, it resumes where it stopped, and ends
        with the numbers it would have had.
        """
        if others or not isinstance(corpus, Corpus):
            raise ValueError(
                f"corpus is {type(corpus).__name__}, expected a Corpus of texts and labels; use labkit.load(name or "
                "file), or labkit.corpora.from_classes(texts, labels), from_pairs or from_frame"
            )
        self._origin, self._processes = (corpus.name, corpus.fingerprint, seeded(seed)), _processes()
        self.history, self.snapshots = History(), Snapshots((), ())
        keeper = None
        try:
            try:
                keeper = None if folder is None else Keeper(folder, self.run, self.origin)
                self.history = self._fit(corpus, self._origin[2], progress or silent, keeper)
            except BaseException:  # Ctrl-C too: half a method is none
                self._origin = None
                raise
            if keeper is not None:
                keeper.finish()
        finally:
            if keeper is not None:
                keeper.close()
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
        """Encode sentences as rows, float32 (n, d), a sparse CSR matrix from the methods that stay sparse.

        One sentence gives one vector (d,), or a sparse matrix of one row. `truncate_dim` keeps the first numbers of
        each row, which a training with `matryoshka_dims` prepares for; `convert_to_tensor` gives a torch tensor.
        """
        one = isinstance(sentences, str)
        rows: Any = self._distinct([sentences] if one else sentences, batch_size, show_progress_bar)
        if truncate_dim is not None:
            rows = rows[:, : whole("truncate_dim", truncate_dim, 1, 2**31, "numbers of a vector")]
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
        distinct = list(dict.fromkeys(sentences))  # so that copies are encoded once, and are equal to the last bit
        with terminal("sentence") if show_progress_bar else nullcontext(silent) as progress:
            rows = self._encode(distinct, batch_size, progress)
        rows = finite(rows, distinct, f"method {self.name!r}")
        if len(distinct) == len(sentences):
            return rows
        place = {text: row for row, text in enumerate(distinct)}
        return rows[[place[text] for text in sentences]]

    def similarity(self, a: Any, b: Any) -> np.ndarray:
        """The cosine of each row of `a` with each of `b` (n_a, n_b): embeddings as from `encode`, or sentences."""
        a, b = self._unit(a), self._unit(b)
        if a.shape[1] != b.shape[1]:
            raise ValueError(
                f"a has {a.shape[1]} columns and b {b.shape[1]}, but both must have the same; use one method for both"
            )
        cosines = a @ b.T
        return cosines.toarray() if sparse.issparse(cosines) else cosines

    def similarity_pairwise(self, a: Any, b: Any) -> np.ndarray:
        """The cosine of each row of `a` with the same row of `b`, (n,)."""
        a, b = self._unit(a), self._unit(b)
        if a.shape != b.shape:
            raise ValueError(f"a has shape {a.shape} and b {b.shape}, expected equal shapes; give pairs row by row")
        return np.asarray((a * b).sum(axis=1)).ravel()

    def embedded(self, rows: Any) -> Embeddings:
        """Sentences encoded; embeddings as they are, if need be as floating-point numbers; one of either as a row."""
        rows = [rows] if isinstance(rows, str) else rows
        if not sparse.issparse(rows) and not (isinstance(rows, np.ndarray) and rows.dtype.kind in "biuf"):
            if not isinstance(rows, Iterable):
                return self.encode(rows)  # which says what is wrong
            rows = rows if hasattr(rows, "__array__") else list(rows)
            if isinstance(next(iter(rows), ""), str):
                return self.encode(rows)
            rows = array_of("embeddings", rows)
        rows = rows[None] if rows.ndim == 1 and isinstance(rows, np.ndarray) else rows
        if rows.ndim != 2 or rows.dtype.kind not in "biuf":
            raise ValueError(
                f"embeddings are {rows.dtype} of shape {rows.shape}, expected a matrix with a row for each "
                "sentence; give the result of encode, or a list of sentences"
            )
        return rows if rows.dtype.kind == "f" else rows.astype(np.float32)

    def save(self, folder: Path | str) -> None:
        """Write the run folder, when nobody else writes into it."""
        run = self.run("finished")
        with locked(folder, patience=SAVING):
            write_run(run, folder)

    def load(self, folder: Path | str) -> Self:
        """Load settings and learned state from a run folder of this method."""
        run = read_run(folder)
        if run.method != self.name:
            raise ValueError(
                f"run {str(folder)!r} is of method {run.method!r}, expected {self.name!r}; "
                "labkit.load_run opens a run of any method"
            )
        self._origin = None  # until all of it is there
        try:
            self.settings = settings_of(self.Settings, run.settings)
            require_numbers(run.arrays, self.measured_later)
            self._restore(dict(run.arrays), dict(run.words))
        except (KeyError, TypeError, IndexError) as error:
            raise ValueError(
                f"run {str(folder)!r} cannot be read: its model lacks {error} or it is damaged; train it "
                "again or use an intact copy"
            ) from error
        except ValueError as error:
            raise ValueError(f"run {str(folder)!r} cannot be read: {error}") from error
        self._origin, self._processes = (run.corpus, run.fingerprint, run.seed), run.processes
        self.history, self.snapshots = run.history, run.snapshots
        return self

    def save_pretrained(self, folder: Path | str) -> None:
        """Write the run folder, under the name that other libraries have for it."""
        self.save(folder)

    @classmethod
    def from_pretrained(cls, name: Path | str) -> Self:
        """The method of this class in a run folder, or in a repository OWNER/NAME of the Hugging Face hub."""
        return cls().load(folder_of(name))

    def push_to_hub(self, repository: str, *, private: bool = False) -> str:
        """Push the run folder with a model card to the Hugging Face hub, and return the address there."""
        return push(self, repository, private=private)

    def get_sentence_embedding_dimension(self) -> int:
        """The number of columns of `encode`."""
        return int(self.encode([""]).shape[1])

    def run(self, state: str) -> Run:
        """All that is known, as the record that goes to disk."""
        corpus, fingerprint, seed = self._known()
        arrays, words = self._state()
        return Run(
            method=self.name,
            settings=self.settings.values(),
            corpus=corpus,
            fingerprint=fingerprint,
            seed=seed,
            arrays=arrays,
            words=words,
            history=self.history,
            snapshots=self.snapshots,
            state=state,
            processes=self._processes,
        )

    def _known(self) -> tuple[str, str, int]:
        if self._origin is None:
            raise ValueError(f"method {self.name!r} is not trained yet; call fit(corpus) or load(folder) first")
        return self._origin

    def _unit(self, rows: Any) -> Any:
        return unit(self.embedded(rows))


def _processes() -> int:
    """How many processes train one model, as `torchrun` says."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def texts(sentences: Any) -> list[str]:
    """The sentences as a list, if they are texts."""
    if isinstance(sentences, str) or not isinstance(sentences, Iterable):
        raise ValueError(f"sentences is {type(sentences).__name__}, expected a list of texts")
    sentences = list(sentences)
    for row, text in enumerate(sentences):
        if not isinstance(text, str):
            raise ValueError(f"sentences[{row}] is {type(text).__name__}, expected a text; fill it in or drop it")
    return sentences


def finite(rows: Any, sentences: Sequence[str], whose: str) -> Any:
    """The rows, if they are numbers: one NaN makes nonsense of all that is computed with it, or has no end."""
    good = np.isfinite(rows.data if sparse.issparse(rows) else rows)
    if good.all():
        return rows
    at = np.searchsorted(rows.indptr, np.flatnonzero(~good), "right") - 1 if sparse.issparse(rows) else ~good
    bad = np.unique(at) if sparse.issparse(rows) else np.flatnonzero(at.any(axis=1))
    raise ValueError(
        f"{whose} gives NaN or infinite values for {len(bad):,} of {len(sentences):,} sentences, the first is "
        f"{sentences[bad[0]]!r}; its model is damaged, train it again or use an intact copy"
    )


def require_numbers(arrays: Mapping[str, np.ndarray], measured_later: str) -> None:
    """A ValueError if a method's own arrays, those of its base aside, hold what is no number."""
    for name, array in arrays.items():
        if array.dtype.kind != "f" or name == measured_later or name.startswith(BASE):
            continue
        if bad := int((~np.isfinite(array)).sum()):
            raise ValueError(
                f"{bad:,} of {array.size:,} values of {name!r} in model.safetensors are NaN or infinite; train it "
                "again or use an intact copy"
            )
