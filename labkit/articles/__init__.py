"""Articles to triplets by the rules of thematic triplets; where articles come from, and what the rules remove."""

from labkit.articles.funnel import Funnel
from labkit.articles.making import triplets_and_funnel, triplets_of, write_triplets
from labkit.articles.rules import eligible
from labkit.articles.triplets import RULES, Plan

__all__ = ["RULES", "Funnel", "Plan", "eligible", "triplets_and_funnel", "triplets_of", "write_triplets"]
