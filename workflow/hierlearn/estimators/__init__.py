"""Models of the papers as scikit-learn estimators: `fit(X, y)`, `predict(X)`, with scikit-learn's words."""

from hierlearn.estimators.densenets import QuadraticDenseNetClassifier, QuadraticDenseNetRegressor
from hierlearn.estimators.kernels import NTKClassifier, NTKRegressor
from hierlearn.estimators.networks import (
    RandomisedNetworkClassifier,
    RandomisedNetworkRegressor,
    ResidualNetworkClassifier,
    ResidualNetworkRegressor,
)
from hierlearn.estimators.pictures import (
    ConvolutionalClassifier,
    ConvolutionalKernelClassifier,
    ConvolutionalKernelRegressor,
    ConvolutionalRegressor,
)
from hierlearn.estimators.representations import NeuralRepresentation
from hierlearn.estimators.taylor import TaylorClassifier, TaylorRegressor
from hierlearn.estimators.taylorized import TaylorizedClassifier, TaylorizedRegressor

__all__ = [
    "ConvolutionalClassifier",
    "ConvolutionalKernelClassifier",
    "ConvolutionalKernelRegressor",
    "ConvolutionalRegressor",
    "NTKClassifier",
    "NTKRegressor",
    "NeuralRepresentation",
    "QuadraticDenseNetClassifier",
    "QuadraticDenseNetRegressor",
    "RandomisedNetworkClassifier",
    "RandomisedNetworkRegressor",
    "ResidualNetworkClassifier",
    "ResidualNetworkRegressor",
    "TaylorClassifier",
    "TaylorRegressor",
    "TaylorizedClassifier",
    "TaylorizedRegressor",
]
