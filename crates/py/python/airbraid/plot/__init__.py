"""Plots by matplotlib. Each file says what it was made from: scenario hashes, commit, seeds, level of the intervals."""

from .figure import Figure, provenance
from .runs import frames, time_sequence
from .space import topology
from .statistics import cdf, heat_map, lines

__all__ = ["Figure", "cdf", "frames", "heat_map", "lines", "provenance", "time_sequence", "topology"]
