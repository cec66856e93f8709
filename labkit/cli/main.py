"""The program `labkit`. A user error prints one line on standard error and exits with status 2; Ctrl-C exits with 130.

Each group of commands has its own module in this folder. This one opens the app, JupyterLab and the
playground. A command reads its arguments (`arguments`), calls the package, and prints the result (`output`).
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
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from labkit import __version__
from labkit.atomic import sentence_of
from labkit.cli import data, encode, output, reproduce, runs, teaching, train, tune
from labkit.cli.arguments import Command, Force, Program, check_free
from labkit.course.notebooks import NOTEBOOKS, copied
from labkit.extras import require
from labkit.progress import first_process

_PACKAGE = Path(__file__).resolve().parents[1]
APP = next(  # next to the package in a checkout, inside it in a wheel
    (folder for folder in (_PACKAGE / "_app", _PACKAGE.parent / "app") if folder.is_dir()), _PACKAGE / "_app"
)
UPLOAD_MB = 100  # largest upload to an app on your own machine: a million short sentences
LOCAL = ("localhost", "127.0.0.1", "::1")
HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")

app = typer.Typer(
    name="labkit",
    cls=Program,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    help="A lab for learning how sentence embeddings are learned.",
)
app.add_typer(data.app, name="data")
app.add_typer(teaching.app, name="class")
for learns in (train.train, tune.tune):
    app.command(cls=train.WithMethods)(learns)
COMMANDS: tuple[Callable[..., None], ...] = (
    *(tune.bench, runs.evaluate, encode.encode, runs.compare, runs.runs, runs.export, runs.explain),
    *(reproduce.reproduce, runs.paraphrase, encode.neighbours),
)
for command in COMMANDS:
    app.command(cls=Command)(command)
data.app.command(cls=Command)(encode.dedup)


@app.callback(invoke_without_command=True)
def version(show: Annotated[bool, Option("--version", is_eager=True, help="Print the version.")] = False) -> None:
    if show:
        typer.echo(__version__)
        raise typer.Exit


@app.command("app", cls=Command)
def open_app(
    port: Annotated[int, Option(min=1, max=65535, help="Port to listen on.")] = 8501,
    browser: Annotated[bool, Option(help="Open the page in a browser.")] = True,
    classroom: Annotated[bool, Option("--classroom", help="Let other machines on the network use the app.")] = False,
    host: Annotated[list[str] | None, Option(help="In a classroom: another name of this machine.")] = None,
    token: Annotated[
        str, Option(help="In a classroom: the visitors' token; default: LABKIT_TOKEN, or a random one.")
    ] = "",
) -> None:
    """Open the app in the browser. Only this machine can reach it, unless --classroom is given.

    Runs are read from and written to runs/ in the current folder.
    """
    require("app", "streamlit", "plotly")
    for name, value in (("host", (host or [""])[0]), ("token", token)):
        if value and not classroom:
            raise ValueError(
                f"--{name} {value!r} needs --classroom, because otherwise the app listens on 127.0.0.1 only; add "
                f"--classroom or omit --{name}"
            )
    for name in host or ():
        if not HOST.fullmatch(name):
            raise ValueError(f"--host {name!r} is not a host name; give a name such as lab-7.local or an IPv4 address")
    # all other settings are in app/.streamlit, which Streamlit always reads
    if classroom:
        tokens, names, address = _tokens(token), _names(host or ()), "0.0.0.0"
        more = [f"--server.allowedHosts={name}" for name in (*LOCAL, *names)]
        where = _where(port, names, *tokens)
        # not on the command line, which every user of the machine can read
        os.environ["LABKIT_VISITOR_TOKEN"], os.environ["LABKIT_TEACHER_TOKEN"] = tokens
    else:
        address, more = "127.0.0.1", [f"--server.maxUploadSize={UPLOAD_MB}"]
        where = f"labkit is at http://127.0.0.1:{port} (this machine only). Press Ctrl-C to stop it."
    _check_port(address, port)
    os.environ["LABKIT_CLASSROOM"] = "1" if classroom else ""
    script = APP / ("guarded.py" if classroom else "main.py")
    command = [*_python("streamlit"), "run", str(script), f"--server.port={port}", f"--server.address={address}"]
    command += [f"--server.headless={str(not browser or classroom).lower()}", *more]
    typer.echo(where)
    sys.stdout.flush()
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
    os.execv(command[0], command)  # replaces this process, so that ending it ends the server


def _check_port(address: str, port: int) -> None:
    """Refuse a port that is in use or that requires more privileges."""
    with socket.socket() as probe:
        if os.name == "posix":  # a port that was just closed is free; on Windows the option means something else
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as reason:
            raise ValueError(
                f"Port {port} is unavailable ({reason.strerror}); choose another with --port, or with make app PORT="
            ) from None


def _names(more: Iterable[str]) -> list[str]:
    """The names under which other machines may reach this one; any other name could belong to a foreign page."""
    own = socket.gethostname()
    names = [own, f"{own}.local", socket.getfqdn()]
    with suppress(OSError):  # a name that does not resolve
        names += [str(entry[4][0]) for entry in socket.getaddrinfo(own, None, socket.AF_INET)]
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:  # or no network
        probe.connect(("192.0.2.1", 9))  # a reserved address: nothing is sent, but the route to it shows our address
        names.append(probe.getsockname()[0])
    return list(dict.fromkeys(name for name in (*names, *more) if name not in LOCAL and not name.startswith("127.")))


def _tokens(wished: str) -> tuple[str, str]:
    """The visitors' token, which they may have to type, and the teacher's token."""
    token = wished or os.environ.pop("LABKIT_TOKEN", "") or secrets.token_hex(8)
    if not re.fullmatch(r"[\w.~-]{12,128}", token, re.ASCII):
        raise ValueError(
            f"--token has {len(token)} characters. It needs 12 to 128 letters, digits, '.', '_', '~' or '-'; omit it "
            "for a random one"
        )
    return token, secrets.token_hex(16)


def _where(port: int, names: Sequence[str], visitors: str, teacher: str) -> str:
    """The addresses of a classroom, and a warning about what it exposes."""
    return (
        f"labkit is at {' and '.join(f'http://{name}:{port}/?token={visitors}' for name in names)}\nThe teacher's "
        f"page, for you alone: http://{names[0]}:{port}/teacher_page?token={teacher}\nThe app listens on every "
        "address of this machine but answers only to these names; add others with --host.\nAnyone with the first "
        "address can use the app and train on this machine. Only you and the visitor who uploaded a file can see "
        "it and its runs. Nothing is encrypted: anyone who can read the traffic of this network can also read the "
        "tokens. Press Ctrl-C to stop."
    )


@app.command("lab", cls=Command)
def open_lab(
    folder: Annotated[Path, Argument(help="Folder for your copies; existing files are kept.")] = Path("lab"),
    copy_only: Annotated[bool, Option("--copy-only", help="Copy the notebooks without opening JupyterLab.")] = False,
) -> None:
    """Copy the notebooks into a folder and open JupyterLab on its start page."""
    if not copy_only:
        require("notebooks", "jupyterlab", "plotly")
    for line in copied(folder):
        typer.echo(line)
    if copy_only:
        return
    from labkit.course.answers import start_page

    page = start_page(folder)
    settings = [str(NOTEBOOKS / "settings"), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, settings))  # saves sliders with a notebook
    sys.stdout.flush()
    command = [*_python("jupyterlab"), "--ip=127.0.0.1", f"--notebook-dir={folder.resolve()}"]
    command.append(f"--LabApp.default_url=/lab/tree/{page.name}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")  # the only user in many containers
    os.execv(command[0], command)


@app.command("playground", cls=Command)
def open_playground(
    file: Annotated[
        str | None, Argument(metavar="[FILE]", help="A file with your sentences, in the columns text and label.")
    ] = None,
    out: Annotated[Path, Option(metavar="FILE.html", help="File to write the page to.")] = Path("play.html"),
    browser: Annotated[bool, Option(help="Open the page in a browser.")] = True,
    force: Force = False,
) -> None:
    """Write the playground to a single page and open it. The page trains sentence vectors with a pair loss.

    It needs no server and no network. Without a file, it uses bundled sentences.
    """
    from labkit.play import playground

    check_free(out, "--out", force=force)
    playground(file).save(out)
    typer.echo(f"The playground was written to {out}.")
    if browser:
        webbrowser.open(out.resolve().as_uri())


def _python(module: str) -> list[str]:
    """The command that runs a module; -P keeps files in the current folder from being imported."""
    if _PACKAGE.parent == APP.parent:  # a checkout that may not be installed
        paths = [str(APP.parent), os.environ.get("PYTHONPATH", "")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    return [sys.executable, "-P", "-m", module]


def main() -> None:
    """Run the command line and exit with its status."""
    warnings.showwarning = _note  # type: ignore[assignment]
    output.set_verbosity()
    try:
        _run()
    except SystemExit as end:
        # A Ctrl-C while Python executes a string, as dataclasses do, sets a flag that makes the interpreter end with
        # SIGINT instead of this status. Executing another string clears it.
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
        if output.verbose():
            traceback.print_exception(mistake)
        _say(sentence_of(mistake))
        sys.exit(2)
    except Exception as mistake:
        if (sentence := output.memory_sentence(mistake)) and not (output.verbose() or os.environ.get("LABKIT_DEBUG")):
            _say(sentence)
            sys.exit(2)
        if not hasattr(mistake, "format_message"):  # not a usage error but a bug in labkit: shown in full
            raise
        cause: Any = mistake.__cause__  # typer's message omits the value that could not be converted
        _say(mistake.format_message() + (f"; got {cause.errors()[0]['input']!r}" if hasattr(cause, "errors") else ""))
        sys.exit(2)


def _leave(end: SystemExit) -> None:
    """End one of several processes without finalising Python, because a running thread would abort the shutdown."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(end.code if isinstance(end.code, int) else 1)


def _note(message: Warning | str, category: type[Warning], *_: Any) -> None:
    if category is UserWarning:
        output.remark(f"labkit: note: {message}")


def _say(line: str) -> None:
    sys.stderr.write(f"labkit: {line}\n")  # one call, because several processes may write at once
