"""The best last layer for classes that the features of the lower ones allow, found by regularised logistic regression.

As in `refit`, a last layer is linear in the products of two of the columns that it sees. What is fitted is added to the
outputs of the trained network, so that without any of it they are as they were.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import scipy

from hierlearn.core.protocols import STATUS, Fit, Sample, State
from hierlearn.learners._runs import BLOCK_ROWS
from hierlearn.learners._selection import error
from hierlearn.learners.densenets.refit import products
from hierlearn.learners.densenets.student import Student
from hierlearn.solvers.densenets.model import Layout
from hierlearn.solvers.losses import LOGISTIC

# In units of the loss's largest curvature v / 4 over columns of mean square 1, from strong to weak; the training points
# that are used; and the steps of the solver.
RIDGES = (1e-4, 1e-6)
MOST_POINTS = 1 << 15
ITERATIONS = 40


def refit_classes(learner: Any, fit: Fit, sample: Sample, network: np.ndarray) -> Fit:
    """The fit with a correction of its last layer that is fitted on the first training points.

    State: also correction (S, F) float64. Minimised is the mean of log(1 + exp(-v y (f + <w, products>))) / v and a
    ridge on w; the ridge is the best one for validation points by the same loss. network (S, n, 1): outputs f at the
    training points, then at the validation points. A seed that has diverged stays as it is.
    """
    problem, features, sharpness = sample.problem, sample.features, learner.sharpness
    student, used = Student.from_state(fit.state), min(sample.n, MOST_POINTS)
    counts = {"training": used, "validation": problem.held_out}
    points = {role: features.draw(role, n) for role, n in counts.items()}
    layout = learner.layout(student.columns(points["training"]), student)
    labels = {role: problem.draw(role, n).labels for role, n in counts.items()}
    before = {"training": network[:, :used], "validation": network[:, sample.n :]}
    corrections, risks = [], []
    for i, status in enumerate(fit.status):
        state = {name: values[[i]] for name, values in fit.state.items()}
        one = Student.from_state(state)
        if status == STATUS["diverged"]:
            corrections.append(np.full(products(one, layout, state, points["training"][[i], :1]).shape[1], np.nan))
            risks.append((np.nan, np.nan))
            continue
        design = {role: _blocks(one, layout, state, x[[i]]) for role, x in points.items()}
        y = {role: values[i, :, 0] for role, values in labels.items()}
        f = {role: values[i, :, 0] for role, values in before.items()}
        path = logistic_path(design["training"], f["training"], y["training"], sharpness)
        held_out = [f["validation"] + design["validation"] @ weights for weights in path]
        losses = [np.mean(LOGISTIC.value(sharpness * out, y["validation"])) for out in held_out]
        best = int(np.argmin(losses))
        corrections.append(path[best])
        trained = f["training"] + design["training"] @ path[best]
        risks.append(
            [
                float(error(out[:, None], values[:, None], "classes"))
                for out, values in ((trained, y["training"]), (held_out[best], y["validation"]))
            ]
        )
    train_risk, validation_risk = np.array(risks).T
    state = dict(fit.state) | {"correction": np.stack(corrections)}
    return replace(fit, state=state, train_risk=train_risk, validation_risk=validation_risk)


def added_outputs(layout: Layout, state: State, x: np.ndarray) -> np.ndarray:
    """What is added to the outputs at points (S, n, ...): (S, n, 1) float64; state: with a correction."""
    parts = []
    for seed, weights in enumerate(state["correction"]):
        own = {name: values[[seed]] for name, values in state.items()}
        parts.append(_blocks(Student.from_state(own), layout, own, x[[seed]]) @ weights[:, None])
    return np.stack(parts)


def logistic_path(design: np.ndarray, offsets: np.ndarray, labels: np.ndarray, sharpness: float) -> list[np.ndarray]:
    """Minimisers (F,) of mean log(1 + exp(-v y (f + X w))) / v + ridge v |X|^2 |w|^2 / 8 over RIDGES.

    design X (n, F), offsets f (n,), labels y (n,) of -1 and 1; |X|^2 |w|^2 counts a column by its mean square. Solved
    by L-BFGS in the coordinates in which the loss at w = 0 has the identity as its curvature.
    """
    n = len(design)
    sizes = np.sqrt(np.mean(np.square(design, dtype=np.float64), axis=0))
    sizes[sizes == 0] = 1.0
    curvature = sharpness * LOGISTIC.curvature(sharpness * offsets, labels)
    rows = (design / sizes.astype(design.dtype)) * np.sqrt(curvature / n).astype(design.dtype)[:, None]
    hessian = (rows.T @ rows).astype(np.float64)
    found, start = [], np.zeros(design.shape[1])
    for ridge in RIDGES:
        penalty = ridge * sharpness / 4
        factor = scipy.linalg.cholesky(hessian + penalty * np.eye(len(hessian)), lower=True)

        def objective(u, factor=factor, penalty=penalty):
            w = scipy.linalg.solve_triangular(factor, u, lower=True, trans="T")
            outputs = offsets + design @ (w / sizes).astype(design.dtype)
            value = np.mean(LOGISTIC.value(sharpness * outputs, labels)) / sharpness + penalty * (w @ w) / 2
            pull = LOGISTIC.gradient(sharpness * outputs, labels).astype(design.dtype)
            gradient = (pull @ design) / n / sizes + penalty * w
            return value, scipy.linalg.solve_triangular(factor, gradient, lower=True)

        options = {"maxiter": ITERATIONS, "ftol": 1e-9, "gtol": 1e-7}
        solved = scipy.optimize.minimize(objective, factor.T @ start, jac=True, method="L-BFGS-B", options=options)
        start = scipy.linalg.solve_triangular(factor, solved.x, lower=True, trans="T")
        found.append(start / sizes)
    return found


def _blocks(student: Student, layout: Layout, state: State, x: np.ndarray) -> np.ndarray:
    """The products at the points of one seed, (1, n, ...) -> (n, F) float32."""
    rows = range(0, x.shape[1], BLOCK_ROWS)
    return np.concatenate([products(student, layout, state, x[:, i : i + BLOCK_ROWS]).astype(np.float32) for i in rows])
