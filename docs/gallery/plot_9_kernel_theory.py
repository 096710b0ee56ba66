"""
Draw kernel theory beside measurements
======================================

The risk of a kernel can be predicted before a single point is drawn. `predicted_risk` needs the kernel, the dimension
and the degree of the target. The line below has no free parameter.
"""

import matplotlib.pyplot as plt
import numpy as np

import hierlearn
from hierlearn.datasets import make_ridge_polynomial
from hierlearn.estimators import NTKRegressor
from hierlearn.theory import predicted_risk

d, degree, ridge = 12, 2, 1e-3
kernel = hierlearn.build("kernels", {"name": "ntk", "depth": 2})

# %%
# Theory first.
grid = np.unique(np.geomspace(10, 1000, 25).astype(int))
theory = predicted_risk(kernel, grid, dimension=d, target=degree, alpha=ridge)

# %%
# Then three seeds of measurements.
sizes = [15, 30, 60, 120, 240, 480, 960]
measured = []
for seed in range(3):
    X, y = make_ridge_polynomial(2000, n_features=d, degree=degree, random_state=seed)
    model = NTKRegressor(kernel=kernel, alphas=[ridge], fit_intercept=False)
    fits = (model.fit(X[:n], y[:n]).predict(X[1000:]) for n in sizes)
    measured.append([np.mean((one - y[1000:]) ** 2) / np.mean(y[1000:] ** 2) for one in fits])

# %%
# Points should lie on the line.
figure, axes = plt.subplots(figsize=(6, 4))
axes.loglog(grid, theory, color="black", label="theory")
axes.loglog(sizes, np.transpose(measured), "o", color="tab:blue", alpha=0.6)
axes.set(xlabel="labelled samples n", ylabel="risk", title="Theory predicts the kernel's risk at every n")
axes.legend(frameon=False)
plt.show()
