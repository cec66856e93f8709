"""Files of triplets: the same from a corpus, a JSONL file or a dump, and either complete or absent."""

from __future__ import annotations

import bz2
import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from typing import Any
from xml.sax.saxutils import escape

import pytest

from labkit.corpora import Article, Articles, Section, Triplets, load, read_corpus
from labkit.corpora.article_rules import REPEATED
from labkit.corpora.article_triplets import Plan
from labkit.corpora.files import read_articles, read_rows
from labkit.corpora.shards import Part, sha256_of, shards_in, tables
from labkit.methods import METHODS
from labkit.thematic.from_dumps import triplets_and_funnel, write_shards, write_triplets
from labkit.thematic.wikipedia import ELSEWHERE, REDIRECT
from tests.sharded import all_stages
from tests.waiting import HANG, until

ROOT = Path(__file__).resolve().parents[2]
HEAD = '<mediawiki><siteinfo><namespaces><namespace key="6">File</namespace></namespaces></siteinfo>'


def article(title: str) -> Article:
    sections = [
        Section(name, [f"{title} {name} sentence of paragraph {place}. More." for place in ("one", "two")])
        for name in ("Early life", "Career", "Works", "Later life", "Legacy")
    ]
    return Article(title, (Section("", [f"{title} is somebody. More."], 1), *sections, Section("Notes", ["A list."])))


ARTICLES = Articles([article(title) for title in ("Anna Brun", "東京", "Šárka", "Fabel", "Eva Holm")], name="some")


def as_jsonl(path: Path, articles: Articles = ARTICLES, *, splits: bool = False) -> Path:
    rows = (row if splits else {key: row[key] for key in ("title", "sections")} for row in articles.rows())
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


def pages_of(articles: Articles) -> list[str]:
    pages = ["<page><title>Talk:A</title><ns>1</ns><revision><text>Hm</text></revision></page>"]
    for found in articles.articles:
        blocks = [
            part for each in found.sections for part in (f"== {each.title} ==" * bool(each.title), *each.paragraphs)
        ]
        text = escape("\n\n".join(filter(None, blocks)))
        pages.append(f"<page><title>{found.title}</title><ns>0</ns><revision><text>{text}</text></revision></page>")
    pages.append('<page><title>B</title><ns>0</ns><redirect title="A" /><revision><text>x</text></revision></page>')
    return pages


def as_dump(path: Path, articles: Articles = ARTICLES, *, stream: int = 10**6) -> Path:
    """A dump with `stream` pages per stream; like official dumps, it starts and ends with streams without pages."""
    pages = pages_of(articles)
    parts = ["".join(pages[start : start + stream]) for start in range(0, len(pages), stream)]
    parts = [HEAD, *parts, "</mediawiki>"] if len(parts) > 1 else [f"{HEAD}{parts[0]}</mediawiki>"]
    path.write_bytes(b"".join(bz2.compress(part.encode()) for part in parts))
    return path


@pytest.mark.parametrize("rule", ["adjacent", "other", "titles"])
def test_same_triplets_from_memory_jsonl_and_dump(tmp_path: Path, rule: str) -> None:
    assert set(ARTICLES.splits) == {"train", "test"}
    made, funnel = triplets_and_funnel(ARTICLES, Plan(rule, 3))
    jsonl, dump = as_jsonl(tmp_path / "some.jsonl"), as_dump(tmp_path / "some.xml-p10p30302-shortened.bz2")
    from_jsonl = write_triplets([str(jsonl)], tmp_path / "a.jsonl", Plan(rule, 3))
    from_dump = write_triplets([str(dump)], tmp_path / "b.csv", Plan(rule, 3))
    assert from_jsonl == funnel
    for name in ("a.jsonl", "b.csv"):
        found = read_corpus(tmp_path / name)
        assert isinstance(found, Triplets)
        assert list(found.rows()) == list(made.rows())
    assert from_dump.read("articles") == len(ARTICLES) + 2
    assert (from_dump.removed(ELSEWHERE, "articles"), from_dump.removed(REDIRECT, "articles")) == (1, 1)
    assert from_dump.left("triplets") == funnel.left("triplets") == len(made)


def test_a_limit_takes_the_first_articles_even_of_a_broken_dump(tmp_path: Path) -> None:
    dump = as_dump(tmp_path / "some.xml.bz2")
    whole = bz2.decompress(dump.read_bytes())
    cut = tmp_path / "cut.xml"
    cut.write_bytes(whole[: whole.index(b"Fabel")])
    with pytest.raises(ValueError, match="cut.xml"):
        write_triplets([str(cut)], tmp_path / "t.csv")
    funnel = write_triplets([str(cut)], tmp_path / "t.csv", limit=2)
    assert set(read_corpus(tmp_path / "t.csv").extra["article"]) == {"Anna Brun", "東京"}
    assert funnel.left("articles") == 2
    with pytest.raises(ValueError, match="limit"):
        write_triplets(["articles"], tmp_path / "t.csv", limit=0)


def test_bad_sources_are_refused(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("text_a,text_b,label\na,b,1\n")
    (tmp_path / "wiki.zim").write_bytes(b"ZIM")
    for name, said in (
        ("topics", "sentences with classes"),
        ("artcles", "'articles'"),
        (str(tmp_path / "no.xml.bz2"), "no.xml.bz2"),
        (str(tmp_path), "is a folder"),
        (str(tmp_path / "pairs.csv"), "pairs.csv"),
        (str(tmp_path / "wiki.zim"), r"wiki\.zim.* dump"),
    ):
        with pytest.raises(ValueError, match=said):
            write_triplets([name], tmp_path / "out.csv")
    bad = tmp_path / "bad.jsonl"
    for line, said in (
        ('{"title": "B"}', "row 2: column 'sections'"),
        ('{"title": " ", "sections": []}', "row 2: title"),
        ('{"title": "A", "sections": [{"title": "B"}]}', "row 2: sections"),
    ):
        bad.write_text('{"title": "A", "sections": []}\n' + line)
        with pytest.raises(ValueError, match=f"bad.jsonl {said}"):
            list(read_articles(bad))
    few = as_jsonl(tmp_path / "few.jsonl", Articles([Article("A", ARTICLES.articles[0].sections[:3])]))
    with pytest.raises(ValueError, match="1.*1"):
        write_shards([str(few)], tmp_path / "few")


# --- shards --------------------------------------------------------------------------------------------------------

MANY = [article(f"Title {n}") for n in range(60)]
#: the last repeats titles of both others, and one of its own
PARTS = [Articles(MANY[:25]), Articles(MANY[25:45]), Articles([*MANY[40:], *MANY[:3], MANY[59]])]


def parts(folder: Path) -> list[Path]:
    """Three dumps."""
    return [as_dump(folder / f"wiki{n}.xml.bz2", some, stream=6) for n, some in enumerate(PARTS)]


def rows_of(folder: Path) -> list[dict[str, Any]]:
    return [row for path in shards_in(folder) for table in tables(Part(str(path))) for row in table.to_pylist()]


def digests(folder: Path) -> list[str]:
    return [sha256_of(path) for path in shards_in(folder)]


@pytest.mark.parametrize(("rule", "workers"), [("adjacent", 2), ("titles", 1)])
def test_shards_have_the_rows_and_the_funnel_of_one_file(tmp_path: Path, rule: str, workers: int) -> None:
    """The single file is made from all parts, joined into one dump."""
    names = [str(path) for path in parts(tmp_path)]
    made, funnel = write_shards(names, tmp_path / "out", Plan(rule, 2), size=400)
    text = "".join(page for some in PARTS for page in pages_of(some))
    (tmp_path / "one.xml").write_text(f"{HEAD}{text}</mediawiki>")
    alone = write_triplets([str(tmp_path / "one.xml")], tmp_path / "one.csv", Plan(rule, 2))
    assert write_triplets(names, tmp_path / "parts.csv", Plan(rule, 2), workers=workers) == funnel
    assert (tmp_path / "parts.csv").read_bytes() == (tmp_path / "one.csv").read_bytes()
    assert len(shards_in(tmp_path / "out")) > 8
    assert rows_of(tmp_path / "out") == list(read_corpus(tmp_path / "one.csv").rows())
    assert funnel.rows() == alone.rows()
    assert funnel.removed(REPEATED, "articles") == 9
    assert made["rows"] == funnel.left("triplets")
    assert write_shards(names, tmp_path / "out", Plan(rule, 2), size=400) == (made, funnel)


def test_an_article_in_both_train_and_test_is_kept_once(tmp_path: Path) -> None:
    """The splits come from one file, or from two. Otherwise a model would be tested on its training data."""
    both = Articles([*ARTICLES.articles[:3], ARTICLES.articles[0]], splits=["train", "dev", "train", "test"])
    again = as_jsonl(tmp_path / "again.jsonl", both.take([1]), splits=True)
    again.write_text(again.read_text().replace('"dev"', '"test"'))
    one = as_jsonl(tmp_path / "one.jsonl", both, splits=True)
    write_triplets([str(one)], tmp_path / "t.csv")
    write_shards([str(one), str(again)], tmp_path / "out")
    for rows in ([row for _, row in read_rows(tmp_path / "t.csv")], rows_of(tmp_path / "out")):
        splits = {(row["article"], row["split"]) for row in rows}
        assert splits == {("Anna Brun", "train"), ("東京", "dev"), ("Šárka", "train")}


def test_sources_of_different_kinds_can_be_combined(tmp_path: Path) -> None:
    jsonl = as_jsonl(tmp_path / "some.jsonl")
    _, funnel = write_shards(["articles", str(jsonl)], tmp_path / "out")
    assert len(shards_in(tmp_path / "out")) == 2
    assert funnel.read("articles") == len(load("articles")) + len(ARTICLES)
    corpus = load("articles")
    assert isinstance(corpus, Articles)
    made, _ = triplets_and_funnel(corpus)
    assert rows_of(tmp_path / "out")[: len(made)] == list(made.rows())


def test_a_broken_part_is_named_and_the_others_are_kept(tmp_path: Path) -> None:
    sources = parts(tmp_path)
    whole = sources[1].read_bytes()
    sources[1].write_bytes(whole[:-60] + bytes(60))
    names = [str(path) for path in sources]
    with pytest.raises(ValueError, match=r"wiki1.xml.bz2 .* from byte [\d,]+ on"):
        write_shards(names, tmp_path / "out", size=400)
    done = len(list((tmp_path / "out" / ".work").glob("*.arrow")))
    assert done > 3
    sources[1].write_bytes(whole)
    write_shards(names, tmp_path / "out", size=400)
    write_shards(names, tmp_path / "fresh", size=400)
    assert digests(tmp_path / "out") == digests(tmp_path / "fresh")


KILLED = """
import sys
from labkit.thematic.from_dumps import write_shards
if __name__ == "__main__":
    write_shards(sys.argv[3:], sys.argv[1], size=900, workers=int(sys.argv[2]))
"""


@pytest.mark.whole
def test_after_kills_at_random_moments_no_shard_is_lost_or_repeated(tmp_path: Path) -> None:
    """A job with two workers that is killed repeatedly writes the same bytes as one undisturbed process."""
    names = [str(path) for path in parts(tmp_path)]
    write_shards(names, tmp_path / "fresh", size=900)
    script, out = tmp_path / "make.py", tmp_path / "out"
    script.write_text(KILLED)
    moments, kills = Random(2), 0
    for _ in range(100):
        running = subprocess.Popen(
            [sys.executable, str(script), str(out), "2", *names], stderr=subprocess.PIPE, text=True
        )
        wanted = len(list(out.rglob("part-*.arrow"))) + moments.randrange(3)
        until(lambda: running.poll() is not None or len(list(out.rglob("part-*.arrow"))) > wanted)  # noqa: B023
        if running.poll() is None:
            running.kill()
            kills += 1
        said = running.communicate()[1]
        if running.returncode == 0:
            break
        assert running.returncode == -signal.SIGKILL, said
    assert kills >= 3
    assert digests(out) == digests(tmp_path / "fresh")
    assert sorted(path.name for path in out.iterdir()) == sorted(path.name for path in (tmp_path / "fresh").iterdir())


CLUSTER = """
import os, sys, threading, time
os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}  # nothing beyond this machine
from functools import partial
from pathlib import Path

import ray
from ray.cluster_utils import Cluster

from labkit import scale
from labkit.thematic.from_dumps import write_shards
from tests.sharded import all_stages

here = {"num_cpus": 1, "node_ip_address": "127.0.0.1", "object_store_memory": 10**8}
cluster = Cluster(initialize_head=True, head_node_args={**here, "include_dashboard": False})
second = cluster.add_node(**here)
ray.init(cluster.address, log_to_driver=False)
print("nodes", sum(node["Alive"] for node in ray.nodes()))
seen = Path(sys.argv[1]).with_name("seen")
seen.mkdir()


def slowly(call, task):
    (seen / ray.get_runtime_context().get_node_id()).touch()
    time.sleep(0.3)
    return call(task)


quickly = scale._by_ray
scale._by_ray = lambda address, work, items: quickly(address, partial(slowly, work), items)


def kill():
    while len(list(seen.iterdir())) < 2:
        time.sleep(0.02)
    cluster.remove_node(second, allow_graceful=False)
    print("killed")


killer = threading.Thread(target=kill)
killer.start()
write_shards(sys.argv[3:], sys.argv[1], size=400, ray=cluster.address)
killer.join()
all_stages(Path(sys.argv[2]), Path(sys.argv[1]), Path(sys.argv[1]).with_name("stages"), ray=cluster.address)
ray.shutdown()
cluster.shutdown()
"""


@pytest.mark.weekly
def test_a_ray_cluster_makes_the_same_shards_even_if_a_node_is_killed(tmp_path: Path) -> None:
    """Two nodes on this machine. The second is killed after starting to work; the first runs all further stages."""
    pytest.importorskip("ray", reason="Ray is an extra")
    names = [str(path) for path in parts(tmp_path)]
    write_shards(names, tmp_path / "fresh", size=400)
    run = tmp_path / "run"
    method = METHODS["mean-vectors"](dimension=8)
    method.fit(ARTICLES)
    method.save(run)
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    ran = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "out"), str(run), *names],
        capture_output=True,
        text=True,
        timeout=HANG,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert {"nodes 2", "killed"} <= set(ran.stdout.splitlines())
    assert digests(tmp_path / "out") == digests(tmp_path / "fresh")
    folders = all_stages(run, tmp_path / "fresh", tmp_path / "here")
    assert all(len(shards_in(folder)) > 1 for folder in folders[:2])
    for folder in ("distinct", "vectors", "near"):
        assert digests(tmp_path / "stages" / folder) == digests(tmp_path / "here" / folder)
