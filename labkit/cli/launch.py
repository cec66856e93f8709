"""`labkit app`, `lab` and `playground`: open the app, JupyterLab and the playground in the browser."""

from __future__ import annotations

import os
import re
import secrets
import socket
import sys
import webbrowser
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from labkit.cli.arguments import Force, Plain, check_free
from labkit.course.notebooks import NOTEBOOKS, copied
from labkit.extras import require
from labkit.play import playground

_PACKAGE = Path(__file__).resolve().parents[1]
APP = next(  # next to the package in a checkout, inside it in a wheel
    (folder for folder in (_PACKAGE / "_app", _PACKAGE.parent / "app") if folder.is_dir()), _PACKAGE / "_app"
)
UPLOAD_MB = 100  # largest upload to an app on your own machine: a million short sentences
LOCAL = ("localhost", "127.0.0.1", "::1")
HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?")

app = typer.Typer(rich_markup_mode=None)


@app.command("app", cls=Plain)
def open_app(
    port: Annotated[int, Option(min=1, max=65535, help="Port to listen on.")] = 8501,
    browser: Annotated[bool, Option(help="Open the page in a browser.")] = True,
    classroom: Annotated[bool, Option("--classroom", help="Let other machines on the network use the app.")] = False,
    host: Annotated[list[str] | None, Option(help="With --classroom: an additional name of this machine.")] = None,
    token: Annotated[
        str, Option(help="With --classroom: the visitors' token. Default: $LABKIT_TOKEN if set, otherwise random.")
    ] = "",
) -> None:
    """Open the app in the browser. Only this machine can reach it, unless --classroom is given.

    Runs are read from and written to runs/ in the current folder.
    """
    require("app", "streamlit", "plotly")
    for name, value in (("host", host), ("token", token)):
        if value and not classroom:
            raise ValueError(f"--{name} needs --classroom; otherwise the app listens on 127.0.0.1 only")
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
    os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
    typer.echo(where)
    script = APP / ("guarded.py" if classroom else "main.py")
    words = ["run", str(script), f"--server.port={port}", f"--server.address={address}", *more]
    _become("streamlit", *words, f"--server.headless={str(not browser or classroom).lower()}")


def _check_port(address: str, port: int) -> None:
    """Refuse a port that is in use or that requires more privileges."""
    with socket.socket() as probe:
        if os.name == "posix":  # a port that was just closed is free; on Windows the option means something else
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as reason:
            raise ValueError(f"Port {port} is unavailable ({reason.strerror}); choose another with --port") from None


def _names(more: Sequence[str]) -> list[str]:
    """The names under which other machines may reach this one; any other name could belong to someone else's page."""
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
            f"--token has {len(token)} characters. It must have 12 to 128 letters, digits, '.', '_', '~' or '-'; omit "
            "it for a random one"
        )
    return token, secrets.token_hex(16)


def _where(port: int, names: Sequence[str], visitors: str, teacher: str) -> str:
    """The addresses of a classroom, and a warning about what it exposes."""
    return (
        f"labkit is at {' and '.join(f'http://{name}:{port}/?token={visitors}' for name in names)}\n"
        f"The teacher's page, for you alone: http://{names[0]}:{port}/teacher_page?token={teacher}\n"
        "The app listens on every address of this machine but answers only to these names; add others with --host.\n"
        "Anyone with the first address can use the app and train on this machine. Only you and the visitor who "
        "uploaded a file can see it and its runs. Nothing is encrypted: anyone who can read this network's traffic can "
        "read the tokens too. Press Ctrl-C to stop."
    )


@app.command("lab", cls=Plain)
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
    from labkit.course.answers import start_page  # imports torch

    settings = [str(NOTEBOOKS / "settings"), os.environ.get("JUPYTER_CONFIG_PATH", "")]
    os.environ["JUPYTER_CONFIG_PATH"] = os.pathsep.join(filter(None, settings))  # saves sliders with a notebook
    words = ["--ip=127.0.0.1", f"--notebook-dir={folder.resolve()}"]
    words.append(f"--LabApp.default_url=/lab/tree/{start_page(folder).name}")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        words.append("--allow-root")  # the only user in many containers
    _become("jupyterlab", *words)


def _become(module: str, *words: str) -> None:
    """Replace this process with one that runs the module, so that ending it ends the server."""
    if _PACKAGE.parent == APP.parent:  # a checkout that may not be installed
        paths = [str(APP.parent), os.environ.get("PYTHONPATH", "")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
    sys.stdout.flush()
    # -P keeps files in the current folder from being imported
    os.execv(sys.executable, [sys.executable, "-P", "-m", module, *words])


@app.command("playground", cls=Plain)
def open_playground(
    file: Annotated[
        str | None, Argument(metavar="FILE", help="A file of your sentences, with the columns text and label.")
    ] = None,
    out: Annotated[Path, Option(metavar="FILE.html", help="File to write the page to.")] = Path("play.html"),
    browser: Annotated[bool, Option(help="Open the page in a browser.")] = True,
    force: Force = False,
) -> None:
    """Write the playground to a single page and open it. The page trains sentence vectors with a pair loss.

    It needs no server and no network. Without a file, it uses bundled sentences.
    """
    check_free(out, "--out", force=force)
    playground(file).save(out)
    typer.echo(f"The playground was written to {out}.")
    if browser:
        webbrowser.open(out.resolve().as_uri())
