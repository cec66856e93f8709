"""Captions of pictures (five people describe one picture, so their sentences mean the same), and what is no sentences:
Wikipedia's dump and the GloVe vectors, of which labkit only knows where they are."""

from __future__ import annotations

import json
from pathlib import Path

from labkit.corpora.published.official import Published, Rows, Source, found, lines, table_of, within


def coco(folder: Path) -> Rows:
    """`captions_val2017.json`: {"annotations": [{"image_id", "id", "caption"}, ...]}; some captions hold line ends."""
    path = found(folder, "captions_val2017.json")
    try:
        captions = json.loads(path.read_bytes())["annotations"]
        rows = [(str(caption["image_id"]), " ".join(caption["caption"].split())) for caption in captions]
    except (ValueError, KeyError, TypeError, AttributeError) as reason:
        raise ValueError(f"{path.name} is not a COCO file of captions ({reason!r}); fetch the set again") from None
    for picture, text in rows:
        yield within(folder, path), {"group": picture, "text": text}


_SPLITS = {"train": "train", "val": "dev", "test_2016": "test"}


def multi30k(folder: Path) -> Rows:
    """`{train,val,test_2016}.{1..5}.en.gz`: five files of one caption a line; line n of each describes picture n."""
    for name, split in _SPLITS.items():
        paths = [found(folder, f"{name}.{number}.en.gz", f"{name}.{number}.en") for number in range(1, 6)]
        for picture, captions in enumerate(zip(*map(lines, paths), strict=False)):
            for path, caption in zip(paths, captions, strict=True):
                yield within(folder, path), {"group": f"{name}-{picture}", "text": caption.strip(), "split": split}


# --- records ---------------------------------------------------------------------------------------------------

GROUPS = table_of(
    Published(
        name="coco", shape="Groups", title="COCO: 5,000 pictures with five captions each (val2017)",
        licence="captions CC BY 4.0; the pictures are under Flickr's terms and not needed here",
        citation="Chen et al. (2015): Microsoft COCO Captions, arXiv:1504.00325", parse=coco,
        sources=(
            Source(
                "http://images.cocodataset.org/annotations/annotations_trainval2017.zip", size=252_907_541,
                sha256="113a836d90195ee1f884e704da6304dfaaecff1f023f49b6ca93c4aaae470268",
                only=("captions_val2017.json",),
            ),
        ),
        rows={"captions_val2017.json": 25_014}, note="No splits of its own; a picture has at least five captions.",
    ),
    Published(
        name="flickr30k", shape="Groups", title="Flickr30k captions, five a picture, as Multi30k divides them",
        licence="captions CC BY 3.0 by the authors of Flickr30k; Multi30k states none",
        citation="Young et al. (2014): From image descriptions to visual denotations, TACL; Elliott et al. (2016)",
        parse=multi30k,
        sources=tuple(
            Source(f"https://raw.githubusercontent.com/multi30k/dataset/master/data/task2/raw/{name}.{number}.en.gz")
            for name in _SPLITS
            for number in range(1, 6)
        ),
        rows={
            f"{name}.{number}.en*": count
            for name, count in (("train", 29_000), ("val", 1_014), ("test_2016", 1_000))
            for number in range(1, 6)
        },
    ),
    Published(
        name="wikipedia", shape="Articles", title="Wikipedia articles with their sections",
        licence="CC BY-SA 4.0 and GFDL", citation="Wikipedia contributors; dumps by the Wikimedia Foundation",
        sources=(
            Source("https://dumps.wikimedia.org/simplewiki/latest/simplewiki-latest-pages-articles.xml.bz2"),
        ),
        note="The address is the dump of Simple English Wikipedia, made anew twice a month; that of the whole is "
        "https://dumps.wikimedia.org/enwiki/latest/enwiki-latest-pages-articles.xml.bz2, more than 20 GB. labkit reads "
        "articles in the plain form only.",
    ),
    Published(
        name="glove", shape="vectors", title="GloVe word vectors of 6 billion words (50, 100, 200, 300 dimensions)",
        licence="Public Domain Dedication and License 1.0",
        citation="Pennington, Socher and Manning (2014): GloVe, EMNLP",
        sources=(
            Source(
                "https://nlp.stanford.edu/data/glove.6B.zip", size=862_182_613, limit=3 * 2**30,
                sha256="617afb2fe6cbd085c235baf7a465b96f4112bd7f7ccb2b2cbd649fed9cbcf2fb",
            ),
        ),
        note="No corpus: `labkit.vectors.load_vectors` reads its files.",
    ),
)  # fmt: skip
