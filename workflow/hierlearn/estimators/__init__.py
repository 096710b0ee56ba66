"""Models of the papers as scikit-learn estimators: `fit(X, y)`, `predict(X)`, with scikit-learn's words."""

from hierlearn.estimators.kernels import NTKClassifier, NTKRegressor
from hierlearn.estimators.representations import NeuralRepresentation
from hierlearn.estimators.taylor import TaylorClassifier, TaylorRegressor

__all__ = ["NTKClassifier", "NTKRegressor", "NeuralRepresentation", "TaylorClassifier", "TaylorRegressor"]
