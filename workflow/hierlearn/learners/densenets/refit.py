"""The best last layer that the features of the lower ones allow, found by regularised regression.

A last layer of a quadratic DenseNet is a sum of squares of linear functions of the columns h that it sees. Every such
sum is linear in the products of two of the columns (1, h), and so are those that no sum of squares reaches: the best
weights on the products, which one factorisation finds, are at least as good as any training of the last layer. For
classes what is fitted is added to the outputs of the trained network, so that without any of it they are as they were.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from hierlearn.core.protocols import STATUS, Fit, State, TrainingData
from hierlearn.learners._runs import BLOCK_ROWS
from hierlearn.learners._selection import best_on_validation, error
from hierlearn.learners.densenets.student import Student
from hierlearn.solvers.densenets.model import Layout, pre_activations
from hierlearn.solvers.losses import LOGISTIC
from hierlearn.solvers.ridge import ridge_path

# In units of the mean square of a point's products, and the training points that are used: with a thousand products
# more of them change little.
RIDGES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
MOST_POINTS = 8192
# For classes: in units of the loss's largest curvature v / 4 over columns of mean square 1, from strong to weak; the
# training points that are used; and the steps of the solver.
RIDGES_OF_CLASSES = (1e-4, 1e-6)
MOST_POINTS_OF_CLASSES = 1 << 15
ITERATIONS = 40
# Margins in the exponent of the logistic loss: of points that it does not see, and that it may not move them below.
FAR, NEAR = 20.0, 10.0


def refit(learner: Any, fit: Fit, sample: TrainingData) -> Fit:
    """Refit the last layer of a fit on the first training points; state: also readout (S, F) float64.

    For classes state: also correction (S, F) float64, which minimises the mean of
    log(1 + exp(-v y (f + <w, products>))) / v and a ridge on w. The strength of the ridge is the best one for
    validation points. A seed that has diverged stays as it is, without weights.
    """
    data, classes = sample.data, sample.data.kind == "classes"
    used = min(sample.n, MOST_POINTS_OF_CLASSES) if classes else sample.n
    counts = {"training": used, "validation": data.held_out}
    points = {role: sample.features.draw(role, n) for role, n in counts.items()}
    labels = {role: data.draw(role, n).labels for role, n in counts.items()}
    student = Student.from_state(fit.state)
    layout = learner.layout(student.columns(points["training"]), student)
    if classes:
        before = {role: learner.predict(fit.state, sample.features, role, n, {}) for role, n in counts.items()}
    results = []
    for i, status in enumerate(fit.status):
        state = {name: values[[i]] for name, values in fit.state.items()}
        x, y = ({role: values[i] for role, values in both.items()} for both in (points, labels))
        if status == STATUS["diverged"]:
            size = products(layout, state, x["training"][:1]).shape[1]
            results.append((np.full(size, np.nan), np.nan, np.nan))
        elif classes:
            f = {role: values[i, :, 0] for role, values in before.items()}
            results.append(_correction(layout, state, x, f, y, learner.sharpness))
        else:
            results.append(_readout(layout, state, x, y))
    weights, train_risk, validation_risk = (np.array(values) for values in zip(*results, strict=True))
    state = fit.state | {"correction" if classes else "readout": weights}
    return replace(fit, state=state, train_risk=train_risk, validation_risk=validation_risk)


def refit_outputs(layout: Layout, state: State, x: np.ndarray) -> np.ndarray:
    """Return outputs (S, n, 1) float64 in the problem's units at points (S, n, ...); state: with a readout."""
    results = []
    with np.errstate(over="ignore", invalid="ignore"):
        for seed, weights in enumerate(state["readout"]):
            own = {name: values[[seed]] for name, values in state.items()}
            blocks = [x[seed, i : i + BLOCK_ROWS] for i in range(0, x.shape[1], BLOCK_ROWS)]
            results.append(np.concatenate([products(layout, own, block) @ weights[:, None] for block in blocks]))
    return np.stack(results)


def added_outputs(layout: Layout, state: State, x: np.ndarray) -> np.ndarray:
    """Return what is added to the outputs at points (S, n, ...): (S, n, 1) float64; state: with a correction."""
    parts = []
    for seed, weights in enumerate(state["correction"]):
        own = {name: values[[seed]] for name, values in state.items()}
        parts.append(_in_single_precision(layout, own, x[seed]) @ weights[:, None])
    return np.stack(parts)


def _readout(layout: Layout, state: State, x: State, y: State) -> tuple[np.ndarray, float, float]:
    """Weights (F,) of one seed and its errors at x, (n, ...) by role, with labels y (n, 1)."""
    design = {role: products(layout, state, values[:MOST_POINTS]) for role, values in x.items()}
    path = _weights(design["training"], y["training"][:MOST_POINTS])
    place = best_on_validation(design["validation"] @ path, y["validation"][:MOST_POINTS], "regression")
    weights, risks = path[place], []
    for role, values in x.items():
        outputs = design[role] @ weights
        if len(values) > MOST_POINTS:
            rest = refit_outputs(layout, state | {"readout": weights.T}, values[None, MOST_POINTS:])
            outputs = np.concatenate([outputs, rest[0]])
        risks.append(error(outputs, y[role], "regression"))
    return weights[:, 0], *risks


def _correction(
    layout: Layout, state: State, x: State, f: State, y: State, sharpness: float
) -> tuple[np.ndarray, float, float]:
    """As `_readout`, for labels of -1 and 1; f (n,): the outputs of the network."""
    design = {role: _in_single_precision(layout, state, values) for role, values in x.items()}
    path = logistic_path(design["training"], f["training"], y["training"][:, 0], sharpness)
    held_out = [f["validation"] + design["validation"] @ weights for weights in path]
    losses = [np.mean(LOGISTIC.value(sharpness * out, y["validation"][:, 0])) for out in held_out]
    best = int(np.argmin(losses))
    outputs = {"training": f["training"] + design["training"] @ path[best], "validation": held_out[best]}
    training, validation = (float(error(out[:, None], y[role], "classes")) for role, out in outputs.items())
    return path[best], training, validation


def _weights(design: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Weights (R, F, 1) of ridge regression from (n, F) and (n, 1) over RIDGES, for columns of one size.

    From the second moment, whose condition is the square of the design's: a fifth of the time of an orthogonal
    factorisation, and the least ridge is a thousand times and more above the rounding.
    """
    moment, projected = design.T @ design, design.T @ labels
    # A ridge treats columns of one size alike.
    sizes = np.sqrt(np.diag(moment))[:, None]
    sizes[sizes == 0] = 1.0
    moment /= sizes
    moment /= sizes.T
    return ridge_path(moment, projected / sizes, np.array(RIDGES)).coefficients / sizes


def logistic_path(design: np.ndarray, offsets: np.ndarray, labels: np.ndarray, sharpness: float) -> list[np.ndarray]:
    """Minimise mean log(1 + exp(-v y (f + X w))) / v + ridge v |X|^2 |w|^2 / 8 over RIDGES_OF_CLASSES.

    design X (n, F), offsets f (n,), labels y (n,) of -1 and 1; |X|^2 |w|^2 counts a column by its mean square. Points
    that are right by a margin v y f of FAR are left out, as long as no minimiser brings one below NEAR.
    """
    sizes = np.sqrt(np.mean(np.square(design, dtype=np.float64), axis=0))
    sizes[sizes == 0] = 1.0
    margins = sharpness * labels * offsets
    used, found = margins < FAR, None
    while True:
        found = _minimisers(design[used], offsets[used], labels[used], sharpness, sizes, len(design), found)
        moved = margins + (design @ found.T.astype(design.dtype) * (sharpness * labels[:, None])).T
        missed = ~used & np.any(moved < NEAR, axis=0)
        if not missed.any():
            return list(found)
        used |= missed


def _minimisers(
    design: np.ndarray,
    offsets: np.ndarray,
    labels: np.ndarray,
    sharpness: float,
    sizes: np.ndarray,
    n: int,
    starts: np.ndarray | None,
) -> np.ndarray:
    """Minimisers (R, F) as above of a sum over n, by L-BFGS in coordinates where the loss at w = 0 has the identity as
    its curvature. From starts (R, F), or each from the one of the ridge before."""
    curvature = sharpness * LOGISTIC.curvature(sharpness * offsets, labels)
    rows = (design / sizes.astype(design.dtype)) * np.sqrt(curvature / n).astype(design.dtype)[:, None]
    hessian = (rows.T @ rows).astype(np.float64)
    found, start = [], np.zeros(design.shape[1])
    for i, ridge in enumerate(RIDGES_OF_CLASSES):
        start = start if starts is None else starts[i] * sizes
        penalty = ridge * sharpness / 4
        factor = scipy.linalg.cholesky(hessian + penalty * np.eye(len(hessian)), lower=True)

        def objective(u: np.ndarray, factor: np.ndarray = factor, penalty: float = penalty) -> tuple[float, np.ndarray]:
            w = scipy.linalg.solve_triangular(factor, u, lower=True, trans="T")
            outputs = offsets + design @ (w / sizes).astype(design.dtype)
            value = np.sum(LOGISTIC.value(sharpness * outputs, labels)) / n / sharpness + penalty * (w @ w) / 2
            pull = LOGISTIC.gradient(sharpness * outputs, labels).astype(design.dtype)
            gradient = (pull @ design) / n / sizes + penalty * w
            return value, scipy.linalg.solve_triangular(factor, gradient, lower=True)

        options = {"maxiter": ITERATIONS, "ftol": 1e-9, "gtol": 1e-7}
        solved = scipy.optimize.minimize(objective, factor.T @ start, jac=True, method="L-BFGS-B", options=options)
        start = scipy.linalg.solve_triangular(factor, solved.x, lower=True, trans="T")
        found.append(start / sizes)
    return np.array(found)


def products(layout: Layout, state: State, x: np.ndarray) -> np.ndarray:
    """Return what a seed's read-out is linear in at points (n, ...), (n, F) float64: products of two of (1, h), and
    Sum(G_l) for l < L."""
    inputs, last = Student.from_state(state).network_input(x[None], layout), layout.layers[-1]
    weights = [state[f"layer_{layer}"] for layer in layout.layers[:-1]]
    arguments = pre_activations(weights, inputs, layout)
    blocks = layout.part_blocks(inputs) | {layer: p * p for layer, p in zip(layout.layers, arguments, strict=False)}
    ones = np.ones((*inputs.shape[1:2], 1))
    columns = np.concatenate([ones, *(blocks[block][0] for block in layout.places(last))], axis=1, dtype=np.float64)
    sums = [np.sum(blocks[layer][0], axis=-1, dtype=np.float64) for layer in layout.layers[:-1]]
    rows, size = columns.shape
    result, first = np.empty((rows, size * (size + 1) // 2 + len(sums))), 0
    for i in range(size):
        stop = first + size - i
        np.multiply(columns[:, [i]], columns[:, i:], out=result[:, first:stop])
        first = stop
    result[:, first:] = np.transpose(sums)
    return result


def _in_single_precision(layout: Layout, state: State, x: np.ndarray) -> np.ndarray:
    """Return the products, float32, block by block."""
    rows = range(0, len(x), BLOCK_ROWS)
    return np.concatenate([products(layout, state, x[i : i + BLOCK_ROWS]).astype(np.float32) for i in rows])
