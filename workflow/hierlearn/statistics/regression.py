"""Linear regression as a measurement."""

import numpy as np


def unexplained_variance(features, targets, held_out_features, held_out_targets) -> np.ndarray:
    """1 - R^2 on held-out points of targets regressed on features and a constant, the mean over targets.

    features (S, n, D), targets (S, n, b); held out: (S, n', D), (S, n', b) -> (S,) float64. A minimum-norm least
    squares fit in float64; R^2 is against the variance of the held-out targets.
    """
    values = []
    for h, y, h_new, y_new in zip(features, targets, held_out_features, held_out_targets, strict=True):
        design = np.concatenate([h.astype(np.float64), np.ones((len(h), 1))], axis=1)
        moment, cross = design.T @ design, design.T @ y
        scale, rotation = np.linalg.eigh(moment)
        keep = scale > 1e-10 * scale[-1]
        weights = rotation[:, keep] @ ((rotation[:, keep].T @ cross) / scale[keep, None])
        design = np.concatenate([h_new.astype(np.float64), np.ones((len(h_new), 1))], axis=1)
        residual = np.mean((y_new - design @ weights) ** 2, axis=0)
        values.append(np.mean(residual / np.var(y_new, axis=0)))
    return np.array(values)
