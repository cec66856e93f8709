"""A folder of shards: rows in many Parquet files, each made by one task, and a manifest that says what is in them.

    Making(folder, plan)       the folder in the making: `run` does what is not done yet, `finish` writes the manifest
    manifest_of(folder)        what a finished folder says of itself        checked(folder)   whether that is true
    write_parquet(rows, path)  one shard, row by row                        first_seen(keys)  which rows are repeats

A task is a pure function of its input and of the plan, so that its shard has the same bytes whoever makes it. When a
shard is in its place, a marker says so, in `.work`; whoever starts the same plan again, after a kill at any moment,
does the tasks that have none. The plan holds settings, sources and versions: a folder takes shards of one plan only.
"""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import socket
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Self, TypeVar

import numpy as np

from labkit.atomic import in_place, write_text
from labkit.executors import Executor
from labkit.locks import locked
from labkit.progress import Progress, silent

T = TypeVar("T")

MANIFEST, PLAN, WORK = "manifest.json", "plan.json", ".work"
FORMAT = 1
GROUP = 8192  # rows that are written, and read, together
PARTITION = 2**23  # keys that are compared in memory at once


@dataclass(frozen=True)
class Shard:
    """One file of a folder."""

    file: str
    rows: int
    bytes: int
    sha256: str
    splits: Mapping[str, int] = field(default_factory=dict)  # rows of each; empty where rows have no split
    train: Sequence[int] = ()  # rows of train in each group of rows that are read together


@dataclass(frozen=True)
class Manifest:
    """What a finished folder says of itself: its plan, its shards, and what else its maker knows."""

    folder: Path
    plan: Mapping[str, Any]
    shards: tuple[Shard, ...]
    further: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> int:
        return sum(shard.rows for shard in self.shards)

    @property
    def splits(self) -> dict[str, int]:
        """Rows of each split, over all shards."""
        counts: Counter[str] = Counter()
        for shard in self.shards:
            counts.update(shard.splits)
        return {split: counts[split] for split in ("train", "dev", "test") if counts[split]}

    @property
    def fingerprint(self) -> str:
        """The sha256 of what the shards hold, in their order."""
        return hashlib.sha256("".join(shard.sha256 for shard in self.shards).encode()).hexdigest()

    def path(self, number: int) -> Path:
        return self.folder / self.shards[number].file


def is_shards(folder: Path | str) -> bool:
    """Whether this is a finished folder of shards."""
    return (Path(folder) / MANIFEST).is_file()


def is_making(folder: Path | str) -> bool:
    """Whether shards are being made in this folder, or were when it was left."""
    return (Path(folder) / PLAN).is_file()


def manifest_of(folder: Path | str) -> Manifest:
    """What a finished folder says of itself; a ValueError where it is not finished or no such folder."""
    folder = Path(folder)
    if not is_shards(folder):
        if is_making(folder):
            raise ValueError(f"the shards in {folder} are not all made yet; start the command that makes them again")
        raise ValueError(f"{folder} is no folder of shards: it has no {MANIFEST}; `labkit data make` writes one")
    try:
        said = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        shards = tuple(Shard(**shard) for shard in said["shards"])
        names = [shard.file for shard in shards]
        if said["format"] != FORMAT or any(name != Path(name).name or name.startswith(".") for name in names):
            raise ValueError(f"format {said['format']!r}, expected {FORMAT} and plain names of files")
        return Manifest(folder, said["plan"], shards, said["further"])
    except (ValueError, KeyError, TypeError, UnicodeDecodeError) as reason:
        raise ValueError(
            f"{folder / MANIFEST} is none that labkit has written ({reason}); make the shards anew"
        ) from None


def checked(folder: Path | str, *, progress: Progress = silent) -> Manifest:
    """The manifest, after every shard was compared with it."""
    manifest = manifest_of(folder)
    for number, shard in enumerate(manifest.shards):
        path = manifest.path(number)
        if not path.is_file() or path.stat().st_size != shard.bytes or sha256_of(path) != shard.sha256:
            raise ValueError(f"{path} is not the file that {MANIFEST} speaks of; fetch or make the folder again")
        progress(number + 1, len(manifest.shards), f"{manifest.folder.name} compared")
    return manifest


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# --- making ------------------------------------------------------------------------------------------------------

#: (task, path) -> what there is to say of the shard that it wrote there; a function of a module
Task = Callable[[T, Path], Mapping[str, Any]]


def part_name(number: int, ending: str = "parquet") -> str:
    return f"part-{number:05}.{ending}"


def versions_here(*further: str) -> dict[str, str]:
    """The versions on which the bytes of a shard depend."""
    from importlib.metadata import version

    names = ("numpy", "pyarrow", *further)
    return {"python": platform.python_version().rpartition(".")[0], **{name: version(name) for name in names}}


def plan_of(kind: str, settings: Mapping[str, Any], sources: Iterable[Path], *further: str) -> dict[str, Any]:
    """The plan of a folder: what is made, how, of which files, with which versions."""
    named = [{"name": path.name, "bytes": path.stat().st_size} for path in sources]
    return {"kind": kind, "settings": dict(settings), "sources": named, "versions": versions_here(*further)}


class Making:
    """A folder of shards in the making, locked by this process."""

    def __init__(self, folder: Path | str, plan: Mapping[str, Any], *, ending: str = "parquet") -> None:
        self.folder, self.ending = Path(folder), ending
        self.plan = json.loads(json.dumps(plan))  # as it comes out of a file
        with ExitStack() as lock:  # released where the folder is refused
            lock.enter_context(locked(self.folder))
            self.finished = self._continued()
            if not self.finished:
                (self.folder / WORK).mkdir(exist_ok=True)
            self._lock = lock.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.finished:
            shutil.rmtree(self.folder / WORK, ignore_errors=True)
        self._lock.close()

    def _continued(self) -> bool:
        """Whether all is done; a ValueError where the folder holds something else."""
        if is_shards(self.folder):
            found = dict(manifest_of(self.folder).plan)
        elif is_making(self.folder):
            found = json.loads((self.folder / PLAN).read_text(encoding="utf-8"))
        else:
            if others := [each.name for each in self.folder.iterdir() if not each.name.startswith(".")]:
                raise ValueError(f"{self.folder} holds {others[0]!r} and no shards; name a new folder")
            write_text(self.folder / PLAN, json.dumps(self.plan, indent=1, ensure_ascii=False))
            return False
        if found != self.plan:
            key, here, there = _first_difference(found, self.plan)
            raise ValueError(
                f"{self.folder} has shards made with {key} {here}, now it is {there}; name another folder, or remove it"
            )
        return is_shards(self.folder)

    @property
    def manifest(self) -> Manifest:
        """What the finished folder says of itself."""
        return manifest_of(self.folder)

    def record(self, number: int) -> dict[str, Any] | None:
        """What its maker said of a shard that is done."""
        with suppress(OSError, ValueError):
            record: dict[str, Any] = json.loads(_marker(self.folder, number).read_text(encoding="utf-8"))
            if (self.folder / record["file"]).stat().st_size == record["bytes"]:
                return record
        return None

    def missing(self, count: int) -> list[int]:
        """Those of so many tasks that have not been done."""
        return [number for number in range(count) if self.record(number) is None]

    def run(
        self,
        call: Task[T],
        tasks: Mapping[int, T],
        executor: Executor,
        *,
        anew: bool = False,
        total: int | None = None,
        progress: Progress = silent,
    ) -> None:
        """Do those of these tasks that are not done yet, or all of them `anew`; `total` is how many the plan has."""
        missing = {number: task for number, task in tasks.items() if anew or self.record(number) is None}
        total = total or len(tasks)
        done = total - len(missing)
        names = {number: part_name(number, self.ending) for number in missing}
        work = partial(_work, call, str(self.folder.resolve()), self.plan)
        given = ((number, names[number], task) for number, task in missing.items())
        for number in executor.map(work, given, ordered=False):
            if self.record(number) is None:
                raise ValueError(
                    f"a worker has written {names[number]}, which is not in {self.folder} here; "
                    "give a folder that all machines of the cluster see under the same path"
                )
            done += 1
            progress(done, total, f"shards of {self.folder.name}")

    def finish(self, count: int, **further: Any) -> Manifest:
        """Write the manifest; the markers have done their work then."""
        records = [self.record(number) or {} for number in range(count)]
        shards = [{key: record[key] for key in Shard.__dataclass_fields__} for record in records]
        said = {"format": FORMAT, "plan": self.plan, "shards": shards, "further": further}
        write_text(self.folder / MANIFEST, json.dumps(said, indent=1, ensure_ascii=False))
        (self.folder / PLAN).unlink(missing_ok=True)
        self.finished = True
        return self.manifest


def _work(call: Task[T], folder: str, plan: Mapping[str, Any], given: tuple[int, str, T]) -> int:
    """One task, wherever: its shard, then its marker."""
    number, name, task = given
    place = Path(folder)
    if not (place / WORK).is_dir():
        raise ValueError(f"{socket.gethostname()} does not see {place}, expected a folder that all machines share")
    here = versions_here(*plan["versions"].keys() - {"python", "numpy", "pyarrow"})
    for package, version in plan["versions"].items():
        if here[package] != version:
            raise ValueError(
                f"{socket.gethostname()} has {package} {here[package]}, expected {version} as on the first machine: "
                "shards would not be the same; install the same versions on all"
            )
    marker, path = _marker(place, number), place / name
    marker.unlink(missing_ok=True)
    record = {"splits": {}, "train": [], **call(task, path)}
    record |= {"file": name, "bytes": path.stat().st_size, "sha256": sha256_of(path)}
    write_text(marker, json.dumps(record, ensure_ascii=False))
    return number


def _marker(folder: Path, number: int) -> Path:
    return folder / WORK / f"{number:05}.json"


def _first_difference(one: Any, other: Any, key: str = "") -> tuple[str, Any, Any]:
    """The first place at which two plans differ, with what each has there."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in {**one, **other}:
            if one.get(name) != other.get(name):
                return _first_difference(one.get(name), other.get(name), f"{key}.{name}".lstrip("."))
    return key, json.dumps(one), json.dumps(other)


# --- rows --------------------------------------------------------------------------------------------------------


def write_parquet(rows: Iterable[Mapping[str, Any]], path: Path, columns: Sequence[str] = ()) -> dict[str, Any]:
    """Write rows, of which only a few thousand are held at a time, and count them as `write_tables` does.

    The same rows give the same bytes. `columns` are those of texts, where there may be no row to see them in.
    """
    import pyarrow as arrow

    schema, stream = arrow.schema([(name, arrow.string()) for name in columns]) if columns else None, iter(rows)
    first = arrow.Table.from_pylist(list(islice(stream, GROUP)), schema=schema)

    def grouped() -> Iterator[Any]:
        yield first
        while group := list(islice(stream, GROUP)):
            yield arrow.Table.from_pylist(group, schema=first.schema)

    return write_tables(grouped(), path, first.schema)


def write_tables(tables: Iterable[Any], path: Path, schema: Any) -> dict[str, Any]:
    """Write Arrow tables of one schema, in groups of one size however they are cut; count rows by split and group."""
    import pyarrow as arrow
    import pyarrow.compute as compute
    import pyarrow.parquet as parquet

    splits, train, waiting = Counter[str](), list[int](), schema.empty_table()
    with in_place(path) as file, parquet.ParquetWriter(file, schema, compression="zstd") as writer:

        def write(group: Any) -> int:
            writer.write_table(group.combine_chunks())
            counts = {"train": len(group)}
            if "split" in schema.names:
                counted = compute.value_counts(group.column("split")).to_pylist()
                counts = {each["values"]: each["counts"] for each in counted}
                splits.update({split: rows for split, rows in counts.items() if split is not None})
            train.append(counts.get("train", 0))
            return len(group)

        count = 0
        for table in tables:
            waiting = arrow.concat_tables([waiting, table])
            while len(waiting) >= GROUP:
                count += write(waiting.slice(0, GROUP))
                waiting = waiting.slice(GROUP)
        if len(waiting) or not count:
            count += write(waiting)
    return {"rows": count, "splits": dict(splits), "train": train}


def read_shards(manifest: Manifest, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """All rows, in order, a group at a time."""
    for number in range(len(manifest.shards)):
        yield from read_parquet(manifest.path(number), columns)


def read_parquet(path: Path, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
    """The rows of one shard."""
    import pyarrow.parquet as parquet

    with parquet.ParquetFile(path) as file:
        for batch in file.iter_batches(GROUP, columns=columns, use_threads=False):
            yield from batch.to_pylist()


# --- repeats -----------------------------------------------------------------------------------------------------


def text_key(text: str) -> bytes:
    """Sixteen bytes for a text: two texts with the same are the same, but for one chance in 10^38 a pair."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def write_keys(keys: Iterable[bytes], path: Path) -> None:
    """Keep the keys of a shard's texts in a file, uint64 (n, 3), by size: a key's two halves and its place."""
    halves = np.frombuffer(b"".join(keys), ">u8").reshape(-1, 2)
    order = np.argsort(halves[:, 0], kind="stable")
    with in_place(path) as file:
        np.save(file, np.column_stack([halves[order], order]).astype(np.uint64))


def first_seen(files: Sequence[Path]) -> list[np.ndarray]:
    """The places in each file of keys, in order, of what an earlier row or an earlier file has; int64.

    So many keys are compared at once as fit into memory, those of a range of values over all files at a time.
    """
    kept = [np.load(path, mmap_mode="r", allow_pickle=False) for path in files]
    parts = 1 << max(0, (sum(map(len, kept)) // PARTITION).bit_length())
    edges = np.array([number * (2**64 // parts) for number in range(1, parts)], np.uint64)
    cuts = [np.concatenate([[0], np.searchsorted(keys[:, 0], edges), [len(keys)]]) for keys in kept]
    repeats: list[list[np.ndarray]] = [[] for _ in files]
    for part in range(parts):
        slices = [np.asarray(keys[cut[part] : cut[part + 1]]) for keys, cut in zip(kept, cuts, strict=True)]
        owners = np.repeat(np.arange(len(files)), [len(piece) for piece in slices])
        rows = np.concatenate([*slices, np.zeros((0, 3), np.uint64)])
        order = np.lexsort((rows[:, 2], owners, rows[:, 1], rows[:, 0]))
        rows, owners = rows[order], owners[order]
        again = np.flatnonzero((rows[1:, :2] == rows[:-1, :2]).all(1)) + 1
        for owner in np.unique(owners[again]):
            repeats[owner].append(rows[again[owners[again] == owner], 2].astype(np.int64))
    return [np.sort(np.concatenate([*found, np.zeros(0, np.int64)])) for found in repeats]
