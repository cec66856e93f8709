"""`labkit class collect | assign`: the progress of a class, and notebooks as graded assignments."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Argument, Option, Typer

from labkit.atomic import write_text
from labkit.cli.arguments import Command, Force, Shown, check_free
from labkit.cli.output import remark, text_table
from labkit.spreadsheet import spreadsheet

if TYPE_CHECKING:
    from labkit.course.collect import ClassProgress

MOST = 8  # rows per table

app = Typer(
    help="For teachers: the progress of a class, and graded assignments.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("collect", cls=Command)
def collect_class(
    folder: Annotated[
        Path, Argument(metavar="FOLDER", help="Folder with progress files, such as anna.json or anna/progress.json.")
    ],
    names: Annotated[bool, Option("--names", help="Show names, taken from files or folders.")] = False,
    notebook: Annotated[
        str,
        Option(metavar="NN", help="Notebook shown by --figure. Default: the one that most students are working on."),
    ] = "",
    figure: Annotated[Path | None, Option(metavar="FILE.html", help="Also write a page for the projector.")] = None,
    csv: Annotated[Path | None, Option(metavar="FILE.csv", help="Also write a row per student and exercise.")] = None,
    force: Force = False,
) -> Shown:
    """Show how far a class has got, which exercises students are stuck on, and the most common mistakes.

    Unreadable progress files are listed and skipped. Students are numbered unless --names is given.
    """
    from labkit.course.collect import collect  # imports torch

    if notebook and figure is None:
        raise ValueError(f"--notebook {notebook!r} needs --figure; add it or omit --notebook")
    for option, path, ending in (("--figure", figure, ".html"), ("--csv", csv, ".csv")):
        if path is not None:
            if path.suffix != ending:
                raise ValueError(f"{option} {str(path)!r} must end in {ending}; rename it")
            check_free(path, option, force=force)
    progress = collect(folder, names=names)
    for sentence in progress.skipped:
        remark(f"labkit: note: {sentence}")
    if figure is not None:
        write_text(figure, _page(progress, notebook, names=names))
    if csv is not None:
        write_text(csv, spreadsheet(progress.rows()))
    record = {
        "students": [{"name": each.name, "at": each.at, "stuck": each.stuck} for each in progress.students],
        "exercises": [vars(each) | {"begun": each.begun} for each in progress.exercises],
        "slips": progress.slips,
        "skipped": progress.skipped,
    }
    return record, _told(progress, names=names)


def _page(progress: ClassProgress, notebook: str, *, names: bool) -> str:
    """The figure as a page that works offline."""
    from labkit.figures.class_progress import class_progress  # imports plotly

    figure = class_progress(progress, notebook or None, names=names)
    figure.update_layout(paper_bgcolor="#FFFFFF", plot_bgcolor="#FFFFFF", font={"color": "#202020"})
    figure.update_annotations(font_color="#202020")
    html = figure.to_html(include_plotlyjs=True, include_mathjax=False, config={"displaylogo": False})
    return html.replace("<head>", "<head><title>labkit: a class</title>", 1).replace("<html>", '<html lang="en">', 1)


def _told(progress: ClassProgress, *, names: bool) -> str:
    """Three tables: the students' current exercises, where they are stuck, and the most common mistakes."""
    here = [each for each in progress.exercises if each.here]
    stops = [each for each in progress.exercises if each.stuck]
    stops.sort(key=lambda each: (-len(each.stuck), -each.solution_read))
    parts = [f"students: {len(progress.students)}, skipped files: {len(progress.skipped)}"]

    def table(title: str, head: list[str], rows: list[list[Any]]) -> None:
        if rows:
            texts = [[f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in row] for row in rows]
            numbers = [place for place, cell in enumerate(rows[0]) if isinstance(cell, int | float)]
            parts.append(f"{title}\n{text_table([head, *texts], right=numbers)}")

    def who(students: tuple[str, ...]) -> list[str]:
        return [", ".join(students)] * names

    rows: list[list[Any]] = [[each.key, len(each.here), *who(each.here)] for each in here]
    table("current exercises", ["exercise", "students", *["who"] * names], rows)
    rows = [
        [each.key, len(each.stuck), each.answered, each.solution_read, each.tries, *who(each.stuck)]
        for each in stops[:MOST]
    ]
    head = ["exercise", "stuck", "answered", "read solution", "median tries", *["who is stuck"] * names]
    table("where students are stuck", head, rows)
    rows = [[each.key, each.students, each.times, each.says] for each in progress.slips[:MOST]]
    table("most common mistakes", ["exercise", "students", "times", "message"], rows)
    return "\n\n".join(parts)


@app.command("assign", cls=Command)
def assign_notebook(
    number: Annotated[str, Argument(metavar="NN", help="Number of a notebook, such as 01.")],
    folder: Annotated[Path, Argument(metavar="FOLDER", help="Output folder.")],
    to: Annotated[Literal["otter"], Option(help="Grader; only otter is supported.")] = "otter",
    force: Force = False,
) -> Shown:
    """Turn a notebook into a graded assignment: exercises for students, solutions for otter-grader.

    It requires `pip install "labkit-embeddings[class,notebooks]"`.
    """
    from labkit.course.assign import assign  # imports torch

    check_free(folder, "FOLDER", force=force)
    written = assign(number, folder)
    autograder = folder / "autograder"
    text = (
        f"{written.notebook}: {len(written.exercises)} exercises, {written.points} points\n"
        f"hand out   {folder / 'student'}\n"
        f"keep       {autograder}\n"
        f"package    cd {autograder} && otter generate\n"
        f"grade one  otter run SUBMISSION.ipynb -a {autograder / 'autograder.zip'}"
    )
    return {"folder": folder, **written._asdict()}, text
