"""Finding and building components."""

import re
import subprocess
import sys

import pytest

from hierlearn.core import registry
from hierlearn.core.registry import PACKAGE, available, build, components_in, defaults, parameters
from hierlearn.kernels.ntk import Ntk
from hierlearn.learners.densenets import parameters as densenets
from hierlearn.learners.networks import runs


def test_helper_modules_are_no_components():
    assert "ntk_raw" in available("kernels")
    assert not [name for kind in registry.KINDS for name in available(kind) if name.startswith("_")]


def test_a_component_is_built_with_its_defaults_and_what_is_given():
    assert build("kernels", {"name": "ntk", "depth": 5}) == Ntk(depth=5, trained="all", bias=True)
    assert build("inputs", {"name": "sphere"}, dimension=9).dimension == 9


def test_a_component_inside_a_component_is_built_too():
    learner = build("learners", {"name": "kernel_ridge", "kernel": {"name": "ntk", "depth": 4}})
    assert learner.kernel == Ntk(depth=4)
    lines = {"a": {"name": "ntk"}, "b": {"name": "rbf"}}
    probe = build("probes", {"name": "deterministic_equivalent", "lines": lines})
    assert probe.lines["a"] == Ntk()
    assert type(probe.lines["b"]).__name__ == "Rbf"


def test_building_changes_no_description():
    description = {"name": "kernel_ridge", "kernel": {"name": "ntk"}}
    build("learners", description)
    assert description == {"name": "kernel_ridge", "kernel": {"name": "ntk"}}


def test_nested_components_are_named_with_their_defaults():
    found = list(components_in("learners", {"name": "kernel_ridge"}))
    assert found == [("learners", "kernel_ridge"), ("kernels", "ntk_raw")]
    lines = {"a": {"name": "ntk"}, "b": {"name": "rbf"}}
    found = list(components_in("probes", {"name": "deterministic_equivalent", "lines": lines}))
    assert found == [("probes", "deterministic_equivalent"), ("kernels", "ntk"), ("kernels", "rbf")]


HEAVY = ("torch", "scipy.linalg", "scipy.special", "matplotlib", "xarray", "netCDF4", "sklearn", "pandas")


def test_declarations_of_components_load_no_heavy_library():
    code = (
        "import sys; from hierlearn.core import registry;"
        "[registry.parameters(kind, name) for kind in registry.KINDS for name in registry.available(kind)];"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent, text=True, capture_output=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_number_of_another_file_may_stand_in_a_text():
    for name, points in (("network", runs.TRACED_POINTS), ("densenet", densenets.TRACED_POINTS)):
        assert f"at most {points} training points" in registry.implementation("learners", name).TRACES["train_loss"]


def test_a_parameter_without_a_default_has_none():
    assert "learner" in parameters("quantities", "exponent")
    assert "learner" not in defaults("quantities", "exponent")


def test_an_unknown_parameter_is_an_error():
    with pytest.raises(ValueError, match="depht"):
        build("kernels", {"name": "ntk", "depht": 3})


@pytest.mark.parametrize(
    ("kind", "description", "said"),
    [
        (
            "inputs",
            {"name": "sphere", "x": 1, "dimension": 4},
            "sphere: found an unknown parameter 'x'; expected dimension",
        ),
        ("inputs", {"name": "sphere"}, "sphere: found no dimension; expected dimension"),
        ("kernels", {"depth": 2}, "kernels: found no name; expected one of arccos"),
    ],
)
def test_a_description_with_too_much_or_too_little_is_one_line(kind, description, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}") as error:
        build(kind, description)
    assert "\n" not in str(error.value)
