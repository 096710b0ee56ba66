"""
Watch backward feature correction
=================================

A target of three layers is learned by a student of three layers. If you freeze each layer before the next one starts,
its errors stay, whatever the last layer does. If the lower layers go on training, the upper ones correct them.
The paper calls this *backward feature correction* (allenzhu2020). Only the schedule differs here.
"""

import matplotlib.pyplot as plt
import numpy as np

from hierlearn.datasets import make_quadratic_densenet
from hierlearn.estimators import QuadraticDenseNetRegressor

X, y = make_quadratic_densenet(7000, n_features=6, depth=3, gap=0.2, random_state=0)
X_test, y_test = X[6000:], y[6000:]
epochs = [2, 5, 12]


def error(schedule, max_iter):
    """Return the test error of a student after so many epochs."""
    model = QuadraticDenseNetRegressor(
        depth=3, width=24, schedule=schedule, learning_rate=0.003, max_iter=max_iter, random_state=0
    )
    prediction = model.fit(X[:6000], y[:6000]).predict(X_test)
    return np.mean((prediction - y_test) ** 2) / np.mean(y_test**2)


# %%
# *Layerwise* freezes the lower layers. *Staged* adds layers in the same order and keeps all of them in training.
curves = {name: [error(name, one) for one in epochs] for name in ("layerwise", "staged", "joint")}

# %%
# Every student has the best last layer on its features, so what differs is the features below it.
figure, axes = plt.subplots(figsize=(6, 4))
for name, found in curves.items():
    axes.loglog(epochs, found, "o-")
    axes.annotate(name, (epochs[-1], found[-1]), xytext=(6, 0), textcoords="offset points", va="center")
axes.set(
    xlabel="epochs", ylabel="test error", title="Students that keep training lower layers go further", xlim=(0.9, 18)
)
plt.show()
