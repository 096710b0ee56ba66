"""Raw features with a chosen spectrum: isotropic, or with much of their variance in few directions."""

import numpy as np

from hierlearn.theory.spectra import eigenvalues

# Half of the variance in one direction; j^-2, whose leading share stays when directions are added.
SHAPES = {"isotropic": {}, "spiked": {"spikes": 1, "spike_share": 0.5}, "power": {"exponent": 2.0}}


def coloured(x: np.ndarray, spectrum: str) -> np.ndarray:
    """h = (D Lambda)^{1/2} x with tr Lambda = 1: E|h|^2 = 1 for isotropic x of unit norm.

    x (..., D) -> (..., D) of its dtype. Only `isotropic` features keep |h| = 1 for every x: the others are not scaled
    back, so that their largest and their mean square norm differ.
    """
    variances = eigenvalues(spectrum, x.shape[-1], **SHAPES[spectrum])
    return x * np.sqrt(x.shape[-1] * variances).astype(x.dtype)
