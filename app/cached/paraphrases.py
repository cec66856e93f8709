"""What the page "Paraphrases" keeps: groups of test, a handful of them in the plane, and how well they cohere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cached.keeping import kept
from labkit.corpora import Corpus

if TYPE_CHECKING:
    from labkit.method import Method
    from labkit.projection import Projection
    from labkit.pthought.view import Companions, Handful


@kept(show_spinner="Reading the groups …")
def paraphrase_groups(_corpus: Corpus, key: str) -> list[list[str]]:
    """The groups of test, each of sentences that mean the same."""
    from labkit.pthought.task import groups_of

    return groups_of(_corpus.part("test"))


@kept(show_spinner="Encoding the groups …")
def group_plane(_method: Method, method: str, _shown: Handful, shown: tuple[Any, ...], how: str) -> Projection:
    """A handful of groups in the plane of a method's vectors."""
    from labkit.pthought.view import plane

    return plane(_method.encode(list(_shown.texts)), how)


@kept(show_spinner="Encoding all groups …")
def companions(_method: Method, method: str, _groups: list[list[str]], groups: str) -> Companions:
    """P-coherence of a method on all groups, with its companions."""
    from labkit.pthought.view import companions

    texts = [text for group in _groups for text in group]
    return companions(_method.encode(texts, 256), [number for number, group in enumerate(_groups) for _ in group])
