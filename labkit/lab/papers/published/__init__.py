"""What the five papers print, each in its module, and how each row is recomputed.

PAPERS["film"].tables    tables("sentpwnet/2")    nothing here is opened by `import labkit`
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from labkit.lab.papers.published import film, pthought, sbert_lp, sentpwnet, thematic
from labkit.lab.papers.records import Paper, Table

PAPERS: dict[str, Paper] = {
    module.PAPER.name: module.PAPER for module in (sentpwnet, thematic, sbert_lp, pthought, film)
}


def tables(wanted: str = "", papers: Mapping[str, Paper] = PAPERS) -> list[Table]:
    """All tables; those of a paper ("film"), or one of them ("film/2"). Hyphens and case are nothing to a name."""
    every = {table.name: table for paper in papers.values() for table in paper.tables}
    if not wanted:
        return list(every.values())
    names = {_plain(name): [name] for name in every}
    names |= {_plain(paper.name): [table.name for table in paper.tables] for paper in papers.values()}
    if _plain(wanted) not in names:
        near = get_close_matches(_plain(wanted), names, n=1, cutoff=0.3)
        hint = f"did you mean {_shown(near[0], names, papers)!r}?" if near else f"the papers are {', '.join(papers)}"
        raise ValueError(f"there is no table {wanted!r}, expected PAPER or PAPER/TABLE; {hint}")
    return [every[name] for name in names[_plain(wanted)]]


def _plain(name: str) -> str:
    return name.strip().strip("/").lower().replace("-", "")


def _shown(plain: str, names: Mapping[str, list[str]], papers: Mapping[str, Paper]) -> str:
    return next((paper for paper in papers if _plain(paper) == plain), names[plain][0])
