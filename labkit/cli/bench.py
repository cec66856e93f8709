"""`labkit bench mine.csv`: which method is best for this data?

In: a corpus and a number of minutes. Out: the verdict, the table, and a folder with report.html, report.json and the
winning model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from labkit.cli.arguments import AnyCorpus, Json, complete_corpora, opened_corpus
from labkit.cli.output import remark, resumable, show_result
from labkit.progress import terminal


def bench(
    corpus: AnyCorpus,
    minutes: Annotated[float, typer.Option(min=0.1, help="Approximate time limit.")] = 20.0,
    out: Annotated[Path, typer.Option(help="Folder of the report.")] = Path("report"),
    methods: Annotated[str, typer.Option(help="Compare only these methods, for example tfidf,bag,sbert.")] = "",
    metric: Annotated[str, typer.Option(help="Metric that decides: auc, accuracy, probe, hit@1, …")] = "",
    test: Annotated[
        str, typer.Option(help="A file with the test rows, in the same columns.", autocompletion=complete_corpora)
    ] = "",
    seeds: Annotated[int, typer.Option(min=0, help="Seeds per method on test; 0 chooses 3 or 5.")] = 0,
    workers: Annotated[int, typer.Option(min=0, help="Processes; 0: one per core.")] = 0,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the search.")] = 0,
    json: Json = False,
) -> None:
    """Find out which method is best for your data, and get the model.

    Checks the data, gives each method the same number of trials on dev, and scores test once with several seeds. The
    report says which method leads, what it costs, whether more labels would help, and where the winner errs. The same
    command resumes an interrupted comparison.
    """
    from labkit.trials.bench import bench as compared
    from labkit.trials.bench import with_test

    opened = opened_corpus(corpus)
    if test:
        opened = with_test(opened, opened_corpus(test))
    chosen = [name.strip() for name in methods.split(",") if name.strip()]
    with resumable(f"the results so far are in {out}; "), terminal("method") as progress:
        report = compared(
            opened,
            out=out,
            minutes=minutes,
            methods=chosen,
            metric=metric,
            seeds=seeds,
            workers=workers,
            seed=seed,
            progress=progress,
            tell=remark,
        )
    show_result(report.to_json(), f"{report}\n\nreport: {out / 'report.html'}", json=json)
