"""
Meet the Random Hierarchy Model
===============================

A random grammar makes strings. A class becomes two symbols, each symbol becomes two again, and so on; every step picks
one of several synonyms. A network of as many layers as the grammar has levels can undo it step by step
(Cagnetta and others, Physical Review X 14, 031001, 2024).
"""

import matplotlib.pyplot as plt

from hierlearn.datasets import make_hierarchy
from hierlearn.estimators import ConvolutionalClassifier, NTKClassifier

law = {"name": "random_hierarchy", "symbols": 4, "synonyms": 4, "branching": 2}
X, y = make_hierarchy(3000, n_features=32, law=law, classes=4, random_state=0)
X_test, y_test = X[2000:], y[2000:]
print("8 places, each with one of 4 symbols:", X[0].reshape(4, 8).argmax(axis=0), "class", y[0])

# %%
# A tangent kernel sees the string at once. A convolutional network of three layers sees two symbols at a time.
samples = [200, 400, 800, 1600]
kernel = NTKClassifier(depth=2, alphas=[1e-3])
network = ConvolutionalClassifier(
    shape=(4, 1, 8), architecture="patches", width=32, learning_rate=0.05, max_iter=300, random_state=0
)
curves = {
    name: [1 - model.fit(X[:n], y[:n]).score(X_test, y_test) for n in samples]
    for name, model in {"NTK": kernel, "network": network}.items()
}

# %%
# Both begin at chance, an error of 3/4.
figure, axes = plt.subplots(figsize=(6, 4))
for name, found in curves.items():
    axes.semilogx(samples, found, "o-")
    axes.annotate(name, (samples[-1], found[-1]), xytext=(6, 0), textcoords="offset points", va="center")
axes.set(
    xlabel="labelled samples n", ylabel="share of wrong classes", title="Three levels of a grammar", xlim=(180, 2600)
)
plt.show()
