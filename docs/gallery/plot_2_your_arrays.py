"""
Use your own arrays
===================

The models are scikit-learn estimators. They take your `X` and `y`, and work in pipelines and cross-validation.
The table here has 442 patients, ten measurements and one target. Replace the first line with your data.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_diabetes
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from hierlearn.estimators import NTKRegressor, TaylorRegressor

X, y = load_diabetes(return_X_y=True)

# %%
# Put a linear model beside them. It often wins on small tables.
models = {
    "NTK": NTKRegressor(depth=2, alphas=[10.0, 1.0, 0.1]),
    # Much of a table is linear: the model sees a constant as large as the other columns.
    "Quad": TaylorRegressor(order=2, width=32, alphas=[1.0, 0.1], intercept_scaling=1.0, random_state=0),
    "linear": RidgeCV(),
}
scores = {name: cross_val_score(make_pipeline(StandardScaler(), one), X, y, cv=5) for name, one in models.items()}
for name, found in scores.items():
    print(f"{name:8} R² {found.mean():.2f}, folds from {found.min():.2f} to {found.max():.2f}")

# %%
# Five folds are five points. Where the points of two models overlap, do not call one better.
figure, axes = plt.subplots(figsize=(6, 3))
for i, found in enumerate(scores.values()):
    axes.plot(found, [i] * len(found), "o", alpha=0.6)
    axes.plot(found.mean(), i, "k|", markersize=18)
axes.set(yticks=range(len(scores)), yticklabels=scores, xlabel="R² of a fold", title="Three models on one table")
figure.tight_layout()
plt.show()
