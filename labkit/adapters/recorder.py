"""Record the training of any sentence encoder: store some sentences' vectors as a run for Space, and warn of a
collapse.

    recorder = Recorder(sentences, labels, folder="runs/minilm")
    SentenceTransformerTrainer(..., callbacks=[recorder]).train()      extra: sbert
    recorder.record(step, model)                                       the equivalent in your own loop
    recorder.finish()

In: the sentences to follow, with their classes if any, or a corpus, from which 100 are taken. Out: a run folder with a
snapshot of the vectors and a row of scores for each recorded step: MAP@R, Hit@1, alignment, uniformity, mean cosine,
effective rank. Space offers the run with the folder's `sentences.csv` as its corpus. The run has vectors but no model.

All vectors may collapse to one while the loss looks normal. The first record that shows a collapse triggers the
warning.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from labkit.corpora.files import write_rows
from labkit.corpora.frames import from_classes, from_sentences
from labkit.corpora.records import Corpus, Labelled, Sentences
from labkit.evaluation.geometry import probe_figures
from labkit.evaluation.retrieval import hit_at
from labkit.figure_names import OF_PROBE
from labkit.progress import note
from labkit.runs import History, Run, Snapshots, write_run
from labkit.training.trained import probe_of

try:
    from transformers import TrainerCallback
except ImportError:  # your own loop does not need it
    TrainerCallback = object  # type: ignore[misc,assignment]

FOLLOWED = 100  # sentences of a corpus
SHARE, STEP = 0.025, 8  # share of time for recording; a step takes as long as encoding 8 sentences per pair
RECORDS = 40  # maximum per run
CROWDED, ONE_POINT = 1 / 4, 1 / 20  # shares of the initial room, `1 - mean cosine`


class Recorder(TrainerCallback):
    """A callback for transformers' trainers, and `record` for any other loop.

    >>> from tempfile import mkdtemp
    >>> recorder = Recorder(["a cat", "one cat", "an oak"], folder=mkdtemp())
    >>> figures = recorder.record(0, lambda sentences: np.eye(3))
    >>> recorder.finish()
    >>> figures["probe_mean_cosine"]
    0.0
    """

    def __init__(
        self,
        sentences: Sequence[str] | Corpus,
        labels: Sequence[str] | None = None,
        *,
        folder: Path | str = "runs/recorded",
        every: int | None = None,
    ) -> None:
        """`every`: steps between two records in a trainer; by default, recording takes about 2.5 % of the time."""
        if (Path(folder) / "run.json").exists():
            raise ValueError(f"folder {str(folder)!r} already contains a run; choose another folder, or delete it")
        self.folder, self.every = Path(folder), every
        if isinstance(sentences, Corpus):
            probe = probe_of(sentences)
            sentences, labels = probe.texts[:FOLLOWED], probe.labels[:FOLLOWED]
        self.corpus: Sentences | Labelled = (
            from_sentences(sentences) if labels is None else from_classes(sentences, labels)
        )
        classes = self.corpus.labels if isinstance(self.corpus, Labelled) else [""] * len(self.corpus)
        self.snapshots = Snapshots(tuple(self.corpus.texts), tuple(classes))
        if len(self.snapshots.texts) < 2:
            raise ValueError("sentences has fewer than two texts, but comparing vectors needs at least two; add more")
        self.folder.mkdir(parents=True, exist_ok=True)
        write_rows(self.corpus.rows(), self.folder / "sentences.csv")
        self.rows: list[dict[str, float]] = []
        self.alarms: list[str] = []

    # --- any loop --------------------------------------------------------------------------------------------

    def record(self, step: int, model: Any, **figures: float) -> dict[str, float]:
        """Store the model's vectors after this many steps, and return their scores.

        `model` has an `encode(sentences)` method or is such a function itself; `figures` are your own values, such as
        the loss.
        """
        vectors = encoded(model, self.snapshots.texts)
        self.snapshots = self.snapshots.with_epoch(step, vectors)
        measured = probe_figures(self.snapshots.labels, vectors)
        row: dict[str, float] = {"epoch": step, "step": step, **figures, **measured}
        if OF_PROBE + "map@r" in row:
            row[OF_PROBE + "hit@1"] = hit_at(vectors, np.unique(self.snapshots.labels, return_inverse=True)[1], [1])[1]
        self.rows.append(row)
        self._write("training")
        if not self.alarms and (why := collapsed(self.rows[0], row)):
            self.alarms.append(f"after {step} steps {why}")
            note(self.alarms[-1], stacklevel=2)
        return row

    def finish(self) -> None:
        """Mark the run as finished."""
        self._write("finished")

    def _write(self, state: str) -> None:
        run = Run(
            method="matrix",
            settings={"file": ""},
            corpus=self.corpus.name,
            fingerprint=self.corpus.fingerprint,
            seed=0,
            arrays={"rows": self.snapshots.vectors[-1]},
            words={"sentences": list(self.snapshots.texts)},
            history=History(tuple(self.rows)),
            snapshots=self.snapshots,
            state=state,
        )
        write_run(run, self.folder)

    # --- a trainer of transformers ---------------------------------------------------------------------------

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Record the model before training."""
        if self.every is None:
            cost = len(self.snapshots.texts) / (STEP * args.per_device_train_batch_size)  # cost of a record, in steps
            records = min(RECORDS, SHARE * state.max_steps / cost)
            self.every = ceil(state.max_steps / max(1, records - 1))
        self._record_state(state, kwargs["model"])

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Record the model every `self.every` steps."""
        assert self.every is not None
        if state.global_step % self.every == 0:
            self._record_state(state, kwargs["model"])

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Record the last step, and finish the run."""
        self._record_state(state, kwargs["model"])
        if state.is_world_process_zero:
            self.finish()

    def _record_state(self, state: Any, model: Any) -> None:
        """Record a step of the trainer once, with the last logged loss, and only in the first process."""
        if state.is_world_process_zero and not (self.rows and self.rows[-1]["step"] == state.global_step):
            losses = [entry["loss"] for entry in state.log_history if "loss" in entry]
            self.record(state.global_step, model, **({"loss": losses[-1]} if losses else {}))


def collapsed(start: Mapping[str, float], now: Mapping[str, float]) -> str:
    """Return a warning if the vectors are collapsing, otherwise ""; `start` and `now` are results of `record`.

    The room between vectors is `1 - mean cosine`. With classes, the vectors count as collapsed if the room is below a
    quarter of the initial one and MAP@R is lower than at the start, because vectors that are crowded but better ordered
    may still spread out. Without classes, they count as collapsed if the room is below a twentieth of the initial one.
    """
    mean, order = OF_PROBE + "mean_cosine", OF_PROBE + "map@r"
    if mean not in start or mean not in now:
        return ""
    left = (1 - now[mean]) / max(1 - start[mean], 1e-6)
    crowded = left < CROWDED and now[order] < start[order] if order in now and order in start else left < ONE_POINT
    if not crowded:
        return ""
    worse = f" and MAP@R fell from {start[order]:.3f} to {now[order]:.3f}" if order in now else ""
    return (
        f"the vectors are collapsing: their mean cosine went from {start[mean]:.3f} to {now[mean]:.3f}{worse}. Stop, "
        "then lower the learning rate, use all pairs instead of the hardest, or choose another loss"
    )


def encoded(model: Any, sentences: Sequence[str]) -> np.ndarray:
    """The vectors of a model, float32 (n, d); restores the modes of its modules, which `encode` may change."""
    modes = [(module, module.training) for module in model.modules()] if hasattr(model, "modules") else []
    try:
        rows = getattr(model, "encode", model)(list(sentences))
    finally:
        for module, training in modes:
            module.training = training
    return np.asarray(rows.detach().cpu().numpy() if hasattr(rows, "detach") else rows, dtype=np.float32)
