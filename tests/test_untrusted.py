"""Untrusted files in a separate process: results, hostile files, every way the process can end, and queueing."""

from __future__ import annotations

import io
import json
import sys
import time
import warnings
import zipfile
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as arrow
import pyarrow.parquet as parquet
import pytest
from scipy import sparse

from labkit import untrusted
from labkit.corpora import read_corpus
from labkit.embedding_files import embedding_bytes
from labkit.untrusted import corpus_apart, embeddings_apart, within_memory
from tests.waiting import until

LIMIT = 10 * 2**20
FILES: dict[str, bytes] = {
    "labelled.csv": b'text,label,town\n"a, b",first,1\nc,other,2\nd,first,3\n',
    "pairs.tsv": b"text_a\ttext_b\tscore\na\tb\t0.5\nc\td\t3\n",
    "triplets.jsonl": b'{"anchor": "a", "positive": "b", "negative": "c", "z": {"q": [1, null]}, "y": "\\ud800"}\n',
    "groups.csv": b"group,text,split\n1,a,train\n1,b,train\n2,c,test\n",
    "lines.txt": "a, b\n\n<b>=1+1</b>\n你好\n".encode(),
    "articles.jsonl": b'{"title": "T", "sections": [{"title": "S", "paragraphs": ["One.", "Two."], "top": "R"}]}\n',
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_a_corpus_is_the_same_as_when_read_directly(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / name).write_bytes(FILES[name])
    read = read_corpus(tmp_path / name)
    here, _ = corpus_apart(name, FILES[name], LIMIT)
    monkeypatch.setattr(untrusted, "IN_PLACE", 0)
    there, notes = corpus_apart(name, FILES[name], LIMIT)
    for found in (here, there):
        assert type(found) is type(read)
        assert (found.name, found.splits, dict(found.extra)) == (read.name, read.splits, dict(read.extra))
        assert found.fingerprint == read.fingerprint
    assert notes == ()


@pytest.mark.parametrize("in_place", [0, 2**18])
def test_notes_are_returned_and_nobody_else_is_warned(in_place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(untrusted, "IN_PLACE", in_place)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        _, notes = corpus_apart("mine.csv", b"text,label\na,x\na,x\nb,y\n", LIMIT)
    assert len(notes) == 1
    assert "row 3" in notes[0]
    assert heard == []


def test_vectors_are_returned_dense(tmp_path: Path) -> None:
    texts, rows = ["one", "two"], np.array([[1.5, 0, 2], [0, 0, -2]], np.float32)
    for ending in (".npz", ".parquet"):
        for each in (rows, sparse.csr_array(rows)):
            sentences, found = embeddings_apart(f"mine{ending}", embedding_bytes(texts, each, ending), LIMIT)
            assert sentences == texts
            np.testing.assert_array_equal(found, rows)
    np.save(tmp_path / "mine.npy", rows)
    assert embeddings_apart("mine.npy", (tmp_path / "mine.npy").read_bytes(), LIMIT)[0] is None


# --- hostile files ---------------------------------------------------------------------------------------------


def parquet_of(columns: dict[str, Any], **further: Any) -> bytes:
    file = io.BytesIO()
    parquet.write_table(arrow.table(columns), file, compression="zstd", write_statistics=False, **further)
    return file.getvalue()


def repeated(text: str, count: int) -> Any:
    """One text in `count` rows, stored once."""
    return arrow.DictionaryArray.from_arrays(arrow.array(np.zeros(count, np.int32)), arrow.array([text]))


def lists_of(values: Any) -> Any:
    return arrow.ListArray.from_arrays(arrow.array([0, len(values) - 1, len(values)], arrow.int32()), values)


LONG, ROWS = "a" * 1_000_000, 200  # 200 MB when each row has its own
TWO: dict[str, Any] = {"text": ["a", "b"], "label": ["x", "y"]}
LABELS = arrow.array(["x", "y"] * (ROWS // 2))
TEXTS = arrow.array([f"text {i}" for i in range(ROWS)])


def corpora() -> dict[str, bytes]:
    """Files of at most 60 kB that unpack to 30 to 200 MB."""
    again = {"text": repeated("a", 9**7), "label": repeated("x", 9**7)}
    long, nothing = repeated(LONG, ROWS), arrow.nulls(9**7)
    begin_alike = {"text": arrow.array([LONG + str(row) for row in range(ROWS)]), "label": LABELS}
    delta = {"text": "DELTA_BYTE_ARRAY", "label": "PLAIN"}
    struct = arrow.StructArray.from_arrays([long], ["q"])
    return {
        "dictionary": parquet_of({"text": long, "label": LABELS}),
        "dictionary without its type": parquet_of({"text": long, "label": LABELS}, store_schema=False),
        "dictionary in a struct": parquet_of({"text": TEXTS, "label": LABELS, "z": struct}),
        "dictionary in a list": parquet_of(TWO | {"z": lists_of(long)}),
        "runs": parquet_of(again),
        "runs of nothing": parquet_of(again | {"z": nothing}),
        "a list of zeros": parquet_of(TWO | {"z": lists_of(arrow.array(np.zeros(30_000_000, np.int8)))}),
        "common beginnings": parquet_of(begin_alike, use_dictionary=False, column_encoding=delta),
    }


@pytest.mark.whole
def test_a_parquet_bomb_is_refused_by_its_unpacked_size() -> None:
    for name, data in corpora().items():
        assert len(data) < 60_000, name
        with pytest.raises(ValueError, match=r"mine\.parquet"):
            corpus_apart("mine.parquet", data, LIMIT)


def npz_of(zeros: int = 0, **headers: tuple[Any, tuple[int, ...]]) -> bytes:
    """An archive of array headers, each followed by `zeros` zero bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, (kind, shape) in headers.items():
            with archive.open(f"{name}.npy", "w") as member:
                about = {"descr": kind, "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(member, about)
                for _ in range(zeros // 2**20):
                    member.write(bytes(2**20))
    return file.getvalue()


def sparse_of(indices: list[int], bounds: list[int], shape: tuple[int, int]) -> bytes:
    file, data = io.BytesIO(), np.ones(len(indices), "<f4")
    np.savez(file, data=data, indices=np.array(indices), indptr=np.array(bounds), shape=np.array(shape))
    return file.getvalue()


VECTORS: dict[str, tuple[bytes, str]] = {
    "zeros": (npz_of(2**28, vectors=("<f8", (2**25, 1))), "10 MB"),
    "a header that lies": (npz_of(vectors=("<f8", (10**9, 100))), "10 MB"),
    "more rows than numbers": (npz_of(vectors=("<f8", (2**62, 2**62))), "10 MB"),
    "texts of one length": (npz_of(vectors=("<f4", (2, 2)), sentences=("<U1000000", (20,))), "10 MB"),
    "sparse, to be filled up": (sparse_of([0], [0, 1], (1, 2**40)), "sparse rows of 1,099,511,627,776 columns"),
    "a column beyond the last": (sparse_of([10**9, 0], [0, 1, 2], (2, 3)), "mine.npz"),
    "bounds that go back": (sparse_of([0, 0], [0, -(2**40), 2], (2, 3)), "mine.npz"),
}


@pytest.mark.parametrize("name", VECTORS)
def test_hostile_vectors_are_refused_by_their_headers(name: str) -> None:
    data, said = VECTORS[name]
    with pytest.raises(ValueError, match=said):
        embeddings_apart("mine.npz", data, LIMIT)


# --- how a process ends ----------------------------------------------------------------------------------------


def lying() -> bytes:
    """A file whose footer says two rows, and whose pages have 50 million numbers."""
    data = bytearray(parquet_of(TWO | {"z": lists_of(arrow.array(np.zeros(50_000_000, np.int64)))}))
    real, said = varint(50_000_000), varint(2)
    footer = len(data) - int.from_bytes(data[-8:-4], "little") - 8
    assert real in data[footer:]
    longer = bytes([said[0] | 128, *[128] * (len(real) - 2), 0])  # the same number in as many bytes
    return bytes(data[:footer] + data[footer:].replace(real, longer))


def varint(number: int) -> bytes:
    """The number as in Thrift: seven bits per byte, with the sign as the last bit."""
    left, found = number << 1, []
    while left > 127:
        found.append(left & 127 | 128)
        left >>= 7
    return bytes([*found, left])


@pytest.mark.whole
@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="needs a system that limits memory")
def test_a_file_with_a_false_footer_ends_only_its_process() -> None:
    with pytest.raises(ValueError, match=r"mine\.parquet.*1 GB"):
        corpus_apart("mine.parquet", lying(), LIMIT)


ENDS = {
    "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)": "damaged",
    "raise SystemExit(3)": "damaged",
    "import time; time.sleep(600)": "2 seconds",
    "import labkit.untrusted as a; from pathlib import Path; a._corpus = lambda *_: [0] * 10**9;"
    "a.main('corpus', Path('{folder}') / 'mine.parquet', 0)": "1 GB of memory",
}


@pytest.mark.whole
@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="needs signals and limits")
@pytest.mark.parametrize("program", ENDS)
def test_every_end_of_the_process_is_an_error_with_its_reason(program: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run = "import sys; from pathlib import Path; exec(sys.argv[1].replace('{folder}', str(Path(sys.argv[3]).parent)))"
    monkeypatch.setattr(untrusted, "PROGRAM", (sys.executable, "-c", run, program))
    with pytest.raises(ValueError, match=f"mine.parquet .*{ENDS[program]}"):
        corpus_apart("mine.parquet", b"", LIMIT, seconds=2 if "sleep" in program else 60)


WIDE = [f"c{number}" for number in range(998)]


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_a_table_of_more_than_a_thousand_columns_is_refused(ending: str, tmp_path: Path) -> None:
    for further, name in ((WIDE, "most"), ([*WIDE, "one more"], "more")):
        row = {"text": "a", "label": "x"} | dict.fromkeys(further, "")
        rows = [row, row | {"text": "b", "label": "y"}]
        written = {
            ".csv": lambda rows=rows: "\n".join(",".join(each) for each in ([*rows[0]], *(r.values() for r in rows))),
            ".jsonl": lambda rows=rows: "\n".join(map(json.dumps, rows)),
            ".parquet": lambda rows=rows: parquet_of({each: [r[each] for r in rows] for each in rows[0]}),
        }[ending]()
        (tmp_path / f"{name}{ending}").write_bytes(written if isinstance(written, bytes) else written.encode())
    assert len(read_corpus(tmp_path / f"most{ending}").extra) == 998
    with pytest.raises(ValueError, match=r"more.*1,001 columns.*1,000"):
        read_corpus(tmp_path / f"more{ending}")


# --- queueing --------------------------------------------------------------------------------------------------


def test_each_visitor_has_one_reader_and_a_third_visitor_sees_that_all_are_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each process marks its start with a file, and ends when a second file appears."""
    program = (
        "import sys, time; from pathlib import Path\n"
        "begun = Path(sys.argv[1]) / Path(sys.argv[3]).name; begun.touch()\n"
        "while not begun.with_suffix('.end').exists(): time.sleep(0.01)"
    )
    monkeypatch.setattr(untrusted, "PROGRAM", (sys.executable, "-c", program, str(tmp_path)))

    def bring(visitor: str, name: str) -> Future[Any]:
        return pool.submit(corpus_apart, f"{name}.parquet", b"", LIMIT, visitor=visitor, seconds=60)

    def begun() -> set[str]:
        return {path.stem for path in tmp_path.glob("*.parquet")}

    with ThreadPoolExecutor(4) as pool:
        bring("ann", "first")
        until(lambda: begun() == {"first"})
        bring("ann", "second")
        time.sleep(0.5)
        assert begun() == {"first"}
        assert not untrusted.busy()
        bring("bob", "his")
        until(lambda: begun() == {"first", "his"})
        assert untrusted.busy()
        (tmp_path / "first.end").touch()
        until(lambda: begun() == {"first", "his", "second"})
        bring("carol", "hers")
        for name in ("second", "his", "hers"):
            (tmp_path / f"{name}.end").touch()
    assert begun() == {"first", "second", "his", "hers"}
    assert not untrusted.busy()


@pytest.mark.skipif(not Path("/proc/self/statm").is_file(), reason="needs a system that limits memory")
def test_within_memory_reports_excess_memory_and_restores_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)
    with pytest.raises(ValueError, match=r"mine\.csv.*GB"), within_memory("mine.csv"):
        bytes(2**46)
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    assert len(bytes(2**26)) == 2**26
