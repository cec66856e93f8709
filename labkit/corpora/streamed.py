"""Triplets in a folder of shards as a corpus that need not fit into memory.

    Streamed        a corpus as others are: sizes and fingerprint from the manifest, rows when somebody asks for them
    .part(split)    dev and test in memory, of many rows some; train stays in its files
    .sample(n)      some rows of train, evenly from all over the folder: for word vectors, and what else looks at a part
    Lanes           the batches of an epoch, in an order that is drawn, each read when its turn comes

Who streams (the method thematic) reads train by `Lanes`. Who does not, reads all of it into memory, up to a limit.

An epoch's order is drawn like this: the shards are shuffled and dealt to lanes; each lane reads a window of several
groups of rows at a time, and shuffles the runs of rows in it; batch number k takes its k-th share of every lane. All of
it is a function of the seed, the epoch and the number of lanes. So a batch can be asked for in the middle of an epoch,
each process can read its own lanes only, and neither the number of processes nor an interruption changes a batch.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any, overload

import numpy as np

from labkit.corpora.records import Triplets
from labkit.corpora.shards import Manifest, manifest_of
from labkit.progress import note

MOST_HELD = 3_000_000  # rows that are read into memory for who cannot stream
MOST_MEASURED = 100_000  # rows of dev or of test that are asked
SAMPLED = 200_000  # rows of train from which word vectors are made
SPREAD = 64  # groups of rows from which a sample is taken
WINDOWS = 32  # groups of rows in memory, over all lanes

Texts = tuple[list[str], list[str], list[str]]  # anchors, positives, negatives


class Streamed(Triplets):
    """The triplets of a finished folder of shards, or those of one split."""

    manifest: Manifest
    only: str

    def __init__(self, folder: Path | str | Manifest, name: str = "", only: str = "") -> None:
        manifest = folder if isinstance(folder, Manifest) else manifest_of(folder)
        for key, value in {"manifest": manifest, "name": name or manifest.folder.name, "only": only}.items():
            object.__setattr__(self, key, value)
        kind = manifest.plan.get("kind")
        if kind != "triplets":
            raise ValueError(f"{manifest.folder} has shards of {kind}, expected triplets")
        if not len(self):
            raise ValueError(f"corpus {self.name!r} has no rows; give it at least one")

    # --- what the manifest says ------------------------------------------------------------------------------

    def __len__(self) -> int:
        return sum(self.sizes.values())

    @property
    def sizes(self) -> dict[str, int]:
        """How many rows each split has."""
        return {split: count for split, count in self.manifest.splits.items() if self.only in ("", split)}

    @property
    def fingerprint(self) -> str:
        """The sha256 of the shards, which is no other's: not that of the same rows in memory."""
        return self.manifest.fingerprint

    # --- what is read ----------------------------------------------------------------------------------------

    def part(self, split: str) -> Triplets:  # type: ignore[override]
        """The rows of one split; of dev and test at most so many as can be measured on, and a note says so."""
        if split not in self.sizes:
            return super().part(split)  # says what is wrong
        if split == "train":
            return Streamed(self.manifest, self.name, "train")
        if (rows := self.sizes[split]) > MOST_MEASURED:
            note(f"{split} has {rows:,} triplets: {MOST_MEASURED:,} of them, from all over, are asked", stacklevel=2)
        return self.sample(MOST_MEASURED, split)

    def sample(self, count: int = SAMPLED, split: str = "train") -> Triplets:
        """So many rows of a split, or all it has, evenly from all over the folder, in the order of the folder."""
        groups = [(n, group) for n, shard in enumerate(self.manifest.shards) for group in range(len(shard.train))]
        each = None  # all of it
        if count < self.sizes.get(split, 0):
            at = np.linspace(0, len(groups) - 1, min(SPREAD, len(groups))).round().astype(int)
            groups = [groups[place] for place in dict.fromkeys(at.tolist())]
            each = -(-count // len(groups))
        rows = [row for group in groups for row in _group(self.manifest, *group, split).slice(0, each).to_pylist()]
        return _triplets(rows[:count], self.name)

    def held(self) -> Triplets:
        """All rows in memory, or a ValueError where they are too many."""
        if len(self) > MOST_HELD:
            raise ValueError(
                f"corpus {self.name!r} has {len(self):,} triplets in its shards, more than the {MOST_HELD:,} that are "
                "read into memory; the method thematic reads them as a stream, for others make fewer"
            )
        return self.sample(MOST_HELD, self.only)

    @cached_property
    def _held(self) -> Triplets:
        return self.held()

    def take(self, rows: Iterable[int]) -> Triplets:  # type: ignore[override]
        """The corpus of these rows, in memory."""
        return self._held.take(rows)

    # The columns are those of all rows in memory, once they are asked for
    anchors = property(lambda self: self._held.anchors)
    positives = property(lambda self: self._held.positives)
    negatives = property(lambda self: self._held.negatives)
    splits = property(lambda self: self._held.splits)
    extra = property(lambda self: self._held.extra)


def _group(manifest: Manifest, number: int, group: int, split: str, columns: Sequence[str] | None = None) -> Any:
    """A group of rows of a shard as an Arrow table: those of one split, or all."""
    import pyarrow as arrow
    import pyarrow.compute as compute
    import pyarrow.parquet as parquet

    wanted = None if columns is None else [*columns, "split"]
    try:
        with parquet.ParquetFile(manifest.path(number)) as file:
            table = file.read_row_group(group, columns=wanted, use_threads=False)
        return table.filter(compute.equal(table["split"], split)) if split else table
    except (arrow.ArrowException, OSError, LookupError, ValueError) as reason:
        raise ValueError(
            f"{manifest.path(number)} is not what the manifest beside it says ({' '.join(str(reason).split())[:120]}); "
            "`labkit data check` compares them all; make or fetch the folder again"
        ) from None


def _triplets(rows: list[dict[str, Any]], name: str) -> Triplets:
    columns = {key: [row[key] for row in rows] for key in (rows[0] if rows else ())}
    own = [columns.pop(column, []) for column in (*Triplets.COLUMNS.values(), "split")]
    return Triplets(*own[:3], name=name, splits=own[3], extra=columns)


# --- the order of an epoch ---------------------------------------------------------------------------------------


class Lanes(Sequence["Share"]):
    """The batches of an epoch. Each is as large as `size` rows, but for what runs and lanes do not divide."""

    def __init__(self, corpus: Streamed, *, lanes: int, size: int, run: int, seed: int) -> None:
        self._lanes = [
            _Lane(corpus.manifest, units, run, max(1, WINDOWS // lanes), f"{seed}/{number}")
            for number, units in enumerate(_dealt(corpus.manifest, lanes, Random(seed)))
        ]
        self._count = -(-sum(lane.runs for lane in self._lanes) // max(1, size // run))

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> Share: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Share]: ...
    def __getitem__(self, number: int | slice) -> Share | Sequence[Share]:
        if isinstance(number, slice):
            return [Share(self, each) for each in range(*number.indices(self._count))]
        if not 0 <= number < self._count:
            raise IndexError(number)
        return Share(self, number)

    def rows(self, number: int, lane: int) -> Texts:
        """What batch `number` takes of one lane."""
        runs = self._lanes[lane].runs
        return self._lanes[lane].texts(runs * number // self._count, runs * (number + 1) // self._count)


class Share:
    """One batch: of each lane the rows, read when they are asked for."""

    def __init__(self, lanes: Lanes, number: int) -> None:
        self._lanes, self.number = lanes, number

    def __len__(self) -> int:
        """How many lanes there are."""
        return len(self._lanes._lanes)

    def rows(self, lane: int) -> Texts:
        return self._lanes.rows(self.number, lane)


Unit = tuple[int, int, int]  # shard, group, rows of train in it


def _dealt(manifest: Manifest, lanes: int, random: Random) -> list[list[Unit]]:
    """The groups of rows of each lane, in its order: whole shards, or groups where shards are fewer than lanes."""
    shards = [
        [(number, group, rows) for group, rows in enumerate(shard.train) if rows]
        for number, shard in enumerate(manifest.shards)
    ]
    parts = shards if len(shards) >= lanes else [[unit] for units in shards for unit in units]
    random.shuffle(parts)
    dealt: list[list[Unit]] = [[unit for part in parts[lane::lanes] for unit in part] for lane in range(lanes)]
    return dealt


class _Lane:
    """Some groups of rows in an order, and the runs of rows in them, shuffled within each window of groups."""

    def __init__(self, manifest: Manifest, units: list[Unit], run: int, window: int, seed: str) -> None:
        self._manifest, self._run, self._seed = manifest, run, seed
        self._windows = [units[start : start + window] for start in range(0, len(units), window)]
        counts = [sum(-(-rows // run) for _, _, rows in part) for part in self._windows]
        self._starts = [0, *accumulate(counts)]
        self._opened = lru_cache(1)(self._open)  # a lane is read onwards, and never comes back to a window

    @property
    def runs(self) -> int:
        return self._starts[-1]

    def texts(self, first: int, last: int) -> Texts:
        """The rows of these runs."""
        found: Texts = ([], [], [])
        for place in range(first, last):
            window = bisect_right(self._starts, place) - 1
            columns, runs = self._opened(window)
            start, stop = runs[place - self._starts[window]]
            for texts, column in zip(found, columns, strict=True):
                texts += column[start:stop].to_pylist()
        return found

    def _open(self, number: int) -> tuple[list[Any], list[tuple[int, int]]]:
        """The columns of a window, and where its runs stand in them, in the order in which they are read."""
        import pyarrow as arrow

        names = list(Triplets.COLUMNS.values())
        units = self._windows[number]
        tables = [_group(self._manifest, shard, group, "train", names) for shard, group, _ in units]
        for table, (shard, _, rows) in zip(tables, units, strict=True):
            if len(table) != rows:
                raise ValueError(
                    f"{self._manifest.path(shard)} has {len(table)} rows of train in a group where the manifest says "
                    f"{rows}; make or fetch the folder again"
                )
        whole = arrow.concat_tables(tables).combine_chunks()
        runs, start = [], 0
        for _, _, rows in units:
            runs += [(start + at, start + min(at + self._run, rows)) for at in range(0, rows, self._run)]
            start += rows
        Random(f"{self._seed}/{number}").shuffle(runs)
        return [whole[name].chunk(0) for name in names], runs
