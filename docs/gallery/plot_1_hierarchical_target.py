"""
Learn a hierarchical target
===========================

A polynomial of degree 4 is a square of a square. *Quad-Neural* learns it in two steps: fixed random features take the
first square, and a trained quadratic model takes the second. A tangent kernel (NTK) has to learn it in one step.

Both models get the same points. The risk is the squared error on fresh points over that of the zero predictor.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.pipeline import make_pipeline

from hierlearn.datasets import make_ridge_polynomial
from hierlearn.estimators import NeuralRepresentation, NTKRegressor, TaylorRegressor

X, y = make_ridge_polynomial(2000, n_features=10, degree=4, random_state=0)
X_test, y_test = X[1000:], y[1000:]


def risk(model, n):
    """Return the risk of a model that is fitted to the first n points."""
    return np.mean((model.fit(X[:n], y[:n]).predict(X_test) - y_test) ** 2) / np.mean(y_test**2)


# %%
# Quad-Neural is a pipeline of two estimators. The NTK is one.
quad_neural = make_pipeline(
    NeuralRepresentation(256, n_directions=65, random_state=0), TaylorRegressor(order=2, random_state=0)
)
ntk = NTKRegressor(depth=3)
samples = [200, 350, 600, 1000]
curves = {"Quad-Neural": [risk(quad_neural, n) for n in samples], "NTK": [risk(ntk, n) for n in samples]}

# %%
# With 1000 points Quad-Neural has learned the target, and the NTK has hardly begun.
figure, axes = plt.subplots(figsize=(6, 4))
for name, risks in curves.items():
    axes.loglog(samples, risks, "o-")
    axes.annotate(name, (samples[-1], risks[-1]), xytext=(6, 0), textcoords="offset points", va="center")
axes.set(xlabel="labelled samples n", ylabel="risk", title="Quad-Neural learns degree 4 first", xlim=(180, 2000))
plt.show()
