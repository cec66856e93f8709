"""Bundled runs and pictures: small runs of every method, and pictures of them and of baseline vectors.

`runs` lists the runs, `pictures` reads the pictures, and `making` measures and rebuilds both, and the data cards.
"""

from labkit.shipped.pictures import Origin, picture, pictured
from labkit.shipped.runs import DEMONSTRATIONS, Demonstration, Standing, standing

__all__ = ["DEMONSTRATIONS", "Demonstration", "Origin", "Standing", "picture", "pictured", "standing"]
