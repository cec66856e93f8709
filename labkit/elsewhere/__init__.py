"""Pictures made in a process of their own, one after the other, so that a server with many visitors goes on answering.

owner     starts the process at the first order, or before anybody waits for it; ends it
worker    what runs in that process
parcels   rows on their way there, pictures on their way back: files of arrays, nothing is pickled

UMAP compiles when it is first used, and two at once in one process abort it. There it compiles once, in a process that
lives as long as its owner.
"""

from labkit.elsewhere.owner import Elsewhere

__all__ = ["Elsewhere"]
