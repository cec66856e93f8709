"""How fast do triplets come from a Wikipedia dump, in how much memory, and are the bytes the same with more processes?

Eight multistream parts with 3,000 articles each are generated from a seed: invented articles in wikitext with
infoboxes, references, links, tables, lists, comments and some markup that is never closed, mixed with redirects, talk
pages and disambiguation pages. One, two and four processes turn them into shards, in turn, so that all meet the same
load. Memory is the largest sum over all processes, sampled twenty times a second.

    python -m benchmarks dump
"""

from __future__ import annotations

import bz2
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from xml.sax.saxutils import escape

from benchmarks.machine import describe
from labkit.corpora.catalogue import generator
from labkit.corpora.shards import sha256_of, shards_in

BODIES, SEED = 2_000, 5
PARTS, PART, STREAM = 8, 3_000, 100  # files, articles of each, pages of a stream as in the official dumps
WORKERS, TURNS = (1, 2, 4), 3
HEAD = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xml:lang="en"><siteinfo><namespaces>'
    '<namespace key="0"/><namespace key="6">File</namespace><namespace key="14">Category</namespace></namespaces>'
    "</siteinfo>\n"
)
SHARDS = (
    "import sys, time; from labkit.thematic.from_dumps import write_shards\n"
    "if __name__ == '__main__':\n"
    "    start = time.perf_counter()\n"
    "    made, funnel = write_shards(sys.argv[3:], sys.argv[1], workers=int(sys.argv[2]), size=2**20)\n"
    "    took = time.perf_counter() - start\n"
    "    print(took, funnel.read('articles'), made['rows'])\n"
)


def main() -> str:
    """The table."""
    columns = ("workers", "s", "CPU s", "articles/s", "MB of XML/s", "MB/CPU s", "triplets", "shards", "peak MB")
    lines = [f"| {' | '.join(columns)} |", "| ---: " * len(columns) + "|"]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        parts, plain = write_parts(place)
        packed = sum(part.stat().st_size for part in parts)
        figures: dict[int, list[tuple[float, ...]]] = {}
        digests = set()
        for turn in range(TURNS):
            for workers in WORKERS:
                out = place / f"shards-{workers}-{turn}"
                found = measured(parts, out, workers)
                figures.setdefault(workers, []).append(found)
                digests.add("".join(map(sha256_of, shards_in(out))))
                print(workers, found, file=sys.stderr, flush=True)
        shards = len(shards_in(out))
        for workers, turns in figures.items():
            taken, cpu, pages, triplets, peak = (statistics.median(column) for column in zip(*turns, strict=True))
            row = (taken, cpu, pages / taken, plain / taken / 1e6, plain / cpu / 1e6, triplets, shards, peak / 1e6)
            lines.append(
                f"| {workers} | {' | '.join(f'{each:,.2f}' if each < 10 else f'{each:,.0f}' for each in row)} |"
            )
    one, two = (statistics.median(taken for taken, *_ in figures[workers]) for workers in (1, 2))
    same = "the same" if len(digests) == 1 else f"{len(digests)} different"
    return "\n".join(
        [
            describe(),
            f"{PARTS} multistream parts, {packed / 1e6:,.0f} MB compressed, {plain / 1e6:,.0f} MB uncompressed.",
            "",
            *lines,
            "",
            f"All runs wrote {same} shards, byte by byte. Two processes are {one / two:.2f} times as fast as one.",
        ]
    )


def write_parts(
    folder: Path, parts: int = PARTS, articles_of_part: int = PART, seed: int = SEED
) -> tuple[list[Path], int]:
    """A dump as it is published, in part files of many streams each; and its bytes unpacked."""
    rng = random.Random(seed)
    bodies = [wikitext(unit[0], rng) for unit in islice(generator("articles").units(seed), BODIES)]
    pages = _pages(bodies, parts * articles_of_part, rng)
    paths, size, number = [], 0, 0
    for part in range(1, parts + 1):
        path = folder / f"made-pages-articles-multistream{part}.xml-p{number + 1}p{number + articles_of_part}.bz2"
        with path.open("wb") as file:
            file.write(bz2.compress(HEAD.encode()))
            while True:
                stream = list(islice(pages, STREAM))
                number += len(stream)
                file.write(bz2.compress("".join(stream).encode()))
                size += sum(map(len, stream))
                if number >= part * articles_of_part or not stream:
                    break
            file.write(bz2.compress(b"</mediawiki>\n"))
        paths.append(path)
    return paths, size


def measured(parts: list[Path], out: Path, workers: int) -> tuple[float, ...]:
    """Seconds, CPU seconds, pages read, triplets, peak bytes of all processes."""
    script = out.with_name("make.py")
    script.write_text(SHARDS, encoding="utf-8")
    command = [sys.executable, str(script), str(out), str(workers), *map(str, parts)]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    before = cpu_seconds()
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    peak = peak_of(running)
    said = running.communicate()[0]
    if running.returncode:
        raise RuntimeError(f"making triplets ended with {running.returncode}")
    taken, pages, triplets = map(float, said.split())
    return taken, cpu_seconds() - before, pages, triplets, peak


def peak_of(running: subprocess.Popen[str]) -> int:
    """The most memory of a process and its children together, until it ends; what they share counts once."""
    peak = 0
    while running.poll() is None:
        peak = max(peak, sum(map(_memory_of, [running.pid, *_children(running.pid)])))
        time.sleep(0.05)
    return peak


def cpu_seconds() -> float:
    """CPU seconds of all processes that were started here and have ended, and of those they started."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _memory_of(process: int) -> int:
    """Bytes in memory of a process, 0 when it is gone; a page that n processes share counts 1/n for each (PSS)."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
        return 1024 * sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    except OSError:
        return 0


def _children(process: int) -> list[int]:
    try:
        return [int(child) for child in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:
        return []


def _pages(bodies: list[str], count: int, rng: random.Random) -> Iterator[str]:
    for number in range(count):
        yield _page(f"Subject {number:,} of the dump", rng.choice(bodies))
        kind = rng.random()
        if kind < 0.3:
            yield _page(f"Alias {number}", f"#REDIRECT [[Subject {number}]]", extra='<redirect title="Subject" />')
        elif kind < 0.4:
            yield _page(f"Talk:Subject {number}", "I do not agree. ~~~~", namespace=1)
        elif kind < 0.43:
            yield _page(f"Alias {number} (disambiguation)", "Alias may mean:\n* [[Subject]]\n{{disambiguation}}")


def _page(title: str, text: str, *, namespace: int = 0, extra: str = "") -> str:
    return (
        f"<page><title>{escape(title)}</title><ns>{namespace}</ns><id>1</id>{extra}<revision><model>wikitext</model>"
        f'<text xml:space="preserve">{escape(text)}</text></revision></page>\n'
    )


def wikitext(row: dict, rng: random.Random) -> str:
    """An article as an editor would have written it."""
    facts = f"| name = '''{row['title']}'''\n| founded = {{{{start date|1850}}}}\n| image = a.jpg"
    parts = [f"{{{{Infobox subject\n{facts}\n}}}}"]
    for section in row["sections"]:
        if section["title"]:
            parts.append(f"== {section['title']} ==")
        for place, paragraph in enumerate(section["paragraphs"]):
            parts.append(_marked(paragraph, rng))
            if rng.random() < 0.06 and place:
                parts.append(rng.choice(BETWEEN))
    return "\n\n".join([*parts, "[[Category:Subjects]]\n{{authority control}}"])


# what stands between paragraphs; the last two were never closed
BETWEEN = (
    '{| class="wikitable"\n! Year !! Number\n|-\n| 1850 || 1,204\n|-\n| 1900 || 2,380\n|}',
    "[[File:View.jpg|thumb|A view of the [[valley]] in {{circa|1900}}]]",
    "* A first item of a list\n* A second one with a [[link|word]]\n** and one below",
    "<gallery>\nA.jpg|One\nB.jpg|Two\n</gallery>",
    "{{Quote|text=It was so.|author=A visitor}}",
    "{{Cite book | title=Never closed",
    "A word and a [[link that never ends, and then more.",
)


def _marked(paragraph: str, rng: random.Random) -> str:
    """Links, references, emphasis, comments and entities in running text."""
    words = paragraph.split(" ")
    for place in range(1, len(words), 9):
        word, chance = words[place], rng.random()
        if chance < 0.4 and word.isalpha():
            words[place] = f"[[{word.title()} (subject)|{word}]]"
        elif chance < 0.5 and word.isalpha():
            words[place] = f"''{word}''"
        elif chance < 0.6:
            words[place] = (
                f'{word}<ref name="n{place}">{{{{cite book|last=Weaver|title=On {word}|year=1901|page=5}}}}</ref>'
            )
        elif chance < 0.65:
            words[place] = f"{word}<!-- to be checked -->"
        elif chance < 0.7:
            words[place] = f"{word}&nbsp;{{{{nowrap|of course}}}}"
    return " ".join(words)
