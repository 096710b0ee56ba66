"""A folder of one's own: a kernel with a cusp, a study of two kernels, and its paper."""

from pathlib import Path

KERNEL = '''"""A kernel with a cusp."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from scipy.spatial.distance import cdist

from hierlearn.core.parameters import Positive
from hierlearn.core.protocols import Kernel


@dataclass(frozen=True, kw_only=True)
class Cusp(Kernel):
    """K(x, z) = exp(-|x - z| / b)."""

    bandwidth: Annotated[Positive, "Length b."] = 1.0

    def __call__(self, x, z=None, dtype=np.float64):
        """exp(-|x - z| / b)."""
        return np.exp(-cdist(x, x if z is None else z) / self.bandwidth).astype(dtype)

    def profile(self, t):
        """exp(-sqrt(2 - 2 t) / b)."""
        return np.exp(-np.sqrt(2 - 2 * np.minimum(t, 1)) / self.bandwidth)
'''
STUDY = """
title: A kernel with a cusp
paper: own2026
place: Section 1
summary: Two kernels.
problem:
  input: {name: sphere}
  teacher: {name: ridge_polynomial, degree: 2}
axes: {dimension: [3, 4, 5]}
seeds: 2
points: {validation: 30, test: 40}
samples: {thresholds: [0.5]}
learners:
  mine: {label: Cusp, learner: {name: kernel_ridge, kernel: {name: cusp}}, select: {ridge: [0.1]}, samples: {at: [16]}}
  ntk: {label: NTK, learner: {name: kernel_ridge, kernel: {name: ntk}}, select: {ridge: [0.1]}, samples: {at: [16]}}
figure: {name: sample_complexity}
"""
PAPERS = "own2026: {title: A cusp, authors: Nobody, year: 2026}\n"


def write(folder: Path, claims: str = "") -> None:
    """The folder with its files. claims: the last lines of its study."""
    files = {"kernels/cusp.py": KERNEL, "studies/own2026-cusp.yaml": STUDY + claims, "papers.yaml": PAPERS}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
