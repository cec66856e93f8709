"""`labkit class collect | assign`: a class by its progress files, and a notebook as an assignment that is graded."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from labkit.atomic import write_text
from labkit.cli.arguments import Force, Json, check_free, command
from labkit.cli.output import remark, show_result, text_table

if TYPE_CHECKING:
    from labkit.course.collect import ClassProgress, ExerciseCount

MOST = 8  # lines of a table: what a class talks about, and not all there is

app = typer.Typer(help="A class: its progress, and assignments.", no_args_is_help=True, rich_markup_mode=None)


@command(app, "collect")
def collect_class(
    folder: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="Of progress files, such as anna.json or anna/progress.json."),
    ],
    names: Annotated[bool, typer.Option("--names", help="Say who is who, by the names of files or folders.")] = False,
    notebook: Annotated[
        str, typer.Option(metavar="NN", help="The notebook of the figure; else the one that most are in.")
    ] = "",
    figure: Annotated[
        Path | None, typer.Option(metavar="FILE.html", help="Also write a page for the projector.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option(metavar="FILE.csv", help="Also write a row a student and exercise.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Say of a class who is where, which exercise stops whom, and which slip is commonest.

    Progress files that are broken or none are named and left out. Students are numbered unless --names is given.
    """
    from labkit.course.collect import collect

    if notebook and figure is None:
        raise ValueError(f"--notebook is {notebook!r}, which is for the figure alone; add --figure, or leave it out")
    for option, path, ending in (("--figure", figure, ".html"), ("--csv", csv, ".csv")):
        if path is not None:
            if path.suffix != ending:
                raise ValueError(f"{option} is {str(path)!r}, expected a name with the ending {ending}; add it")
            check_free(path, option, force=force)
    progress = collect(folder, names=names)
    for sentence in progress.skipped:
        remark(f"labkit: note: {sentence}")
    if figure is not None:
        write_text(figure, _page(progress, notebook, names=names))
    if csv is not None:
        from labkit.spreadsheet import spreadsheet

        write_text(csv, spreadsheet(progress.rows()))
    show_result(_record(progress), _told(progress, names=names), json=json)


def _page(progress: ClassProgress, notebook: str, *, names: bool) -> str:
    """The figure as a page that asks nothing of the network."""
    from labkit.figures.class_progress import class_progress

    figure = class_progress(progress, notebook or None, names=names)
    figure.update_layout(paper_bgcolor="#FFFFFF", plot_bgcolor="#FFFFFF", font={"color": "#202020"})
    figure.update_annotations(font_color="#202020")
    html = figure.to_html(include_plotlyjs=True, include_mathjax=False, config={"displaylogo": False})
    return html.replace("<head>", "<head><title>labkit: a class</title>", 1).replace("<html>", '<html lang="en">', 1)


def _record(progress: ClassProgress) -> dict[str, Any]:
    return {
        "students": [{"name": each.name, "at": each.at, "stuck": each.stuck} for each in progress.students],
        "exercises": [vars(each) | {"begun": each.begun} for each in progress.exercises],
        "slips": [vars(each) for each in progress.slips],
        "skipped": progress.skipped,
    }


def _told(progress: ClassProgress, *, names: bool) -> str:
    """Three tables: who is where, what stops whom, and the commonest slips."""
    here = [each for each in progress.exercises if each.here]
    stops = sorted((each for each in progress.exercises if each.stuck), key=_stops)[:MOST]
    parts = [f"students: {len(progress.students)}, files left out: {len(progress.skipped)}"]
    if here:
        rows = [[each.key, str(len(each.here)), *([", ".join(each.here)] if names else [])] for each in here]
        parts.append(_table("at this exercise now", ["exercise", "students", *["who"] * names], rows))
    if stops:
        rows = [
            [
                each.key,
                str(len(each.stuck)),
                str(each.answered),
                str(each.solution_read),
                f"{each.tries:g}",
                *([", ".join(each.stuck)] if names else []),
            ]
            for each in stops
        ]
        head = ["exercise", "stuck", "answered", "solution read", "tries (median)", *["who is stuck"] * names]
        parts.append(_table("what stops most", head, rows))
    if progress.slips:
        rows = [[each.key, str(each.students), str(each.times), each.says] for each in progress.slips[:MOST]]
        parts.append(_table("the commonest slips", ["exercise", "students", "times", "what was said"], rows))
    return "\n\n".join(parts)


def _stops(each: ExerciseCount) -> tuple[int, int]:
    return -len(each.stuck), -each.solution_read


def _table(title: str, head: list[str], rows: list[list[str]]) -> str:
    return f"{title}\n{text_table([head, *rows], right=range(1, 5 if len(head) > 4 else 2))}"


@command(app, "assign")
def assign_notebook(
    number: Annotated[str, typer.Argument(metavar="NN", help="The number of a notebook, such as 01.")],
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="Where to write it.")],
    to: Annotated[str, typer.Option(metavar="otter", help="Who is to grade it.")],
    force: Force = False,
    json: Json = False,
) -> None:
    """Write a notebook as an assignment: for students with exercises open, for the grader solved.

    The grader is otter-grader (pip install "labkit-embeddings[class,notebooks]").
    """
    from labkit.course.assign import assign

    if to != "otter":
        raise ValueError(f"--to is {to!r}, expected otter; it is the one grader known here")
    check_free(folder, "FOLDER", force=force)
    written = assign(number, folder)
    text = (
        f"{written.notebook}: {len(written.exercises)} exercises, {written.points} points\n"
        f"hand out   {folder / 'student'}\n"
        f"keep       {folder / 'autograder'}\n"
        f"pack it    cd {folder / 'autograder'} && otter generate\n"
        f"grade one  otter run SUBMISSION.ipynb -a {folder / 'autograder' / 'autograder.zip'}"
    )
    record = {"notebook": written.notebook, "folder": folder, "exercises": written.exercises, "points": written.points}
    show_result(record, text, json=json)
