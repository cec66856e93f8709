"""A run on disk: a folder with one trained method, without pickle.

    run.json            schema, method, settings, corpus and its fingerprint, seed, versions, state, metrics, processes,
                        checksums
    model.safetensors   the arrays of the method
    vocabulary.json     its texts: words, classes
    history.csv         a row of values per epoch
    snapshots.npz       the probe sentences' vectors at each epoch        probe.csv   these sentences
    checkpoint.safetensors   only during training: everything needed to resume exactly

`write_run` writes a `Run` to its folder, each file completely or not at all, and `read_run` reads it. A folder that is
incomplete, was edited or comes from a newer labkit is rejected, with the reason.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import platform
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from numbers import Integral
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors

from labkit.atomic import in_place
from labkit.locks import locked
from labkit.progress import first_process
from labkit.settings import Settings

# --- the record of a run -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class History:
    """A dict of values per epoch or iteration, whose first key is `epoch`; empty for methods that do not iterate.

    It contains no clock times, so two runs with the same seed have the same history, byte for byte.
    """

    rows: tuple[Mapping[str, float], ...] = ()

    def __post_init__(self) -> None:
        # as Python numbers, because numpy's repr is `np.float64(0.5)`
        rows = tuple(
            {name: int(value) if isinstance(value, Integral) else float(value) for name, value in row.items()}
            for row in self.rows
        )
        object.__setattr__(self, "rows", rows)

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, name: str) -> list[float]:
        """The values of one column over the epochs; NaN for epochs without a value."""
        if self.rows and not any(name in row for row in self.rows):
            raise ValueError(f"name is {name!r}, expected one of {', '.join(self.columns)}")
        return [row.get(name, float("nan")) for row in self.rows]

    @property
    def columns(self) -> list[str]:
        """The names of all values, in order of first appearance."""
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def csv(self) -> str:
        """The history as a table with a header; numbers keep all digits, so that they are read back exactly."""
        text = io.StringIO()
        table = csv.DictWriter(text, self.columns or ["epoch"], lineterminator="\n")
        table.writeheader()
        table.writerows({name: repr(value) for name, value in row.items()} for row in self.rows)
        return text.getvalue()

    @classmethod
    def of_csv(cls, text: str) -> History:
        """Read a history written by `csv`."""
        try:
            header, *lines = csv.reader(io.StringIO(text), strict=True)
            rows = [{name: _number(cell) for name, cell in zip(header, cells, strict=True) if cell} for cells in lines]
        except (ValueError, csv.Error) as error:
            raise ValueError(
                f"history.csv is not a table of numbers with a header ({error}); it was edited or truncated"
            ) from error
        return cls(tuple(rows))


def _number(cell: str) -> float:
    return int(cell) if cell.lstrip("-").isdecimal() else float(cell)


@dataclass(frozen=True, eq=False)
class Snapshots:
    """The probe: some sentences with labels, and their vectors after some epochs (0: before training)."""

    texts: tuple[str, ...]
    labels: tuple[str, ...]
    epochs: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))  # (e,)
    vectors: np.ndarray = field(default_factory=lambda: np.zeros((0, 0, 0), np.float32))  # (e, n, d)

    def with_epoch(self, epoch: int, vectors: np.ndarray) -> Snapshots:
        """The snapshots plus one more: vectors (n, d) after an epoch."""
        before = self.vectors if len(self.epochs) else np.zeros((0, *vectors.shape), np.float32)
        whole = np.concatenate([before, vectors[None].astype(np.float32)])
        return Snapshots(self.texts, self.labels, np.append(self.epochs, epoch).astype(np.int64), whole)


# --- a run and its files -----------------------------------------------------------------------------------------

SCHEMA = 1
PACKAGES = {"labkit": "labkit-embeddings", **{name: name for name in ("torch", "numpy", "scipy", "scikit-learn")}}
MODEL, WORDS, HISTORY = "model.safetensors", "vocabulary.json", "history.csv"
SNAPSHOTS, PROBE = "snapshots.npz", "probe.csv"
FILES = (MODEL, WORDS, HISTORY, SNAPSHOTS, PROBE)
CHECKPOINT = "checkpoint.safetensors"
#: the fields of `run.json`
FIELDS = ("method", "settings", "corpus", "fingerprint", "seed", "state", "versions", "metrics", "processes")
#: settings that runs of earlier versions may lack, with their former values if these differ from today's defaults; for
#: renamed settings, see `labkit.settings.RENAMED`
EARLIER = {"temperature": 1.0}
UTF8 = ("utf-8", "surrogatepass")  # a text may contain half a surrogate pair, and must be read back unchanged

Checkpoint: TypeAlias = tuple[dict[str, np.ndarray], dict[str, Any]]


def versions() -> dict[str, str]:
    """The versions of Python and of the packages that results depend on."""
    known = {"python": platform.python_version()}
    for name, package in PACKAGES.items():
        try:
            known[name] = version(package)
        except PackageNotFoundError:  # not installed as a package
            known[name] = "unknown"
    return known


@dataclass(frozen=True, eq=False)
class Run:
    """A trained method, its origin and its scores. `state` is "training" until all epochs are finished."""

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
    processes: int = 1  # number of torchrun's processes; the model is the same up to rounding


# --- writing -----------------------------------------------------------------------------------------------------


def write_run(run: Run, folder: Path | str) -> None:
    """Write the folder. `run.json`, with the checksums, is written last: once it exists, the folder is complete."""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
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
    # during training, files change one by one, and a kill between two of them must do no harm
    sums = {name: _sum(content) for name, content in files.items()} if run.state == "finished" else {}
    _write_record(folder, {"schema": SCHEMA, **{name: getattr(run, name) for name in FIELDS}, "files": sums})
    if run.state == "finished":
        (folder / CHECKPOINT).unlink(missing_ok=True)


def add_metrics(folder: Path | str, metrics: Mapping[str, Any]) -> None:
    """Add scores to `run.json`; a new score replaces an old one with the same name."""
    record = read_record(folder)
    record["metrics"] = {**record["metrics"], **metrics}
    _write_record(Path(folder), record)


def write_checkpoint(folder: Path | str, arrays: Mapping[str, np.ndarray], record: Mapping[str, Any]) -> None:
    """Write arrays and a JSON record to one file, which replaces the previous checkpoint."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    _write(Path(folder) / CHECKPOINT, _tensors(arrays, {"record": json.dumps(record)}))


# --- reading -----------------------------------------------------------------------------------------------------


def read_run(folder: Path | str) -> Run:
    """Read the run in this folder and check it."""
    record = read_record(folder)
    contents = {name: _read(Path(folder) / name) for name in FILES}
    for name, expected in record["files"].items():
        if name in contents and _sum(contents[name]) != expected:
            raise _refused(folder, f"{name} was truncated or edited since it was written (its checksum differs)")
    try:
        return Run(
            **{name: record[name] for name in FIELDS},
            arrays=load_tensors(contents[MODEL]),
            words=json.loads(contents[WORDS]),
            history=History.of_csv(contents[HISTORY].decode()),
            snapshots=_snapshots(contents[SNAPSHOTS], contents[PROBE]),
        )
    except Exception as error:  # a damaged file makes its reader fail in many ways
        raise _refused(folder, f"one of its files was truncated or edited ({error})") from error


def settings_of(kind: type[Settings], values: Mapping[str, Any]) -> Settings:
    """The settings of a run, which an earlier version may have written."""
    known, given = kind().values(), kind.renamed(values)
    lacking = {name: value for name, value in EARLIER.items() if name in known}
    if "amp" not in known:
        given.pop("amp", None)  # methods without an encoder once had this setting, without effect
    return kind.of(lacking | given)


def read_record(folder: Path | str) -> dict[str, Any]:
    """Read `run.json` and check it: the run without its arrays."""
    folder = Path(folder)
    if not folder.is_dir():
        raise ValueError(f"{str(folder)!r} is not a run folder written by `labkit train`; check the path")
    content = _read(folder / "run.json")
    try:
        record = json.loads(content)
        if not isinstance(record, dict) or not isinstance(record.get("schema"), int):
            raise ValueError("it contains no schema version")
    except (ValueError, RecursionError) as error:
        raise _refused(folder, f"run.json was not written by labkit ({error})") from error
    if record["schema"] != SCHEMA:
        raise _refused(
            folder,
            f"its schema version is {record['schema']}, but this labkit reads {SCHEMA} (install the version of "
            "labkit-embeddings that wrote it)",
        )
    if record.get("checksum") != _record_sum(record):
        raise _refused(folder, "run.json was edited since it was written (its checksum differs)")
    return {"processes": 1} | record  # missing in earlier versions


def has_checkpoint(folder: Path | str) -> bool:
    """Whether a run in this folder was started but not finished."""
    return (Path(folder) / CHECKPOINT).is_file()


def finished(folder: Path | str) -> bool:
    """Whether the folder contains a finished run."""
    try:
        return bool(read_record(folder)["state"] == "finished")
    except (ValueError, OSError):
        return False


def read_checkpoint(folder: Path | str) -> Checkpoint | None:
    """The arrays and the record of the checkpoint; None if the folder has no checkpoint."""
    if not has_checkpoint(folder):
        return None
    try:
        with safe_open(Path(folder) / CHECKPOINT, "numpy") as file:
            return {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()["record"])  # noqa: SIM118
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"run {str(folder)!r} cannot be resumed: {CHECKPOINT} was truncated or edited ({error}); delete it "
            "to train again in this folder"
        ) from error


# --- the single files --------------------------------------------------------------------------------------------


def _write_record(folder: Path, record: dict[str, Any]) -> None:
    record = json.loads(json.dumps(record, default=dict))  # as it will be read: 1 becomes "1", a tuple becomes a list
    record["checksum"] = _record_sum(record)
    _write(folder / "run.json", json.dumps(record, ensure_ascii=False, indent=2).encode(*UTF8) + b"\n")


def _record_sum(record: Mapping[str, Any]) -> str:
    rest = {name: value for name, value in record.items() if name != "checksum"}
    return _sum(json.dumps(rest, sort_keys=True).encode())


def _sum(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _write(path: Path, content: bytes) -> None:
    with in_place(path) as file:
        file.write(content)


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise _refused(path.parent, f"{path.name} is missing")
    return path.read_bytes()


def _tensors(arrays: Mapping[str, np.ndarray], about: dict[str, str] | None = None) -> bytes:
    # not np.ascontiguousarray, which would turn a single number into a row
    return save_tensors({name: np.asarray(array, order="C") for name, array in arrays.items()}, about)


def _probe(snapshots: Snapshots) -> bytes:
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)  # a text may contain any line ending
    table.writerows([("text", "label"), *zip(snapshots.texts, snapshots.labels, strict=True)])
    return text.getvalue().encode(*UTF8)


def _snapshots(arrays: bytes, probe: bytes) -> Snapshots:
    csv.field_size_limit(max(csv.field_size_limit(), len(probe)))  # a text may be as long as the whole file
    rows = list(csv.reader(io.StringIO(probe.decode(*UTF8), newline="")))[1:]
    with np.load(io.BytesIO(arrays), allow_pickle=False) as file:
        epochs, vectors = file["epochs"], file["vectors"]
    return Snapshots(tuple(text for text, _ in rows), tuple(label for _, label in rows), epochs, vectors)


def _refused(folder: Path | str, reason: str) -> ValueError:
    return ValueError(f"run {str(folder)!r} cannot be read: {reason}. Train it again or use an intact copy")


# --- during training ---------------------------------------------------------------------------------------------


class Keeper:
    """Saves a run in its folder during training; a callable returns the run, given its state.

    Only the first of several processes writes.
    """

    def __init__(self, folder: Path | str, run: Callable[[str], Run], training: Mapping[str, Any]) -> None:
        self.folder, self._run, self._training = Path(folder), run, dict(training)

    def epoch(self) -> None:
        """Write the current state; the run is marked as in training."""
        if first_process():
            write_run(self._run("training"), self.folder)

    def checkpoint(self, arrays: Mapping[str, np.ndarray], record: Mapping[str, Any]) -> None:
        """Write everything needed to resume from here."""
        if first_process():
            write_checkpoint(self.folder, arrays, {**record, "training": self._training})

    def resume(self) -> Checkpoint | None:
        """The last checkpoint; None if there is none."""
        return read_checkpoint(self.folder)


@contextmanager
def kept(folder: Path | str, run: Callable[[str], Run], training: Mapping[str, Any]) -> Iterator[Keeper]:
    """Lock the folder during training, and write the finished run at the end.

    `training` is the identity of the run (method, settings, corpus, seed); a folder with anything else is rejected.
    """
    keeper = Keeper(folder, run, training)
    if not first_process():
        yield keeper
        return
    with locked(folder):
        _refuse_another(Path(folder), training)
        yield keeper
        write_run(run("finished"), folder)


def _refuse_another(folder: Path, training: Mapping[str, Any]) -> None:
    """Raise ValueError if the folder contains a finished run, another run, or other files."""
    if checkpoint := read_checkpoint(folder):
        theirs = checkpoint[1].get("training", {})
    elif (folder / "run.json").is_file():
        theirs = read_record(folder)
        if theirs["state"] == "finished":
            raise ValueError(
                f"folder {str(folder)!r} already holds a run of {theirs['method']}; choose another folder or delete "
                "this one"
            )
    elif any(not path.name.startswith(".") for path in folder.iterdir()):
        raise ValueError(f"folder {str(folder)!r} contains other files; choose a new one")
    else:
        return
    if other := difference(training, theirs):
        raise ValueError(
            f"folder {str(folder)!r} contains an interrupted training run with {other}; use the settings of that "
            "run to resume it, or choose another folder"
        )


def difference(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """The first difference between two training runs, in words; empty if they are equal."""
    for name in mine:
        if mine[name] != theirs.get(name):
            return f"another {name} ({theirs.get(name)!r}, not {mine[name]!r})"
    return ""


def history(folder: Path | str) -> History:
    """The history that a run has written so far; empty if there is none or it is damaged."""
    try:
        return History.of_csv((Path(folder) / HISTORY).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return History()
