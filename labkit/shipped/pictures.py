"""Precomputed pictures: UMAP compiles for most of a minute, too long for the first page.

In: the origin of the vectors (`Origin`) and their sentences. Out: the stored `Projection` of exactly these, normalised,
or None. A picture's file is named by a hash of its inputs, so that no other is ever shown. The origins of baseline
vectors are stored, because the table of methods needs torch, which takes seconds to import.

    shown = pictured(corpus)                                       the sentences of test, with their classes
    picture(Origin.of(method), shown.texts, "umap")                None if there is none; compute it with `project`
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from labkit.atomic import in_place, write_text
from labkit.corpora.catalogue import DATA
from labkit.corpora.records import Corpus, Labelled
from labkit.corpora.relations import points
from labkit.projection.picture import Basis, Projection, Quality

if TYPE_CHECKING:
    from labkit.method import Method


PICTURES = DATA / "pictures"
SHAPES = (("pca", 2), ("pca", 3), ("tsne", 2), ("umap", 2), ("umap", 3))  # method, dimensions
MOST = 1_100  # sentences: the size of the largest test split
FILE = "origins.json"
FORMAT = 1  # raised when the pictures change


@dataclass(frozen=True)
class Origin:
    """The origin of vectors: a method with its decisive settings, the fingerprint of the corpus it saw, and a seed."""

    method: str
    settings: Mapping[str, Any]
    fingerprint: str
    seed: int = 0

    @classmethod
    def of(cls, method: Method) -> Self:
        """The origin of the vectors of a fitted method, or of an opened run."""
        about = method.origin
        return cls(about["method"], method.settings.decisive(), about["fingerprint"], about["seed"])

    @classmethod
    def unfitted(cls, name: str, corpus: Corpus) -> Self:
        """The origin of the vectors of a method with default settings, without fitting it."""
        from labkit.methods import METHODS

        return cls(name, METHODS[name]().settings.decisive(), corpus.fingerprint)


def pictured(corpus: Corpus) -> Labelled:
    """The sentences that pictures show: the distinct ones of the test split with a class."""
    return points(corpus.part("test"), classes=len(corpus), most=MOST)


def picture(origin: Origin, texts: Sequence[str], method: str, dimensions: int = 2) -> Projection | None:
    """The stored picture of these sentences' vectors, in order; `method` and `dimensions` as in `project`."""
    file = PICTURES / _name(origin, texts)
    return _read(file).get(f"{method}{dimensions}") if file.is_file() else None


def write_pictures(
    origin: Origin, texts: Sequence[str], pictures: Sequence[Projection], folder: Path = PICTURES
) -> Path:
    """Write all pictures of these vectors to one file: points in float16, exact to 1/2000 of a picture's width."""
    arrays, about = dict[str, np.ndarray](), {}
    for each in pictures:
        name = f"{each.method}{each.points.shape[1]}"
        arrays[name] = each.points.astype(np.float16)
        if each.basis is not None:
            arrays |= {f"{name}.{part}": array.astype(np.float32) for part, array in vars(each.basis).items()}
        quality = each.quality and asdict(each.quality)
        about[name] = {"name": each.name, "method": each.method, "settings": dict(each.settings), "quality": quality}
    file = folder / _name(origin, texts)
    file.parent.mkdir(parents=True, exist_ok=True)
    with in_place(file) as raw:
        np.savez_compressed(raw, allow_pickle=False, about=np.array(json.dumps(about)), **arrays)
    return file


@lru_cache(maxsize=64)
def _read(file: Path) -> Mapping[str, Projection]:
    """name -> picture; the arrays are read-only, because they are shared."""
    with np.load(file, allow_pickle=False) as archive:
        arrays = dict(archive)
    pictures = {}
    for name, known in json.loads(str(arrays["about"])).items():
        points = arrays[name].astype(np.float32)
        points.flags.writeable = False
        quality = known["quality"] and Quality(**known["quality"])
        parts = [arrays.get(f"{name}.{part.name}") for part in fields(Basis)]
        basis = None if parts[0] is None else Basis(*parts)  # type: ignore[arg-type]
        shown, kl = (quality.shown, quality.kl) if quality else (None, None)
        how = known["method"], known["settings"], quality, basis
        pictures[name] = Projection(known["name"], points, shown, kl, *how)
    return pictures


def _name(origin: Origin, texts: Sequence[str]) -> str:
    made_from = json.dumps([FORMAT, asdict(origin), list(texts)], sort_keys=True)
    digest = hashlib.sha256(made_from.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{origin.method}-{digest[:24]}.npz"


def known_origin(name: str, fingerprint: str, folder: Path = PICTURES) -> Origin | None:
    """The origin of the stored pictures of a method with default settings; None if there are none."""
    records = json.loads((folder / FILE).read_text("utf-8")) if (folder / FILE).is_file() else []
    origins = (Origin(**each) for each in records)
    return next((each for each in origins if (each.method, each.fingerprint) == (name, fingerprint)), None)


def write_known(origins: Iterable[Origin], folder: Path) -> None:
    """Write all origins to one file next to the pictures."""
    write_text(folder / FILE, json.dumps([asdict(each) for each in origins], indent=1) + "\n")
