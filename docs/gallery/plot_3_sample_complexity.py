"""
Measure a sample complexity and its exponent
============================================

How many samples does a model need, and how does that number grow with the dimension? The *sample complexity* n* is the
number at which the risk falls to a threshold, here a half. Its *exponent* is the slope of log n* against log d.
"""

import matplotlib.pyplot as plt
import numpy as np

from hierlearn.datasets import make_ridge_polynomial
from hierlearn.estimators import NTKRegressor
from hierlearn.statistics import fit_exponent, sample_complexity

dimensions = np.array([5, 6, 8, 10, 12, 15])
sizes = np.unique(np.geomspace(8, 1500, 22).astype(int))
seeds = range(5)


def curve(d, seed):
    """Return the risks of the NTK on a polynomial of degree 2 at all sizes."""
    X, y = make_ridge_polynomial(2500, n_features=d, degree=2, random_state=seed)
    test = slice(1500, None)
    found = []
    for n in sizes:
        model = NTKRegressor(alphas=[1e-3], fit_intercept=False).fit(X[:n], y[:n])
        found.append(np.mean((model.predict(X[test]) - y[test]) ** 2) / np.mean(y[test] ** 2))
    return found


# %%
# One n* for each dimension and seed.
risks = np.array([[curve(d, seed) for seed in seeds] for d in dimensions])
reached = sample_complexity(sizes, risks, threshold=0.5)
print(reached.samples.round())

# %%
# The line passes through the medians over seeds. Its slope has a 95 % interval.
line = fit_exponent(dimensions, reached)
print(f"exponent {line.value:.2f} [{line.low:.2f}, {line.high:.2f}]")

figure, axes = plt.subplots(figsize=(6, 4))
axes.loglog(dimensions, reached.samples, "o", color="tab:blue", alpha=0.5)
axes.loglog(dimensions, np.exp(line.intercept) * dimensions**line.value, color="tab:blue")
axes.set(
    xlabel="dimension d",
    ylabel="n*",
    title=f"The NTK needs about $d^{{{line.value:.1f}}}$ samples for degree 2",
)
plt.show()
