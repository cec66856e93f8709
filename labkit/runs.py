"""A run on disk: a folder that holds all that is known of one trained method. No pickle in it anywhere.

    run.json            schema, method, settings, corpus and its fingerprint, seed, versions, state, metrics, processes,
                        checksums
    model.safetensors   the arrays of the method
    vocabulary.json     what of it is text: words, classes
    history.csv         a row of figures per epoch
    snapshots.npz       the probe sentences' vectors at each epoch        probe.csv   these sentences
    checkpoint.safetensors   only while training: all that is needed to go on exactly where it stopped
    checkpoint.before.safetensors   the one before it, should that be damaged        .lock   who is training here

In: a `Run`. Out: the folder, each file written whole or not at all, and back. A folder that was cut off, edited, or
written by a newer labkit is refused with the reason.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import platform
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from numbers import Integral
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from labkit.atomic import in_place
from labkit.locks import Hold
from labkit.progress import note
from labkit.settings import Settings

# --- what a training leaves --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class History:
    """A dict of figures for each epoch or iteration, the first key `epoch`; empty for methods that do not iterate.

    There are no clock times in it: two trainings with one seed have the same history, byte for byte.
    """

    rows: tuple[Mapping[str, float], ...] = ()

    def __post_init__(self) -> None:
        # as Python's own numbers: numpy's write themselves as `np.float64(0.5)`
        rows = tuple(
            {name: int(value) if isinstance(value, Integral) else float(value) for name, value in row.items()}
            for row in self.rows
        )
        object.__setattr__(self, "rows", rows)

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[float]:
        """One figure over the epochs; NaN where an epoch has none."""
        if self.rows and not any(name in row for row in self.rows):
            raise ValueError(f"name is {name!r}, expected one of {', '.join(self.columns)}")
        return [row.get(name, float("nan")) for row in self.rows]

    @property
    def columns(self) -> list[str]:
        """The names of all figures, in order of first appearance."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def csv(self) -> str:
        """The history as a table with a header line; numbers keep every digit, so that they are read back exactly."""
        text = io.StringIO()
        table = csv.DictWriter(text, self.columns or ["epoch"], lineterminator="\n")
        table.writeheader()
        table.writerows({name: repr(value) for name, value in row.items()} for row in self.rows)
        return text.getvalue()

    @classmethod
    def of_csv(cls, text: str) -> History:
        """The history that `csv` wrote."""
        try:
            header, *lines = csv.reader(io.StringIO(text), strict=True)
            rows = [{name: _number(cell) for name, cell in zip(header, cells, strict=True) if cell} for cells in lines]
        except (ValueError, csv.Error) as error:
            raise ValueError(
                f"history.csv is not a table of numbers with a header ({error}); it was edited or cut off"
            ) from error
        return cls(tuple(rows))


def _number(cell: str) -> float:
    return int(cell) if cell.lstrip("-").isdecimal() else float(cell)


@dataclass(frozen=True, eq=False)
class Snapshots:
    """The probe: some sentences with their labels, and their vectors at some epochs (0: before training)."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    epochs: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # (e,)
    vectors: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0), np.float32))  # (e, n, d)

    def with_epoch(self, epoch: int, vectors: np.ndarray) -> Snapshots:
        """The snapshots and one more, of vectors (n, d) after an epoch."""
        before = self.vectors if len(self.epochs) else np.zeros((0, *vectors.shape), np.float32)
        whole = np.concatenate([before, vectors[None].astype(np.float32)])
        return Snapshots(self.texts, self.labels, np.append(self.epochs, epoch).astype(np.int64), whole)


# --- a run and its files -----------------------------------------------------------------------------------------

SCHEMA = 1
PACKAGES = {"labkit": "labkit-embeddings", **{name: name for name in ("torch", "numpy", "scipy", "scikit-learn")}}
FILES = MODEL, WORDS, HISTORY, SNAPSHOTS, PROBE = (
    "model.safetensors", "vocabulary.json", "history.csv", "snapshots.npz", "probe.csv",
)  # fmt: skip
CHECKPOINT, BEFORE = "checkpoint.safetensors", "checkpoint.before.safetensors"
TUNING, TRIALS = "tune.json", "trials"  # of a tuning, whose trials are trained in folders below it
_BEFORE_CHECKSUM = b'"sha256":"'  # in the header of a checkpoint; the checksum of all its bytes but these 64 follows
_NO_CHECKSUM = "0" * 64
#: the fields of `run.json`, with the type of each
FIELDS: dict[str, type] = dict(  # noqa: C408
    method=str,
    settings=dict,
    corpus=str,
    fingerprint=str,
    seed=int,
    state=str,
    versions=dict,
    metrics=dict,
    processes=int,
)
#: settings that a run of an earlier version may lack, with the values that it stands for where those are no defaults
#: today; for settings that have another name today see `labkit.settings.RENAMED`
EARLIER = {"temperature": 1.0}
UTF8 = ("utf-8", "surrogatepass")  # a text may hold half a character, and must come back as it is

Checkpoint: TypeAlias = tuple[dict[str, np.ndarray], dict[str, Any]]


def versions() -> dict[str, str]:
    """Give the versions of Python and of the packages that results depend on."""
    known = {"python": platform.python_version()}
    for name, package in PACKAGES.items():
        try:
            known[name] = version(package)
        except PackageNotFoundError:  # it was not installed as a package
            known[name] = "unknown"
    return known


@dataclass(frozen=True, eq=False)
class Run:
    """One trained method, its origin and its figures. `state` is "training" until all epochs are done."""

    method: str
    settings: Mapping[str, Any]
    corpus: str
    fingerprint: str
    seed: int
    arrays: Mapping[str, np.ndarray]
    words: Mapping[str, Any]
    history: History = field(default_factory=History)
    snapshots: Snapshots = field(default_factory=lambda: Snapshots((), ()))
    metrics: Mapping[str, Any] = field(default_factory=dict)
    state: str = "finished"
    versions: Mapping[str, str] = field(default_factory=versions)
    processes: int = 1  # that trained it, by torchrun; to rounding it is the model of one


# --- writing -----------------------------------------------------------------------------------------------------


def write_run(run: Run, folder: Path | str) -> None:
    """Write the folder. `run.json` comes last: once it is there, with its checksums, all else is."""
    folder = _folder_for_run(folder)
    vectors = io.BytesIO()
    np.savez(vectors, allow_pickle=False, epochs=run.snapshots.epochs, vectors=run.snapshots.vectors)
    files = {
        MODEL: _tensors(run.arrays),
        WORDS: json.dumps(run.words, ensure_ascii=False, indent=0).encode(*UTF8),
        HISTORY: run.history.csv().encode(),
        SNAPSHOTS: vectors.getvalue(),
        PROBE: _probe(run.snapshots),
    }
    for name, content in files.items():
        _write(folder / name, content)
    # while training goes on the files change one after the other, and a kill between two must do no harm
    sums = {name: _sum(content) for name, content in files.items()} if run.state == "finished" else {}
    _write_record(folder, {"schema": SCHEMA, **{name: getattr(run, name) for name in FIELDS}, "files": sums})
    if run.state == "finished":
        for name in (CHECKPOINT, BEFORE):
            (folder / name).unlink(missing_ok=True)
        for name in (*FILES, CHECKPOINT, "run.json"):  # what a killed process left of one; BEFORE is only moved
            for part in folder.glob(f".{name}.*"):
                part.unlink(missing_ok=True)


def add_metrics(folder: Path | str, metrics: Mapping[str, Any]) -> None:
    """Put figures into `run.json`, beside those that are there (same name: the new one stays)."""
    record = read_record(folder)
    record["metrics"] = {**record["metrics"], **metrics}
    _write_record(Path(folder), record)


def write_checkpoint(folder: Path | str, arrays: Mapping[str, np.ndarray], record: Mapping[str, Any]) -> None:
    """Write arrays, a JSON record and the checksum of both into one file, and keep the checkpoint before it."""
    content = _tensors(arrays, {"record": json.dumps(record), "sha256": _NO_CHECKSUM})
    place, folder = content.index(_BEFORE_CHECKSUM) + len(_BEFORE_CHECKSUM), _folder_for_run(folder)
    with in_place(folder / CHECKPOINT, len(content), before=folder / BEFORE) as file:
        file.write(content)
        file.seek(place)
        file.write(_sum(content).encode())


# --- reading -----------------------------------------------------------------------------------------------------


def read_run(folder: Path | str) -> Run:
    """Read the run in this folder and check it."""
    record = read_record(folder)
    contents = {name: _read(Path(folder) / name) for name in FILES}
    for name, expected in record["files"].items():
        if name in contents and _sum(contents[name]) != expected:
            raise _refused(folder, f"{name} was cut off or edited since it was written (its checksum differs)")
    try:
        words = json.loads(contents[WORDS])
        history = History.of_csv(contents[HISTORY].decode())
        snapshots = _snapshots(contents[SNAPSHOTS], contents[PROBE])
    except Exception as error:  # a damaged archive makes its reader fail in a dozen ways
        raise _refused(folder, f"one of its files was cut off or edited ({error})") from error
    try:
        arrays = load_tensors(contents[MODEL])
    except (SafetensorError, ValueError, KeyError) as error:
        raise _refused(folder, f"{MODEL} was cut off or edited ({error})") from error
    return Run(
        **{name: record[name] for name in FIELDS},
        arrays=arrays,
        words=words,
        history=history,
        snapshots=snapshots,
    )


def settings_of(kind: type[Settings], values: Mapping[str, Any]) -> Settings:
    """The settings of a run that may have been written by an earlier version."""
    known, given = kind().values(), kind.renamed(values)
    lacking = {name: value for name, value in EARLIER.items() if name in known}
    if "amp" not in known:
        given.pop("amp", None)  # methods without an encoder once had it, and it changed nothing
    return kind.of(lacking | given)


def read_record(folder: Path | str) -> dict[str, Any]:
    """Read `run.json` and check it: what a run is, without its arrays."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(
            f"run is {str(folder)!r}, expected the folder of a run, as `labkit train` writes it; check the path"
        )
    content = _read(folder / "run.json")
    try:
        record = json.loads(content)
        if not isinstance(record, dict) or not isinstance(record.get("schema"), int):
            raise ValueError("it names no schema version")
        checksum = _record_sum(record)
    except (ValueError, RecursionError) as error:
        raise _refused(folder, f"run.json is not one of labkit's ({error})") from error
    if record["schema"] != SCHEMA:
        raise _refused(
            folder,
            f"its schema version is {record['schema']}, this labkit reads {SCHEMA} "
            "(install the version of labkit-embeddings that wrote it)",
        )
    if record.get("checksum") != checksum:
        raise _refused(folder, "run.json was edited since it was written (its checksum differs)")
    record = {"processes": 1} | record  # an earlier labkit did not note it
    wrong = [name for name, kind in (FIELDS | {"files": dict}).items() if not isinstance(record.get(name), kind)]
    if wrong:
        raise _refused(folder, f"run.json lacks or garbles {', '.join(wrong)}")
    return record


def has_checkpoint(folder: Path | str) -> bool:
    """Whether a training was begun here and not finished; its checkpoints may be damaged."""
    return any((Path(folder) / name).is_file() for name in (CHECKPOINT, BEFORE))


def finished(folder: Path | str) -> bool:
    """Whether the run of a training that was finished lies here."""
    try:
        return bool(read_record(folder)["state"] == "finished")
    except (ValueError, OSError):
        return False


def of_tuning(folder: Path | str) -> bool:
    """Whether this folder is a tuning or lies in one, as its trials do, and is no run."""
    here = Path(folder).absolute()
    return any((place / TUNING).is_file() for place in (here, *here.parents[:2]))


def last_checkpoint(folder: Path | str) -> tuple[Checkpoint | None, dict[str, str]]:
    """The last checkpoint that is whole, and of each newer one by its name why it is not."""
    damaged: dict[str, str] = {}
    for name in (CHECKPOINT, BEFORE):
        try:
            return _checkpoint((Path(folder) / name).read_bytes()), damaged
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (SafetensorError, ValueError, KeyError, TypeError, RecursionError):
            damaged[name] = f"{name} was cut off or edited since it was written"
    return None, damaged


def read_checkpoint(folder: Path | str) -> Checkpoint | None:
    """The arrays and the record of the last checkpoint; None where there is none."""
    checkpoint, damaged = last_checkpoint(folder)
    if checkpoint is None and damaged:
        reason = ", and ".join(damaged.values())
        raise ValueError(
            f"training {str(folder)!r} cannot go on: {reason}; leave out --resume to train anew in this folder"
        )
    return checkpoint


def _checkpoint(content: bytes) -> Checkpoint:
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    about = header["__metadata__"]
    if set(about) != {"record"}:  # an earlier labkit wrote no checksum
        place = content.index(_BEFORE_CHECKSUM) + len(_BEFORE_CHECKSUM)
        digest = hashlib.sha256(content[:place])
        digest.update(_NO_CHECKSUM.encode())
        digest.update(memoryview(content)[place + len(_NO_CHECKSUM) :])
        if digest.hexdigest() != about["sha256"]:
            raise ValueError("its checksum differs")
    return load_tensors(content), json.loads(about["record"])


# --- the single files --------------------------------------------------------------------------------------------


def _write_record(folder: Path, record: dict[str, Any]) -> None:
    record = json.loads(json.dumps(record, default=dict))  # as it will be read: the name 1 is "1", a tuple a list
    record["checksum"] = _record_sum(record)
    _write(folder / "run.json", json.dumps(record, ensure_ascii=False, indent=2).encode(*UTF8) + b"\n")


def _record_sum(record: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in record.items() if name != "checksum"}
    return _sum(json.dumps(rest, sort_keys=True).encode())


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(path: Path, content: bytes) -> None:
    with in_place(path, len(content)) as file:
        file.write(content)


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise _refused(path.parent, f"{path.name} is missing")
    return path.read_bytes()


def _folder_for_run(folder: Path | str) -> Path:
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise ValueError(
            f"folder is {str(folder)!r}, a file, expected a folder to write a run into; choose another name"
        )
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _tensors(arrays: Mapping[str, np.ndarray], about: dict[str, str] | None = None) -> bytes:
    # not np.ascontiguousarray: that would make a row of a single number
    return save_tensors({name: np.asarray(array, order="C") for name, array in arrays.items()}, about)


def _probe(snapshots: Snapshots) -> bytes:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)  # a text may hold any end of line
    table.writerows([("text", "label"), *zip(snapshots.texts, snapshots.labels, strict=True)])
    return text.getvalue().encode(*UTF8)


def _snapshots(arrays: bytes, probe: bytes) -> Snapshots:
    csv.field_size_limit(max(csv.field_size_limit(), len(probe)))  # a text may be as long as all of them
    rows = list(csv.reader(io.StringIO(probe.decode(*UTF8), newline="")))[1:]
    with np.load(io.BytesIO(arrays), allow_pickle=False) as file:
        epochs, vectors = file["epochs"], file["vectors"]
    if vectors.ndim != 3 or len(epochs) != len(vectors) or (len(epochs) and vectors.shape[1] != len(rows)):
        raise ValueError(f"{SNAPSHOTS} holds vectors of shape {vectors.shape} for {len(rows)} lines of {PROBE}")
    return Snapshots(tuple(text for text, _ in rows), tuple(label for _, label in rows), epochs, vectors)


def _refused(folder: Path | str, reason: str) -> ValueError:
    return ValueError(f"run {str(folder)!r} cannot be read: {reason}; train it again or take an intact copy")


# --- while a run is trained --------------------------------------------------------------------------------------


class Keeper:
    """Keeps a run in a folder while it is trained: its present state, and checkpoints to go on from.

    In: the folder, a callable that gives the run as it is now, and what tells one training from another (method,
    settings, corpus, seed). A folder that holds anything else is refused. Of several processes only the first writes,
    and while it does the folder is its own.
    """

    def __init__(self, folder: Path | str | Hold, run: Callable[[str], Run], training: Mapping[str, Any]) -> None:
        self.folder, self._run, self._training = Path(folder), run, dict(training)
        self._writes = os.environ.get("RANK", "0") == "0"  # of several processes the first
        self._resumed: Checkpoint | None = None
        self._hold: Hold | None = None  # None if the folder came already held: then its holder lets it go
        if not self._writes:
            return
        if not isinstance(folder, Hold):
            self._hold = Hold(folder)
        try:
            self._resumed = self._begin()
        except BaseException:
            self.close()
            raise

    def epoch(self) -> None:
        """Write the method as it is now; the run says that it is still in training."""
        if self._writes:
            write_run(self._run("training"), self.folder)

    def finish(self) -> None:
        """Write the method; the run is finished, and its checkpoints are removed."""
        if self._writes:
            write_run(self._run("finished"), self.folder)

    def close(self) -> None:
        """Release the folder, however the training ended."""
        if self._hold is not None:
            self._hold.release()

    def checkpoint(self, arrays: Mapping[str, np.ndarray], record: Mapping[str, Any]) -> None:
        """Write all that is needed to go on from here."""
        if self._writes:
            write_checkpoint(self.folder, arrays, {**record, "training": self._training})

    def resume(self) -> Checkpoint | None:
        """The last checkpoint; None if there is none."""
        if not self._writes:
            return last_checkpoint(self.folder)[0]
        checkpoint, self._resumed = self._resumed, None
        return checkpoint

    def _begin(self) -> Checkpoint | None:
        """The checkpoint to go on from. Damaged ones are removed, so that they take no good one's place."""
        checkpoint, damaged = last_checkpoint(self.folder)
        # a hidden file is a lock, or half a file of a process that was killed
        if any(not path.name.startswith(".") for path in self.folder.iterdir()):
            self._refuse_another(checkpoint, begun=bool(damaged))
        for name, reason in damaged.items():
            what = "the training begins anew" if checkpoint is None else "the training goes on from the one before it"
            note(f"{reason}, in {str(self.folder)!r}; {what}", stacklevel=2)
            (self.folder / name).unlink()
        return checkpoint

    def _refuse_another(self, checkpoint: Checkpoint | None, *, begun: bool) -> None:
        """Refuse a folder that holds a finished run, another training, or somebody's files."""
        if checkpoint is not None:
            theirs = checkpoint[1].get("training", {})
        elif (self.folder / "run.json").is_file():
            theirs = self._unfinished()
        elif begun:  # and nothing tells what it was
            return
        else:
            raise ValueError(
                f"folder {str(self.folder)!r} holds files that are not a run's; choose an empty or a new one"
            )
        if other := difference(self._training, theirs):
            raise ValueError(
                f"folder {str(self.folder)!r} holds an interrupted training with {other}; use the same to go on, or "
                "choose another folder"
            )

    def _unfinished(self) -> dict[str, Any]:
        """The record of a run whose training has no checkpoint, and can only begin anew."""
        what = "a run that cannot be read"
        with suppress(ValueError):
            record = read_record(self.folder)
            if record["state"] != "finished":
                return record
            what = f"a run of {record['method']} already"
        raise ValueError(
            f"folder {str(self.folder)!r} holds {what}; choose another folder, or remove this one"
        ) from None


def difference(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """The first thing in which another training differs from this one, in words; empty where it is the same."""
    for name in mine:
        if mine[name] != theirs.get(name):
            return f"another {name} ({theirs.get(name)!r}, not {mine[name]!r})"
    return ""


def history(folder: Path | str) -> History:
    """The history that a run has written so far; empty where there is none yet, or a damaged one."""
    try:
        return History.of_csv((Path(folder) / HISTORY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return History()
