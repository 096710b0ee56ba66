"""The best last layer that the features of the lower ones allow, found by ridge regression.

A last layer of a quadratic DenseNet is a sum of squares of linear functions of the columns h that it sees. Every such
sum is linear in the products of two of the columns (1, h), and so are those that no sum of squares reaches: the best
weights on the products, which one factorisation finds, are at least as good as any training of the last layer.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from hierlearn.core.protocols import STATUS, Fit, Sample, State
from hierlearn.learners._runs import BLOCK_ROWS
from hierlearn.learners._selection import best_on_validation, error
from hierlearn.learners.densenets.student import Student
from hierlearn.solvers.densenets.model import Layout, pre_activations
from hierlearn.solvers.ridge import ridge_path

# In units of the mean square of a point's products, and the training points that are used: with a thousand products
# more of them change little.
RIDGES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
MOST_POINTS = 8192


def refit(learner: Any, fit: Fit, sample: Sample) -> Fit:
    """The fit with a last layer that is refitted on the first training points; state: also readout (S, F) float64.

    The strength of the ridge is the best one for validation points. A seed that has diverged stays as it is, without
    weights. For teachers of regression; `refit_classes` is for those of classes.
    """
    problem, features = sample.problem, sample.features
    student = Student.from_state(fit.state)
    points = {role: features.draw(role, n) for role, n in (("training", sample.n), ("validation", problem.held_out))}
    layout = learner.layout(student.columns(points["training"]), student)
    labels = {role: problem.draw(role, x.shape[1]).labels for role, x in points.items()}
    results = []
    for i, status in enumerate(fit.status):
        state = {name: values[[i]] for name, values in fit.state.items()}
        one = Student.from_state(state)
        if status == STATUS["diverged"]:
            size = len(products(one, layout, state, points["training"][[i], :1])[0])
            results.append((np.full(size, np.nan), np.nan, np.nan))
            continue
        design = {role: products(one, layout, state, x[[i], :MOST_POINTS]) for role, x in points.items()}
        path = _weights(design["training"], labels["training"][i, :MOST_POINTS])
        outputs = design["validation"] @ path
        weights = path[best_on_validation(outputs, labels["validation"][i, :MOST_POINTS], "regression")]
        state["readout"], risks = weights.T, []
        for role, x in points.items():
            outputs = (design[role] @ weights)[None]
            if x.shape[1] > MOST_POINTS:
                rest = refit_outputs(one, layout, state, x[[i], MOST_POINTS:])
                outputs = np.concatenate([outputs, rest], axis=1)
            risks.append(error(outputs, labels[role][[i]], "regression")[0])
        results.append((weights[:, 0], *risks))
    readouts, train_risk, validation_risk = (np.array(values) for values in zip(*results, strict=True))
    state = dict(fit.state) | {"readout": readouts}
    return replace(fit, state=state, train_risk=train_risk, validation_risk=validation_risk)


def refit_outputs(student: Student, layout: Layout, state: State, x: np.ndarray) -> np.ndarray:
    """Outputs (S, n, 1) float64 in the problem's units at points (S, n, ...); state: with a readout."""
    results = []
    with np.errstate(over="ignore", invalid="ignore"):
        for i in range(0, x.shape[1], BLOCK_ROWS):
            rows = []
            for seed, weights in enumerate(state["readout"]):
                own = {name: values[[seed]] for name, values in state.items()}
                rows.append(products(student, layout, own, x[[seed], i : i + BLOCK_ROWS]) @ weights[:, None])
            results.append(np.stack(rows))
    return np.concatenate(results, axis=1)


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
    return ridge_path(moment, projected / sizes, RIDGES).coefficients / sizes


def products(student: Student, layout: Layout, state: State, x: np.ndarray) -> np.ndarray:
    """What a read-out of one seed is linear in, (n, F) float64: products of two of (1, h), and Sum(G_l) for l < L."""
    inputs, last = student.network_input(x, layout), layout.layers[-1]
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
