"""The program `labkit`. A user's mistake is one line on standard error and exit status 2, Ctrl-C is 130.

Each group of commands is a module beside this one: `train`, `tune`, `runs`, `encode`, `export`, `data`, `shards`,
`reproduce`, and `teaching` with `labkit class`; here are those that open the app, JupyterLab and the playground. What
commands do stands in the package: they read what was typed (`arguments`), call it, and write what came of it
(`output`).
"""

from __future__ import annotations

import os
import re
import secrets
import socket
import sys
import traceback
import warnings
import webbrowser
from collections.abc import Iterable, Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from labkit import __version__
from labkit.atomic import sentence_of
from labkit.lab.cli import data, encode, export, output, reproduce, runs, shards, teaching, train, tune
from labkit.lab.cli.arguments import Force, check_free, command, with_verbosity
from labkit.lab.course.notebooks import NOTEBOOKS, copied
from labkit.progress import first_process

_PACKAGE = Path(__file__).resolve().parents[2]
APP = next(  # beside the package in a checkout, in it in a wheel
    (folder for folder in (_PACKAGE / "_app", _PACKAGE.parent / "app") if folder.is_dir()), _PACKAGE / "_app"
)
UPLOAD_MB = 100  # of a file that is brought to an app of one's own, room for a million short sentences
LOCAL = ("localhost", "127.0.0.1", "::1")  # as this machine calls itself

app = typer.Typer(
    name="labkit",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    help="A lab for learning how sentence embeddings are learned.",
)
app.add_typer(data.app, name="data")
app.add_typer(teaching.app, name="class")
command(app, cls=train.TrainCommand)(train.train)
command(app, cls=train.WithMethods)(tune.tune)
for function in (runs.evaluate, encode.encode, runs.compare, runs.runs, export.export, runs.explain):
    command(app)(function)
command(app)(reproduce.reproduce)
command(app)(runs.paraphrase)
command(app)(shards.neighbours)
command(data.app)(shards.dedup)


def version(show: Annotated[bool, typer.Option("--version", is_eager=True, help="Say the version.")] = False) -> None:
    if show:
        typer.echo(__version__)
        raise typer.Exit


app.callback(invoke_without_command=True)(with_verbosity(version))


@command(app, "app")
def open_app(
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8501,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    classroom: Annotated[bool, typer.Option("--classroom", help="Let other machines of the network use it.")] = False,
    host: Annotated[list[str] | None, typer.Option(help="In a classroom: one more name of this machine.")] = None,
    token: Annotated[
        str, typer.Option(help="In a classroom: what visitors show; else LABKIT_TOKEN, else one drawn by lot.")
    ] = "",
) -> None:
    """Open the app in the browser. It listens on this machine only, unless it is for a classroom.

    Runs are looked for, and kept, in runs/ of the folder that one stands in.
    """
    if find_spec("streamlit") is None:
        raise ValueError("Streamlit is not installed, and the app needs it; run pip install streamlit")
    for name, value in (("host", (host or [""])[0]), ("token", token)):
        if value and not classroom:
            raise ValueError(
                f"--{name} is {value!r}, expected none without --classroom, as the app listens on 127.0.0.1 only; add "
                f"--classroom, or leave --{name} out"
            )
    tokens = _tokens(token) if classroom else ()
    address, names = "0.0.0.0" if classroom else "127.0.0.1", _names(host or ()) if classroom else ()
    _check_port(address, port)
    # all other settings stand in app/.streamlit, where Streamlit finds them whichever way it is started
    script = APP / ("guarded.py" if classroom else "main.py")
    command = [*_python("streamlit"), "run", str(script), f"--server.port={port}"]
    command += [f"--server.address={address}", f"--server.headless={str(not browser or classroom).lower()}"]
    command += [] if classroom else [f"--server.maxUploadSize={UPLOAD_MB}"]
    command += [f"--server.allowedHosts={name}" for name in (*LOCAL, *names) if names]
    typer.echo(_where(port, names, tokens))
    os.environ["LABKIT_CLASSROOM"] = "1" if classroom else ""
    if tokens:  # not in the command, which all users of the machine can read
        os.environ["LABKIT_VISITOR_TOKEN"], os.environ["LABKIT_TEACHER_TOKEN"] = tokens
    sys.stdout.flush()
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
    os.execv(command[0], command)  # the server takes this process over, so that who ends the one ends the other


def _check_port(address: str, port: int) -> None:
    """Refuse a port that another program has, or that needs more rights."""
    with socket.socket() as probe:
        if os.name == "posix":  # what an app that has just ended leaves behind is no hindrance; elsewhere it means more
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as reason:
            raise ValueError(
                f"--port is {port}, which cannot be had ({reason.strerror}); choose another with --port, or with "
                "make app PORT="
            ) from None


def _names(more: Iterable[str]) -> list[str]:
    """The names by which other machines may call this one; any other may be a foreign page's, made to lead here."""
    own = socket.gethostname()
    names = [own, f"{own}.local", socket.getfqdn()]
    with suppress(OSError):  # a name that nobody knows
        names += [str(entry[4][0]) for entry in socket.getaddrinfo(own, None, socket.AF_INET)]
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:  # or no network
        probe.connect(("192.0.2.1", 9))  # an address of nobody's: nothing is sent, but it has a way there
        names.append(probe.getsockname()[0])
    return list(dict.fromkeys(name for name in (*names, *more) if name not in LOCAL and not name.startswith("127.")))


def _tokens(wished: str) -> tuple[str, str]:
    """The token of a classroom's visitors, which may have to be typed, and the teacher's."""
    token = wished or os.environ.pop("LABKIT_TOKEN", "") or secrets.token_hex(8)
    if not re.fullmatch(r"[\w.~-]{12,128}", token, re.ASCII):
        raise ValueError(
            f"--token has {len(token)} characters, expected 12 to 128 of letters, digits, '.', '_', '~' and '-'; leave "
            "it out for one drawn by lot"
        )
    return token, secrets.token_hex(16)


def _where(port: int, names: Sequence[str], tokens: Sequence[str]) -> str:
    """The address to open, and in a classroom what it exposes; `names` and `tokens` are those of a classroom."""
    if not tokens:
        return f"labkit is at http://127.0.0.1:{port} (this machine only); Ctrl-C ends it"
    visitors, teacher = tokens
    return (
        f"labkit is at {' and '.join(f'http://{name}:{port}/?token={visitors}' for name in names)}; Ctrl-C ends it\n"
        f"The teacher's page, for you alone: http://{names[0]}:{port}/teacher_page?token={teacher}\n"
        "It listens on every address of this machine, and answers to these names only: --host adds one.\n"
        "Whoever has the first address can use the app and have this machine train; uploads and runs are seen by who "
        "brought them and by the teacher. Nothing is encrypted: whoever can read this network's traffic can read the "
        "tokens, too."
    )


@command(app, "lab")
def open_lab(
    folder: Annotated[Path, typer.Argument(help="of your copies; what is in it stays as it is")] = Path("lab"),
    copy_only: Annotated[
        bool, typer.Option("--copy-only", help="Copy them and open nothing, where another program shows notebooks.")
    ] = False,
) -> None:
    """Open JupyterLab on copies of the notebooks, to write into."""
    if find_spec("jupyterlab") is None and not copy_only:
        raise ValueError("JupyterLab is not installed; run pip install jupyterlab ipywidgets")
    for line in copied(folder):
        typer.echo(line)
    if copy_only:
        return
    settings = [str(NOTEBOOKS / "settings"), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, settings))  # sliders are saved with a notebook
    sys.stdout.flush()
    command = [*_python("jupyterlab"), "--ip=127.0.0.1", f"--notebook-dir={folder.resolve()}"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")  # in a container there is nobody else to be
    os.execv(command[0], command)


@command(app, "playground")
def open_playground(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="Your sentences, with the columns text and label.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE.html", help="Where the page is written.")] = Path("play.html"),
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    force: Force = False,
) -> None:
    """Write the playground as one page and open it: a pair loss trains in the browser, sentence by sentence.

    The page needs no server and no network. Without a file it shows bundled sentences.
    """
    from labkit.play import playground

    check_free(out, "--out", force=force)
    playground(file).save(out)
    typer.echo(f"The playground is {out}")
    if browser:
        webbrowser.open(out.resolve().as_uri())


def _python(module: str) -> list[str]:
    """The command that runs a module. What lies in the folder that one stands in is no part of it (-P)."""
    if _PACKAGE.parent == APP.parent:  # a checkout, which need not be installed
        paths = [str(APP.parent), os.environ.get("PYTHONPATH", "")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return [sys.executable, "-P", "-m", module]


def main() -> None:
    """Run the command line and leave with its exit status."""
    warnings.showwarning = _note  # type: ignore[assignment]
    output.set_verbosity()
    try:
        _run()
    except SystemExit as end:
        # a Ctrl-C that came while Python ran a string, as dataclasses do, is remembered as one that nobody caught, and
        # Python would end by SIGINT instead of this status; running another string makes it forget
        exec("")
        if int(os.environ.get("WORLD_SIZE", "1")) > 1:
            _leave(end)
        raise


def _run() -> None:
    try:
        status = app(standalone_mode=False, prog_name="labkit") or 0
        if status == 130:  # the framework turns Ctrl-C into this status and says nothing
            raise KeyboardInterrupt
        sys.exit(status)
    except (typer.Abort, KeyboardInterrupt):
        _say("stopped")
        sys.exit(130)
    except output.Stopped as stop:
        if first_process():
            _say(str(stop))
        sys.exit(stop.status)
    except (ValueError, OSError) as mistake:
        if os.environ.get("LABKIT_DEBUG"):
            raise
        if output.verbose():  # for those who look for its cause
            traceback.print_exception(mistake)
        _say(sentence_of(mistake))
        sys.exit(2)
    except Exception as mistake:
        if (sentence := output.memory_sentence(mistake)) and not (output.verbose() or os.environ.get("LABKIT_DEBUG")):
            _say(sentence)
            sys.exit(2)
        if not hasattr(mistake, "format_message"):  # not a usage error of the command line: ours, shown whole
            raise
        _say(mistake.format_message())
        sys.exit(2)


def _leave(end: SystemExit) -> None:
    """End one of several processes without taking Python apart: a thread of theirs that is still at work, as one may be
    after a signal, aborts a process in which it finds no Python."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(end.code if isinstance(end.code, int) else 1)


def _note(message: Warning | str, category: type[Warning], *_: Any) -> None:
    if category is UserWarning:
        output.remark(f"labkit: note: {message}")


def _say(line: str) -> None:
    sys.stderr.write(f"labkit: {line}\n")  # in one piece: several processes may say something at once
