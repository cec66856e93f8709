"""The tables of the five papers, one module each, with recipes for their rows; and our own question (`why`).

PAPERS["film"].tables    tables("sentpwnet/2")    nothing here is opened by `import labkit`
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from labkit.papers.published import film, pthought, sbert_lp, sentpwnet, thematic, why
from labkit.papers.records import Paper, Table

PAPERS: dict[str, Paper] = {
    module.PAPER.name: module.PAPER for module in (sentpwnet, thematic, sbert_lp, pthought, film, why)
}


def tables(wanted: str = "", papers: Mapping[str, Paper] = PAPERS) -> list[Table]:
    """All tables, those of a paper ("film"), or one ("film/2"). Hyphens and case in names are ignored."""
    every = {table.name: table for paper in papers.values() for table in paper.tables}
    if not wanted:
        return list(every.values())
    names = {_plain(name): name for name in (*every, *papers)}
    if _plain(wanted) not in names:
        near = get_close_matches(_plain(wanted), names, n=1, cutoff=0.3)
        hint = f"did you mean {names[near[0]]!r}?" if near else f"the papers are {', '.join(papers)}"
        raise ValueError(f"there is no table {wanted!r}, expected PAPER or PAPER/TABLE; {hint}")
    name = names[_plain(wanted)]
    return [every[name]] if name in every else list(papers[name].tables)


def _plain(name: str) -> str:
    return name.strip().strip("/").lower().replace("-", "")
