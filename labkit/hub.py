"""Push the run folder of a method, with a model card, to the Hugging Face Hub, and load methods from the Hub."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from labkit.corpora import CORPORA
from labkit.runs import FILES

if TYPE_CHECKING:
    from labkit.method import Method

Metrics = Mapping[str, Mapping[str, Any]]  # corpus/split -> metric -> value, as in run.json
Intervals = Mapping[str, Mapping[str, tuple[float, float]]]  # corpus/split -> metric -> 95 % interval

REPOSITORY = re.compile(r"[\w.-]+/[\w.-]+")


def folder_of(name: Path | str) -> Path:
    """The folder of this name or, if none exists, the Hub's repository OWNER/NAME, downloaded to the cache."""
    if Path(name).exists() or not REPOSITORY.fullmatch(str(name)):
        return Path(name)
    from huggingface_hub import snapshot_download  # installed, because tokenizers needs it

    try:
        return Path(snapshot_download(str(name), allow_patterns=["run.json", *FILES]))
    except Exception as error:  # no network, no such repository, no permission to read it
        raise ValueError(
            f"{str(name)!r} is not a folder and could not be downloaded from the Hugging Face Hub "
            f"({' '.join(str(error).split())[:160]}); check the name and your connection"
        ) from error


def push(method: Method, repository: str, *, private: bool = False) -> str:
    """Push a method's run folder and card to a repository, which is created if needed; returns the URL."""
    from huggingface_hub import HfApi

    name, kind = repository.rpartition("/")[2], type(method).__name__
    opening = f'from labkit import {kind}\n\nmodel = {kind}.from_pretrained("{repository}")'
    with TemporaryDirectory() as place:
        method.save(Path(place) / "run")
        card = card_of(method, name, "labkit", opening, {})
        (Path(place) / "run" / "README.md").write_text(card, "utf-8")
        hub = HfApi()
        hub.create_repo(repository, private=private, exist_ok=True)
        done = hub.upload_folder(repo_id=repository, folder_path=Path(place) / "run", ignore_patterns=[".*"])
    return str(done.commit_url)


# --- the card ----------------------------------------------------------------------------------------------------


def models_in(method: Method | None) -> Iterator[tuple[str, str]]:
    """Yield the names of the pretrained models in a method, and how each was used."""
    while method is not None:
        settings = method.settings
        vectors = str(getattr(settings, "vectors", ""))
        if method.name == "sbert":
            yield settings.model, "unchanged"
        elif getattr(settings, "encoder", "") == "transformer":
            yield settings.model, "which were fine-tuned"
        elif vectors.startswith("distilled:"):
            yield vectors.removeprefix("distilled:"), "distilled into word vectors"
        method = getattr(method, "base", None)


def card_of(
    method: Method,
    name: str,
    library: str,
    opening: str,
    metrics: Metrics,
    intervals: Intervals | None = None,
    *,
    measured: str = "",
    limits: str = "",
) -> str:
    """Return a README: how to open the model, its training data and its scores, below the Hub's metadata."""
    corpus, origin = method.trained_on, method.origin
    licence = CORPORA[corpus].licence if corpus in CORPORA else "not known to labkit; ask the authors of the texts"
    texts = f"Trained on the texts of `{corpus}` (fingerprint {origin['fingerprint'][:12]}) with seed {origin['seed']}."
    learned = "This model was not trained further." if method.name == "sbert" else f"{texts} Their licence: {licence}."
    weights = "".join(
        f"\nIt contains the weights of `{model}`, {how}. That model's own card names its training data and its "
        "licence. Scores on texts that it was trained on are too high.\n"
        for model, how in models_in(method)
    )
    scores = [
        (where, metric, value, (intervals or {}).get(where, {}).get(metric))
        for where, each in metrics.items()
        for metric, value in each.items()
        if isinstance(value, int | float)
    ]
    rows = [f"| {where} | {metric} | {value:.4f} | {limited(interval)} |" for where, metric, value, interval in scores]
    table = "\n".join(["| corpus/split | metric | value | 95 % interval |", "| --- | --- | --- | --- |", *rows])
    idle = method.settings.unused()
    settings = ", ".join(f"{key}={value}" for key, value in origin["settings"].items() if key not in idle)
    return f"""---
{front(method, name, library, scores)}
---

# {name}

Sentence vectors, to be compared by {method.similarity_name}, from a run of labkit's method `{method.name}`.

```python
{opening}
```

## Training data

{learned}
{weights}
Settings: {settings}.

## Evaluation

{table if scores else "The run has no metrics."}

{measured}

## Limits

{limits or "None known."}
"""


def limited(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{interval[0]:.3f} to {interval[1]:.3f}"


def front(method: Method, name: str, library: str, scores: list[tuple[str, str, float, Any]]) -> str:
    """Return the Hub's metadata as YAML; licence and language are known only for bundled corpora."""
    models = [model for model, _ in models_in(method)]
    bundled = method.trained_on in CORPORA and CORPORA[method.trained_on].kind == "embedded"
    entries: dict[str, Any] = {
        "library_name": library,
        "pipeline_tag": "sentence-similarity",
        "tags": ["sentence-similarity", "feature-extraction", "labkit", method.name],
    }
    if bundled and not models:
        entries |= {"license": "mit", "language": ["multilingual" if method.trained_on == "places" else "en"]}
    if models:
        entries["base_model"] = models
    if scores:
        task = {"type": "sentence-similarity", "name": "Sentence similarity"}
        results = [
            {
                "task": task,
                "dataset": {"type": where.partition("/")[0], "name": where},
                "metrics": [
                    {"type": metric, "value": round(value, 6)}
                    | ({"name": f"{metric} (95 % interval {limited(interval)})"} if interval else {})
                ],
            }
            for where, metric, value, interval in scores
        ]
        entries["model-index"] = [{"name": name, "results": results}]
    return "\n".join(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in entries.items())
