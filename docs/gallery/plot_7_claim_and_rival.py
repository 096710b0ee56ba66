"""
State a claim, and try to break it
==================================

A number that agrees with a theory says little if a wrong theory would agree too. So a *claim* has a prediction,
an interval, and a *rival*: the nearest thing for which the claim should be false. The claim passes
only if its rival fails.

Claim: the tangent kernel needs about d² samples for a polynomial of degree 2; its exponent is at least 1.5.
Rival: the same kernel on a polynomial of degree 1.
"""

import matplotlib.pyplot as plt
import numpy as np

from hierlearn.datasets import make_ridge_polynomial
from hierlearn.estimators import NTKRegressor
from hierlearn.statistics import fit_exponent, sample_complexity

dimensions = [5, 6, 8, 10, 12, 15]
sizes = np.unique(np.geomspace(3, 900, 22).astype(int))


def exponent(degree):
    """Return the exponent of n* of the kernel on a polynomial of a degree."""
    risks = np.empty((len(dimensions), 5, len(sizes)))
    for i, d in enumerate(dimensions):
        for seed in range(5):
            X, y = make_ridge_polynomial(1900, n_features=d, degree=degree, random_state=seed)
            fits = (NTKRegressor(alphas=[1e-3], fit_intercept=False).fit(X[:n], y[:n]) for n in sizes)
            risks[i, seed] = [np.mean((fit.predict(X[900:]) - y[900:]) ** 2) / np.mean(y[900:] ** 2) for fit in fits]
    return fit_exponent(dimensions, sample_complexity(sizes, risks))


claim, rival = exponent(2), exponent(1)

# %%
# The rule looks at intervals: it passes if the interval lies above 1.5, and fails if it lies below.
LIMIT = 1.5


def judged(one):
    """Return what the rule says of an exponent."""
    return "passes" if one.low >= LIMIT else "fails" if one.high < LIMIT else "undecided"


for name, one in {"claim": claim, "rival": rival}.items():
    print(f"{name}: {one.value:.2f} [{one.low:.2f}, {one.high:.2f}], the rule {judged(one)}")

# %%
# The claim is worth something because its rival lies on the other side of the line.
figure, axes = plt.subplots(figsize=(6, 2.5))
for i, (name, one) in enumerate({"claim, degree 2": claim, "rival, degree 1": rival}.items()):
    axes.errorbar(one.value, i, xerr=[[one.value - one.low], [one.high - one.value]], fmt="o", capsize=4)
    axes.annotate(f"{name}: {judged(one)}", (one.value, i), xytext=(0, 8), textcoords="offset points", ha="center")
axes.axvline(LIMIT, color="gray", linestyle="--")
axes.set(yticks=[], ylim=(-0.6, 1.7), xlabel="exponent of n* in d", title="The limit parts the claim from its rival")
figure.tight_layout()
plt.show()
