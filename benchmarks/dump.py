"""How fast are triplets made from a Wikipedia dump, in how much memory, and are the bytes the same with more processes?

Eight multistream parts with 3,000 pages each are generated from a seed: invented articles in wikitext with
infoboxes, references, links, tables, lists, comments and some unclosed markup, mixed with redirects, talk pages and
disambiguation pages. One, two and four processes make shards from them in turn, under the same load. Memory is the
largest sum over all processes, sampled twenty times per second.
"""

from __future__ import annotations

import bz2
import random
import statistics
import sys
import tempfile
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from xml.sax.saxutils import escape

from benchmarks.machine import describe, process_tree
from labkit.corpora.catalogue import generator
from labkit.corpora.shards import sha256_of, shards_in

BODIES, SEED = 2_000, 5
PARTS, PART, STREAM = 8, 3_000, 100  # files, pages per file, pages per stream (as in the official dumps)
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
    """The table: one row for each number of processes."""
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
            taken, cpu, articles, triplets, peak = (statistics.median(column) for column in zip(*turns, strict=True))
            row = (taken, cpu, articles / taken, plain / taken / 1e6, plain / cpu / 1e6, triplets, shards, peak / 1e6)
            cells = (f"{each:,.2f}" if each < 10 else f"{each:,.0f}" for each in row)
            lines.append(f"| {workers} | {' | '.join(cells)} |")
    one, two = (statistics.median(taken for taken, *_ in figures[workers]) for workers in (1, 2))
    same = "the same" if len(digests) == 1 else f"{len(digests)} different"
    size = f"{PARTS} multistream parts, {packed / 1e6:,.0f} MB compressed, {plain / 1e6:,.0f} MB uncompressed."
    verdict = f"All runs wrote {same} shards, byte for byte. Two processes are {one / two:.2f} times as fast as one."
    return "\n".join([describe(), size, "", *lines, "", verdict])


def write_parts(folder: Path) -> tuple[list[Path], int]:
    """Write the parts of a dump, each of many bz2 streams: their paths, and the uncompressed size of the pages."""
    rng = random.Random(SEED)
    bodies = [wikitext(unit[0], rng) for unit in islice(generator("articles").units(SEED), BODIES)]
    pages = _pages(bodies, rng)
    paths, size = [], 0
    for part in range(PARTS):
        path = folder / f"made-pages-articles-multistream{part + 1}.xml-p{part * PART + 1}p{(part + 1) * PART}.bz2"
        with path.open("wb") as file:
            file.write(bz2.compress(HEAD.encode()))
            for _ in range(PART // STREAM):
                stream = "".join(islice(pages, STREAM))
                file.write(bz2.compress(stream.encode()))
                size += len(stream)
            file.write(bz2.compress(b"</mediawiki>\n"))
        paths.append(path)
    return paths, size


def measured(parts: list[Path], out: Path, workers: int) -> tuple[float, ...]:
    """Seconds, CPU seconds, articles read, triplets, and peak bytes of all processes."""
    script = out.with_name("make.py")
    script.write_text(SHARDS, encoding="utf-8")
    output, spent, peak = process_tree([str(script), str(out), str(workers), *map(str, parts)], out.parent)
    taken, articles, triplets = map(float, output.splitlines()[-1].split())
    return taken, spent, articles, triplets, peak


def _pages(bodies: list[str], rng: random.Random) -> Iterator[str]:
    """Endless pages: articles, redirects, talk pages and disambiguation pages."""
    for number in count():
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
    """The source text of an article."""
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


# blocks between paragraphs; the last two are unclosed
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
    """The paragraph with links, references, emphasis, comments and entities in its words."""
    words = paragraph.split(" ")
    for place in range(1, len(words), 9):
        word, chance = words[place], rng.random()
        if chance < 0.4 and word.isalpha():
            words[place] = f"[[{word.title()} (subject)|{word}]]"
        elif chance < 0.5 and word.isalpha():
            words[place] = f"''{word}''"
        elif chance < 0.6:
            cited = f"{{{{cite book|last=Weaver|title=On {word}|year=1901|page=5}}}}"
            words[place] = f'{word}<ref name="n{place}">{cited}</ref>'
        elif chance < 0.65:
            words[place] = f"{word}<!-- to be checked -->"
        elif chance < 0.7:
            words[place] = f"{word}&nbsp;{{{{nowrap|of course}}}}"
    return " ".join(words)
