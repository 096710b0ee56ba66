"""Finding and building components."""

import re
import subprocess
import sys

import numpy as np
import pytest

from hierlearn.core import registry
from hierlearn.core.registry import PACKAGE, available, build, components_in, defaults, parameters
from hierlearn.kernels.ntk import Ntk
from hierlearn.learners.densenets import parameters as densenets
from hierlearn.learners.networks import runs


def test_helper_modules_are_no_components():
    assert "ntk_raw" in available("kernels")
    assert not [name for kind in registry.KINDS for name in available(kind) if name.startswith("_")]


def test_every_public_class_of_a_family_is_a_component():
    assert registry.path("quantities", "score_mean").name == registry.path("quantities", "failure_rate").name
    for name in available("quantities"):
        found = registry.implementation("quantities", name)
        assert found.__module__ == f"hierlearn.pipeline.quantities.{registry.path('quantities', name).stem}"
    assert not {"scores", "mean", "score", "log_ratio"} & set(available("quantities"))


def test_a_family_is_read_and_not_imported():
    code = (
        "import sys; from hierlearn.core import registry; registry.available('quantities');"
        "print([name for name in sys.modules if name.startswith('hierlearn.pipeline.quantities.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent, text=True, capture_output=True, check=True)
    assert done.stdout.strip() == "[]"


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
        ("inputs", {"name": "sphere", 3: 4, "x": 1}, "sphere: found an unknown parameter 3; expected dimension"),
        ("kernels", {"depth": 2}, "kernels: found no name; expected one of arccos"),
        ("kernels", {"name": ["rbf"]}, "kernels: found ['rbf']; expected one of arccos"),
        ("kernels", {"name": None}, "kernels: found None; expected one of arccos"),
        ("kernels", {"name": b"rbf"}, "kernels: found b'rbf'; expected one of arccos"),
        ("kernel", {"name": "rbf"}, "kind of component: found 'kernel'; expected one of figures, inputs, kernels"),
        ("", {"name": "rbf"}, "kind of component: found ''; expected one of figures"),
        (None, {"name": "rbf"}, "kind of component: found None; expected one of figures"),
        (["kernels"], {"name": "rbf"}, "kind of component: found ['kernels']; expected one of figures"),
    ],
)
def test_a_description_with_too_much_or_too_little_is_one_line(kind, description, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}") as error:
        build(kind, description)
    assert "\n" not in str(error.value)


def test_a_kind_with_a_slip_is_told_the_nearest_one():
    with pytest.raises(ValueError, match=r"\(nearest: kernels\)$"):
        build("kernel", {"name": "rbf"})
    with pytest.raises(ValueError, match=r"\(nearest: teachers\)$"):
        available("teacher")


# What is no mapping, and what Python makes a mapping of.
NO_MAPPINGS = [None, 3, "rbf", "", b"rbf", ["rbf"], [], [("name", "rbf")], {"rbf"}, Ntk(), Ntk]


@pytest.mark.parametrize("given", NO_MAPPINGS, ids=repr)
def test_what_is_no_mapping_is_no_description_wherever_it_stands(given):
    expected = "; expected a mapping with a name, one of arccos"
    lines = {"name": "deterministic_equivalent", "lines": {"a": {"name": "ntk"}, "b": given}}
    for kind, description, place in (
        ("kernels", given, "kernels"),
        ("learners", {"name": "kernel_ridge", "kernel": given}, "kernel_ridge: kernel"),
        ("probes", lines, "deterministic_equivalent: lines.b"),
    ):
        with pytest.raises(ValueError, match=f"^{place}: found ") as error:
            build(kind, description)
        assert expected in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize("given", [*NO_MAPPINGS, {3: {"name": "rbf"}}], ids=repr)
def test_components_by_label_are_a_mapping_of_texts(given):
    expected = "^deterministic_equivalent: lines: found .*; expected a mapping of labels to kernels$"
    with pytest.raises(ValueError, match=expected):
        build("probes", {"name": "deterministic_equivalent", "lines": given})


def test_a_component_inside_a_component_is_refused_with_its_place():
    with pytest.raises(ValueError, match=r"^kernel_ridge: kernel: found 'rfb'; .*\(nearest: rbf\)$"):
        build("learners", {"name": "kernel_ridge", "kernel": {"name": "rfb"}})


@pytest.mark.parametrize("name", available("inputs"))
@pytest.mark.parametrize(
    "given", [0, -1, 3.0, True, None, "4", [4], float("nan"), np.float64(4), np.zeros(2)], ids=repr
)
def test_a_dimension_is_an_integer_of_at_least_one(name, given):
    with pytest.raises(ValueError, match=f"^{name}: dimension .*; expected an integer of at least 1$"):
        build("inputs", {"name": name}, dimension=given)


def test_a_dimension_may_be_an_integer_of_numpy_but_is_given_once():
    assert build("inputs", {"name": "sphere", "dimension": np.int64(4)}).dimension == 4
    with pytest.raises(ValueError, match=r"^sphere: found dimension twice, 4 and 5; expected it once$"):
        build("inputs", {"name": "sphere", "dimension": 4}, dimension=5)
