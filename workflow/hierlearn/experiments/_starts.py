"""Where trainings of the landscape begin, the ridge that a reference sets, and how far ends lie above the best."""

from typing import Annotated, Literal

import numpy as np

from hierlearn.core.parameters import Positive
from hierlearn.experiments._models import Model
from hierlearn.probes._parameters import Several
from hierlearn.theory.landscape import PENALTY_CONSTANTS, quartic_norm

StartKinds = Annotated[
    Several[Literal["small", "large", "saddle", "exchanged", "rotated"]],
    "small: random, of size `start`; large: a hundred times that; saddle: a millionth, beside W = 0; exchanged: the "
    "explicit W* whose neurons of either sign look where those of the other should; rotated: W* in random directions.",
]
ReferencePenalty = Annotated[
    Positive | None,
    "What c ridge |W*|^p is to be at the explicit W*, from which the ridge of every seed and width follows; null: "
    "`ridge` itself.",
]
SIZES = {"small": 1.0, "large": 100.0, "saddle": 1e-6}


def start_of(kind: str, rows: np.ndarray, explicit: np.ndarray, size: float) -> np.ndarray:
    """The weights (m, D) that a training starts from, with |<w_r, h>| about size m^{-1/4} where they are random.

    rows: standard normal numbers (m, D); explicit: W* with the neurons of one sign alike, the second half of them -1.
    The adversarial starts have the norm of W* and a tenth of a small start on top, which breaks their symmetry.
    """
    random = size * len(rows) ** -0.25 * rows
    if kind in SIZES:
        return SIZES[kind] * random
    if kind == "exchanged":
        return np.roll(explicit, len(explicit) // 2, axis=0) + 0.1 * random
    rotation, _ = np.linalg.qr(rows[: rows.shape[1]]) if len(rows) >= rows.shape[1] else np.linalg.qr(rows.T @ rows)
    return explicit @ rotation + 0.1 * random


def ridge_of(penalty: float, reference: np.ndarray, power: int) -> float:
    """The ridge at which c ridge |W*|_{2,4}^power is `penalty`."""
    return penalty / (PENALTY_CONSTANTS[power] * quartic_norm(reference) ** (power // 4))


def penalised_reference(
    model: Model, explicit: np.ndarray, ridge: float, power: int, max_iterations: int
) -> np.ndarray:
    """W* of a bound as small as descent from the explicit W* makes it, but for s; that itself where it fails."""
    path = model.train([PENALTY_CONSTANTS[power] * ridge], explicit, power=power, max_iterations=max_iterations)
    return path.weights[0] if path.status[0] in ("ok", "not_converged") else explicit


def excess(objective: np.ndarray, references: np.ndarray | None = None) -> np.ndarray:
    """Objectives of ends less the least one known, NaN where an end failed.

    objective (S, W, ...) of the ends at every seed and width, references (S, W, ...) L(W*) + ridge |W*|^p.
    """
    known = [one for one in (objective, references) if one is not None]
    found = [np.where(np.isfinite(one), one, np.inf).reshape(*one.shape[:2], -1).min(axis=2) for one in known]
    least = np.min(found, axis=0)
    return objective - least.reshape(*least.shape, *[1] * (objective.ndim - 2))
