"""Designs are nested: a later one at standard has every seed, size, point and grid value of an earlier one."""

import copy
from dataclasses import replace

import pytest
from small_study import put, study_of

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.command import design_sizes
from hierlearn.pipeline.plan import checking

ROOT = PACKAGE.parents[1]
RECORDS = ROOT / "docs" / "records"


def small(content, preset="standard"):
    return replace(study_of(content, "small", "small.yaml", "quick"), preset=preset)


@pytest.fixture
def folder(content, tmp_path):
    design_sizes.write(tmp_path / design_sizes.FILE, {"small": design_sizes.held(small(content))})
    return tmp_path


def told(content, folder, preset="standard"):
    return [str(fault) for fault in design_sizes.smaller_designs(small(content, preset), folder)]


def test_a_design_holds_what_its_claims_rest_on(content):
    held = design_sizes.held(small(content))
    assert held["seeds"] == 2
    assert held["learners.kernel.axes.dimension"] == [3, 4]
    assert held["learners.kernel.samples"] == [2, 3, 4, 5, 6, 7, 8, 10, 11, 13, 16]
    assert held["learners.kernel.grid.ridge"] == [0.01, 0.1]
    assert held["claims.C1-kernel.quantity.sizes"] == [3, 4, 5]
    assert held["probes.theory.axes.dimension"] == [4, 8, 16]


def test_the_same_design_and_a_larger_one_are_taken(content, folder):
    assert told(content, folder) == []
    larger = put(put(content, "seeds", 5), "learners.kernel.select.ridge", [1, 0.1, 0.01, 0.001])
    assert told(put(larger, "learners.kernel.samples.cap", 64), folder) == []


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("seeds", 1, "small.yaml: seeds: found 1; expected at least 2, as registered before; what must shrink is"),
        ("learners.kernel.samples.cap", 8, "learners.kernel.samples: found no 10, 11, 13, 16; expected every value"),
        ("learners.kernel.select.ridge", [0.1, 1], "learners.kernel.grid.ridge: found no 0.01; expected every value"),
        ("claims.C1-kernel.quantity.sizes", [3, 4], "claims.C1-kernel.quantity.sizes: found no 5; expected every"),
        ("probes.theory.axes.dimension", [4, 8], "probes.theory.axes.dimension: found no 16; expected every value"),
    ],
)
def test_a_design_that_shrinks_is_refused_in_one_line(content, folder, path, value, message):
    (line,) = told(put(content, path, value), folder)
    assert message in line


def test_what_is_gone_is_named(content, folder):
    changed = copy.deepcopy(content)
    del changed["learners"]["kernel"]["select"]["ridge"]
    (line,) = told(changed, folder)
    assert "learners.kernel.grid.ridge: found nothing; expected 0.01, 0.1, which the design registered before" in line


def test_other_presets_and_folders_without_records_are_not_asked(content, folder, tmp_path_factory):
    fewer = put(content, "seeds", 1)
    assert told(fewer, folder, "quick") == []
    assert told(fewer, tmp_path_factory.mktemp("none")) == []


def test_a_registered_design_takes_the_place_of_the_one_before(content, folder, tmp_path_factory):
    more = small(put(content, "seeds", 5))
    design_sizes.keep([more], folder)
    assert design_sizes.read(folder / design_sizes.FILE) == {"small": design_sizes.held(more)}
    none = tmp_path_factory.mktemp("none")
    design_sizes.keep([more], none)
    assert list(none.iterdir()) == []


def test_the_shipped_designs_lack_nothing_of_those_registered_before():
    designs = design_sizes.read(RECORDS / design_sizes.FILE)
    assert {file.stem for file in (ROOT / "config" / "studies").glob("*.yaml")} >= set(designs)
    for name in designs:
        study = checking.load_study(ROOT / "config" / "studies" / f"{name}.yaml", design_sizes.PRESET)
        assert list(map(str, design_sizes.smaller_designs(study, RECORDS))) == []
