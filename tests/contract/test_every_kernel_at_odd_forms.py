"""What every kernel of the project takes for points, in any form that arrays and lists have.

A kernel of one's own is not asked: it may leave its points to those who call it.
"""

import re

import numpy as np
import pytest

from hierlearn.core.registry import available, build


@pytest.fixture(params=available("kernels"))
def kernel(request):
    return build("kernels", {"name": request.param})


class Subclass(np.ndarray):
    """An array of a library of its own."""


# Points with whole coordinates, which every form holds exactly, in the forms that arrays and lists have.
FORMS = {
    "int": lambda x: x.astype(int),
    "int8": lambda x: x.astype(np.int8),
    "float16": lambda x: x.astype(np.float16),
    "float32": lambda x: x.astype(np.float32),
    "long double": lambda x: x.astype(np.longdouble),
    "big-endian": lambda x: x.astype(">f8"),
    "objects": lambda x: x.astype(object),
    "a list": lambda x: x.tolist(),
    "Fortran's order": np.asfortranarray,
    "strided": lambda x: np.repeat(np.repeat(x, 2, 0), 3, 1)[::2, ::3],
    "reversed": lambda x: x[::-1].copy()[::-1],
    "read-only": lambda x: np.broadcast_to(x, x.shape),
    "a subclass": lambda x: x.view(Subclass),
    "a masked array": np.ma.array,
}


@pytest.mark.parametrize("form", FORMS)
def test_points_of_any_form_are_the_points_that_they_say(kernel, form):
    x, z = np.random.default_rng(4).integers(-3, 4, (2, 7, 5)).astype(float)
    given, other = FORMS[form](x), FORMS[form](z)
    for dtype in (np.float64, np.float32):
        for found, right in (
            (kernel(given, dtype=dtype), kernel(x, dtype=dtype)),
            (kernel(given, other, dtype=dtype), kernel(x, z, dtype=dtype)),
        ):
            assert type(found) is np.ndarray and found.dtype == dtype
            np.testing.assert_array_equal(found, right)
    np.testing.assert_array_equal(FORMS[form](x), x)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (np.array(3.0), "shape (); expected (points, dimension)"),
        (np.ones(4), "shape (4,); expected (points, dimension)"),
        (np.ones((2, 3, 4)), "shape (2, 3, 4); expected (points, dimension)"),
        (np.ones((3, 0)), "shape (3, 0); expected (points, dimension)"),
        ([[1.0, 2.0], [3.0]], "no array of numbers; expected (points, dimension)"),
        ([[1.0, None]], "values that are not finite; expected finite numbers"),
        ([["1", "2"]], "<U1; expected real numbers"),
        (np.ones((2, 4)) + 1j, "complex128; expected real numbers"),
        (np.ones((2, 4), "M8[s]"), "datetime64[s]; expected real numbers"),
        (np.full((2, 4), np.inf), "values that are not finite; expected finite numbers"),
        (np.ma.array(np.ones((1, 4)), mask=[[0, 0, 1, 0]]), "masked values; expected finite numbers"),
    ],
    ids=repr,
)
def test_what_is_no_array_of_points_is_one_line(kernel, given, said):
    for x, z, name in ((given, None, "x"), (np.ones((2, 4)), given, "z")):
        with pytest.raises(ValueError, match=f"^{name}: {re.escape(said)}$"):
            kernel(x, z)
