"""The study that dry runs are measured on is one."""

import shutil
from pathlib import Path

from hierlearn.pipeline.plan.configuration import configure

ROOT = Path(__file__).parents[2]


def test_the_study_of_ten_thousand_cells_is_sound(tmp_path):
    (tmp_path / "studies").mkdir()
    shutil.copy(ROOT / "benchmarks" / "cells.yaml", tmp_path / "studies" / "chen2020-cells.yaml")
    study = configure({"preset": "quick"}, Path("none"), tmp_path / "studies").studies["chen2020-cells"]
    assert len(study.learners) * len(study.axes["dimension"]) * 8 * len(study.seeds) == 10_000
