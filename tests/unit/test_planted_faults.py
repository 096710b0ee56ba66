"""The list of planted faults keeps up with the code: every one can be planted, and there are some in every room."""

import ast

import pytest
from planted_faults import FAULTS, ROOT, place, sources

TEXTS = sources(ROOT)
PACKAGE = ROOT / "workflow" / "hierlearn"
ROOMS = sorted(file.parent.name for part in (PACKAGE, PACKAGE / "pipeline") for file in part.glob("*/__init__.py"))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["fault"])
def test_a_fault_can_be_planted_and_names_tests(fault):
    file = place(TEXTS, fault["old"])
    changed = TEXTS[file].replace(fault["old"], fault["new"])
    ast.parse(changed)
    for name in fault["tests"]:
        assert list((ROOT / "tests").rglob(name)), name


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_a_planted_fault(room):
    assert any(room in place(TEXTS, fault["old"]).parts for fault in FAULTS)
