"""Process data larger than memory: a folder of files, each made from one input by a function.

    each(function, files, workers=4)         call function(input, path) for every missing file, with processes
    each(function, files, ray="HOST:PORT")   make these calls as tasks of a running Ray cluster
    folder(path, plan)                       begin such a folder, or resume it; True if it is finished
    finish(path, plan, **results)            complete its manifest with the plan and the results

Each file is written under a temporary name and renamed when complete, so repeating the call resumes interrupted work. A
file depends only on its input and the plan, so its bytes do not depend on the process that writes it.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import active_children, get_context, parent_process
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeVar

from labkit.atomic import room_for, write_text
from labkit.extras import require
from labkit.progress import Progress, silent

T = TypeVar("T")
R = TypeVar("R")

PER_CORE = 4  # maximum of processes per core; more would only wait for each other and fill the memory
RETRIES = 8  # number of times that Ray retries a task whose machine is gone
MANIFEST, WORK = "manifest.json", ".work"


# --- many files --------------------------------------------------------------------------------------------------


def each(
    function: Callable[[T, Path], None],
    files: Mapping[Path, T],
    *,
    workers: int = 1,
    ray: str | None = None,
    progress: Progress = silent,
) -> None:
    """Call `function(input, path)` for each missing file of {file: input}; with one worker, in this process.

    Worker processes import the script again, so call this under `if __name__ == "__main__":`.
    """
    missing = [(path, given) for path, given in files.items() if not path.is_file()]
    run = partial(_by_ray, ray) if ray is not None else partial(_by_processes, workers)
    for path in {path.parent for path in files}:
        path.mkdir(parents=True, exist_ok=True)
    for done, path in enumerate(run(partial(_whole, function), missing), len(files) - len(missing) + 1):
        if not path.is_file():
            raise ValueError(f"a worker wrote {path}, which this machine cannot see; use a shared folder")
        progress(done, len(files), "files")


def _whole(function: Callable[[T, Path], None], item: tuple[Path, T]) -> Path:
    """Write one file under a temporary name, and rename it when it is complete."""
    path, given = item
    temporary = path.with_name(f".{socket.gethostname()}-{os.getpid()}-{path.name}")
    try:
        with room_for(path):
            function(given, temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return path


def _by_processes(workers: int, work: Callable[[T], R], items: list[T]) -> Iterator[R]:
    check_processes("workers", workers)
    if min(workers, len(items)) <= 1:
        yield from map(work, items)
        return
    with _pool(min(workers, len(items))) as pool:
        for future in as_completed([pool.submit(work, item) for item in items]):
            yield future.result()


def _by_ray(address: str, work: Callable[[T], R], items: list[T]) -> Iterator[R]:
    ray = _cluster(address)
    task = ray.remote(max_retries=RETRIES)(lambda item: work(item))
    waiting = [task.remote(item) for item in items]
    try:
        while waiting:
            done, waiting = ray.wait(waiting)
            yield ray.get(done[0])
    except ray.exceptions.RayTaskError as mistake:
        raise mistake.cause if isinstance(mistake.cause, Exception) else ValueError(str(mistake)) from None
    except ray.exceptions.RayError as reason:
        raise ValueError(
            f"the Ray cluster failed ({' '.join(str(reason).split())[:160]}); check its machines and run the same "
            "command again"
        ) from None


def _cluster(address: str) -> Any:
    """Ray, connected to a running cluster; labkit never starts a cluster, because a cluster listens on the network."""
    if address.startswith(("127.", "localhost:")):  # Ray would replace it with the machine's network address
        os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    require("ray", "ray")
    import ray

    if not ray.is_initialized():
        try:
            ray.init(address or "auto", log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
        except (ConnectionError, RuntimeError, OSError, ValueError) as reason:
            raise ValueError(
                f"no Ray cluster responds {f'at {address}' if address else 'on this machine'} "
                f"({' '.join(str(reason).split())[:120]}); start one with `ray start --head`, or use --executor local"
            ) from None
    return ray


# --- processes ---------------------------------------------------------------------------------------------------


def check_processes(argument: str, count: int) -> None:
    """Raise ValueError unless `count` is between one and four processes per core."""
    cores = os.cpu_count() or 1
    if not 1 <= count <= PER_CORE * cores:
        raise ValueError(
            f"{argument} asks for {count} processes, expected 1 to {PER_CORE * cores}, because this machine has "
            f"{cores} core{'s' * (cores > 1)} and labkit starts at most {PER_CORE} processes per core"
        )


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """New processes, started with `spawn`, which is safe with threads and the same on every system."""
    pool = ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_follow)
    try:
        with _ctrl_c_ignored():
            for _ in range(workers):
                pool.submit(int)  # starts a process, which ignores Ctrl-C from the start
        yield pool
    except KeyboardInterrupt:
        for child in active_children():  # files they have begun are written completely or not at all
            child.terminate()
        raise
    except BrokenProcessPool:
        raise ValueError(
            "a process ended before its work was done, perhaps because memory ran out; use fewer workers"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def _ctrl_c_ignored() -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _follow() -> None:
    """Leave Ctrl-C to the main process, and end when that process is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    first = parent_process()
    if first is not None:
        threading.Thread(target=_end_with, args=(first,), daemon=True).start()


def _end_with(first: BaseProcess) -> None:
    first.join()
    os._exit(1)


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit libraries to one thread, so that sums are the same on every machine and workers share the cores."""
    import torch
    from threadpoolctl import threadpool_limits

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(threads)


# --- folders -----------------------------------------------------------------------------------------------------


def folder(path: Path, plan: Mapping[str, Any]) -> bool:
    """Start a folder of files, or resume it; True if it is finished. A folder contains files of only one plan."""
    plan = json.loads(json.dumps(plan))  # as it will be read back
    if not is_folder(path):
        if path.exists() and (not path.is_dir() or any(not each.name.startswith(".") for each in path.iterdir())):
            raise ValueError(f"{path} exists and was not written by this command; use a new folder")
        path.mkdir(parents=True, exist_ok=True)
        write_text(path / MANIFEST, json.dumps({"plan": plan, "begun": True}, indent=1, ensure_ascii=False))
        return False
    said = manifest(path, finished=False)
    for key in {**said["plan"], **plan}:
        if (found := said["plan"].get(key)) != plan.get(key):
            raise ValueError(
                f"{path} was written with {key} {json.dumps(found)}, not {json.dumps(plan.get(key))}; use another "
                "folder, or delete this one"
            )
    if "begun" in said:
        return False
    shutil.rmtree(path / WORK, ignore_errors=True)  # left by a process that was killed in `finish`
    return True


def finish(path: Path, plan: Mapping[str, Any], **results: Any) -> dict[str, Any]:
    """Write the results into the manifest, and remove temporary files."""
    write_text(path / MANIFEST, json.dumps({"plan": plan, **results}, indent=1, ensure_ascii=False))
    shutil.rmtree(path / WORK, ignore_errors=True)
    for left in path.glob(".*-part-*"):  # of killed workers
        left.unlink(missing_ok=True)
    return manifest(path)


def clear(path: Path) -> None:
    """Remove the files that labkit wrote to a folder, and nothing else."""
    shutil.rmtree(path / WORK, ignore_errors=True)
    for made in (*path.glob("part-*"), *path.glob(".*-part-*"), path / MANIFEST):
        made.unlink(missing_ok=True)


def is_folder(path: Path | str) -> bool:
    """Whether this is a folder of files that labkit has written or is writing."""
    return (Path(path) / MANIFEST).is_file()


def manifest(path: Path | str, *, finished: bool = True) -> dict[str, Any]:
    """The manifest of a folder; raises ValueError if labkit did not write it or, with `finished`, it is incomplete."""
    if not is_folder(path):
        raise ValueError(f"{path} has no {MANIFEST}, so it was not written by labkit; check the name")
    try:
        said: dict[str, Any] = json.loads((Path(path) / MANIFEST).read_text(encoding="utf-8"))
        said["plan"] = dict(said["plan"])
    except (ValueError, KeyError, TypeError) as reason:
        raise ValueError(f"{Path(path) / MANIFEST} is damaged ({reason}); write the folder again") from None
    if finished and "begun" in said:
        raise ValueError(f"the files in {path} are incomplete; run the command that writes them again")
    return said


def part(path: Path, number: int, ending: str) -> Path:
    """The path of one file in a folder."""
    return path / f"part-{number:05}.{ending}"
