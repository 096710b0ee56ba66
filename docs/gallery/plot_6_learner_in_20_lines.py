"""
Write a learner in 20 lines
===========================

A learner is a class with `fit` and `predict`. Write it as a scikit-learn estimator, and compare it with the models of
the papers on the same rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import RidgeCV

import hierlearn
from hierlearn.datasets import make_ridge_polynomial


class RandomFeatures(RegressorMixin, BaseEstimator):
    """A wide network whose first layer stays random."""

    def __init__(self, width=300, random_state=0):
        self.width = width
        self.random_state = random_state

    def fit(self, X, y):
        generator = np.random.default_rng(self.random_state)
        self.weights_ = generator.standard_normal((X.shape[1], self.width))
        self.readout_ = RidgeCV(np.geomspace(1e-4, 10, 11)).fit(self._features(X), y)
        return self

    def predict(self, X):
        return self.readout_.predict(self._features(X))

    def _features(self, X):
        return np.maximum(X @ self.weights_, 0) / np.sqrt(self.width)


# %%
# `compare` splits the rows, trains every learner at growing sizes, and counts the rows that each needs.
X, y = make_ridge_polynomial(600, n_features=8, degree=2, random_state=0)
found = hierlearn.compare(X, y, [("random features", RandomFeatures()), "ntk", "ridge"], splits=3)
print(found)

# %%
# Its learning curves. `found.plot("comparison.svg")` writes a picture with intervals.
figure, axes = plt.subplots(figsize=(6, 4))
for name in found.learners:
    axes.loglog(found.sizes, found.mean(name), "o-", label=name)
axes.set(xlabel="training rows", ylabel="1 - R²", title="Your learner beside the tangent kernel and a line")
axes.legend(frameon=False)
plt.show()

# %%
# To use your learner in studies, with claims and figures, make it a component: ``hierlearn new learner mine --folder
# ../mine`` writes a file that works.
