"""Comparisons of learners on arrays: learning curves with intervals, rows needed for an error, a table, a figure."""

from hierlearn.comparison.compare import compare
from hierlearn.comparison.learners import WORDS
from hierlearn.comparison.result import Comparison

__all__ = ["WORDS", "Comparison", "compare"]
