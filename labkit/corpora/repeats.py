"""Sentences that repeat an earlier one, dropped from more rows than fit into memory.

    write_distinct(sources, folder)   the rows whose text no earlier row has, in their order, as a folder of shards

Two texts are equal where all of their characters are. With `plain` also those are that differ only in capitals, in
blanks or in how a character is composed (`labkit.text.normalise`: NFKC); what is kept stands as it was written. Of
equal texts the first stays. Two different texts are taken for equal by one chance in 10^38 a pair.

Two rounds over the rows: the first keeps sixteen bytes of each text, the second writes what is left. Of one column
whole rows stay, with all they have; of several columns their texts, one below the other, in one column `text`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from labkit.atomic import in_place
from labkit.corpora.shards import WORK, Making, Manifest, first_seen, plan_of, text_key, write_keys, write_tables
from labkit.corpora.stretches import ROWS, Stretch, row_tables, schema_of, stretches_of, text_blocks
from labkit.executors import Executor, Local
from labkit.progress import Progress, silent
from labkit.text import normalise

KEYS, PLACES = "keys", "repeats"  # in the folder of the work: a file a stretch


@dataclass(frozen=True)
class _Reading:
    """What a task reads, whose texts it compares, and where the places of those to drop stand."""

    stretch: Stretch
    columns: tuple[str, ...]
    plain: bool
    places: str = ""


def write_distinct(
    sources: Sequence[Path | str],
    folder: Path | str,
    *,
    columns: Sequence[str] = ("text",),
    plain: bool = False,
    size: int = ROWS,
    executor: Executor | None = None,
    progress: Progress = silent,
) -> Manifest:
    """Write the rows whose text is no repeat; the manifest's `further` says how many were `read` and `repeats`.

    Whatever stops it, the same call goes on from there. Several workers are processes started anew: call this below
    `if __name__ == "__main__":` in a script then.
    """
    columns, executor = tuple(columns), executor or Local(1)
    if not columns or len(set(columns)) < len(columns):
        raise ValueError(
            f"columns are {', '.join(columns) or 'none'}, expected one or several different ones; name them"
        )
    source = stretches_of(sources, columns, rows=size, progress=progress)
    _check_alike(source.files, columns)
    settings = {"columns": columns, "plain": plain, "size": size, "rows": source.fingerprint}
    plan = plan_of("distinct", settings, source.files)
    readings = [_Reading(stretch, columns, plain) for stretch in source.each]
    total = len(readings)
    with Making(folder, plan) as making:
        if making.finished:
            return making.manifest
        with Making(making.folder / WORK / KEYS, plan, ending="npy") as keys:
            if not keys.finished:
                keys.run(_keyed, dict(enumerate(readings)), executor, progress=progress)
                keys.finish(total)
            files = [keys.manifest.path(number) for number in range(total)]
        progress(0, None, "keys compared")
        gone, again = 0, {}
        for number, found in enumerate(first_seen(files)):
            gone += len(found)
            if making.record(number) is None:
                place = making.folder / WORK / f"{PLACES}-{number:05}.npy"
                with in_place(place) as file:
                    np.save(file, found)
                again[number] = _Reading(source.each[number], columns, plain, str(place.resolve()))
        making.run(_left, again, executor, total=total, progress=progress)
        read = sum(len(np.load(path, mmap_mode="r", allow_pickle=False)) for path in files)
        return making.finish(total, read=read, repeats=gone, columns=columns, plain=plain)


def _check_alike(files: Sequence[Path], columns: tuple[str, ...]) -> None:
    """Refuse files whose rows cannot stand in one table."""
    if len(columns) > 1:
        return
    first = schema_of(files[0])
    for file in files[1:]:
        if not schema_of(file).equals(first):
            here, there = (
                ", ".join(f"{field.name} ({field.type})" for field in each) for each in (schema_of(file), first)
            )
            raise ValueError(
                f"{file} has the columns {here}, {files[0]} has {there}, expected the same; give them alike"
            )


def _keyed(reading: _Reading, path: Path) -> dict[str, Any]:
    """The keys of a stretch's texts, as the shard of the first round."""
    count = 0

    def keys() -> Iterator[bytes]:
        nonlocal count
        for text in chain.from_iterable(text_blocks(reading.stretch, reading.columns)):
            count += 1
            yield text_key(normalise(text) if reading.plain else text)

    write_keys(keys(), path)
    return {"rows": count}


def _left(reading: _Reading, path: Path) -> dict[str, Any]:
    """The rows of a stretch without those that are repeats."""
    import pyarrow as arrow

    places = np.load(reading.places, allow_pickle=False)
    whole = len(reading.columns) == 1
    schema = schema_of(reading.stretch.path) if whole else arrow.schema([("text", arrow.string())])

    def kept() -> Iterator[Any]:
        at = 0
        for table in row_tables(reading.stretch, None if whole else reading.columns):
            if not whole:
                rows = zip(*(table.column(name).to_pylist() for name in reading.columns), strict=True)
                table = arrow.table({"text": arrow.array([*chain.from_iterable(rows)], arrow.string())})
            keep = np.ones(len(table), bool)
            first, last = np.searchsorted(places, [at, at + len(table)])
            keep[places[first:last] - at] = False
            at += len(table)
            yield table.filter(arrow.array(keep)).cast(schema)

    return write_tables(kept(), path, schema)
