"""Every estimator passes all of scikit-learn's checks, none of them expected to fail."""

import os
import subprocess
import sys
import warnings

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from hierlearn import estimators
from hierlearn.core.registry import PACKAGE

# Small settings: the checks fit hundreds of times. The first of a class stands for it in `make test`, if it is one of
# FIRST; the rest are for `make test-all`.
SETTINGS = {
    "ConvolutionalClassifier": [{"width": 8, "max_iter": 40, "learning_rate": 0.05}],
    "ConvolutionalKernelClassifier": [{"width": 4}],
    "ConvolutionalKernelRegressor": [{"width": 4}],
    "ConvolutionalRegressor": [{"width": 8, "max_iter": 80, "learning_rate": 0.05}],
    "NTKClassifier": [{}, {"n_landmarks": 8}],
    "NTKRegressor": [{}, {"depth": 3, "trained": "last", "cv": 3}],
    "NeuralRepresentation": [{}, {"whiten": "full", "n_components": 16}, {"whiten": "none", "n_components": 16}],
    "QuadraticDenseNetClassifier": [{"width": 8, "max_iter": 20, "learning_rate": 0.01}],
    "QuadraticDenseNetRegressor": [
        {"width": 8, "max_iter": 20, "learning_rate": 0.01},
        {"width": 8, "max_iter": 20, "schedule": "joint", "depth": 2},
        {"width": 8, "max_iter": 20, "schedule": "layerwise"},
    ],
    "RandomisedNetworkClassifier": [{"width": 16, "max_iter": 60, "alphas": 1e-3}],
    "RandomisedNetworkRegressor": [{"width": 16, "alphas": 1e-3}],
    "ResidualNetworkClassifier": [{"width": 16, "max_iter": 30, "learning_rate": 0.01}],
    "ResidualNetworkRegressor": [{"width": 16, "max_iter": 30, "learning_rate": 0.01}],
    "TaylorClassifier": [{"width": 16}, {"width": 16, "loss": "logistic"}, {"order": 1, "width": 16}],
    "TaylorizedClassifier": [{"width": 4, "order": 1, "alphas": 1e-3}],
    "TaylorizedRegressor": [
        {"width": 4, "order": 1, "alphas": 1e-3},
        {"width": 4, "max_iter": 15, "alphas": 1e-3},
    ],
    "TaylorRegressor": [{"width": 16}, {"order": 1, "width": 16}, {"order": 3, "width": 16}],
}
# One class for each base.
FIRST = (
    "ConvolutionalKernelRegressor",
    "NTKClassifier",
    "NeuralRepresentation",
    "QuadraticDenseNetRegressor",
    "ResidualNetworkRegressor",
    "TaylorRegressor",
    "TaylorizedRegressor",
)


def test_every_estimator_is_checked():
    assert sorted(SETTINGS) == sorted(estimators.__all__)


def cases() -> list:
    found = []
    for name, settings in SETTINGS.items():
        for number, given in enumerate(settings):
            slow = [] if name in FIRST and number == 0 else [pytest.mark.slow]
            words = "-".join([name, *(f"{key}={value}" for key, value in given.items())])
            estimator = getattr(estimators, name)(**given)
            # Legacy: checks of arguments that scikit-learn's own estimators pass too.
            for checked, check in estimator_checks_generator(estimator, legacy=True, mark=None):
                name_of_check = getattr(check, "func", check).__name__
                found.append(pytest.param(checked, check, id=f"{words}-{name_of_check}", marks=slow))
    return found


@pytest.mark.parametrize("estimator, check", cases())
def test_it_passes_the_check(estimator, check):
    with warnings.catch_warnings():
        # Data of the checks are smaller than what a ridge or a covariance needs.
        warnings.simplefilter("ignore")
        check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize("name", FIRST)
def test_it_passes_with_the_array_api_of_scipy(name):
    program = (
        "import warnings; warnings.simplefilter('ignore')\n"
        "from sklearn.utils.estimator_checks import check_estimator\n"
        f"from hierlearn.estimators import {name}\n"
        f"print({{one['status'] for one in check_estimator({name}(**{SETTINGS[name][0]}))}})"
    )
    environment = os.environ | {"SCIPY_ARRAY_API": "1", "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout == "{'passed'}\n", done.stderr
