"""Every drawn number and every result of linear algebra one last bit off: a stand-in for another processor.

`pytest --last-bit SEED` moves each of them to the float above, to the one below or nowhere, by a hash of its own bits
and of the seed. So equal numbers stay equal (two draws of one stream, a slice of a sample and the sample, a symmetric
matrix), a number keeps its sign, and zeros, integers and values that are not finite stay as they are.
"""

import functools
import importlib

import numpy as np

WORDS = {np.dtype(np.float64): np.uint64, np.dtype(np.float32): np.uint32}
DRAWS = ("standard_normal", "normal", "uniform", "random", "exponential", "chisquare", "gamma", "beta", "standard_t")
# The functions, by module, whose sums a library orders as the processor likes.
SUMS = {
    "numpy": ("dot", "vdot", "inner", "tensordot", "einsum"),
    "numpy.linalg": (
        *("cholesky", "det", "eigh", "eigvalsh", "inv", "lstsq", "norm", "pinv", "qr", "slogdet", "solve", "svd"),
        *("svdvals",),
    ),
    "scipy.linalg": (
        *("cho_factor", "cho_solve", "cholesky", "eigh", "eigvalsh", "lstsq", "qr", "solve", "solve_triangular", "svd"),
        *("svdvals",),
    ),
}


def moved(values, seed: int):
    """The float array or scalar, each entry at most one last bit off; whatever else it is, as it is."""
    kind = getattr(values, "dtype", np.dtype(np.float64) if isinstance(values, float) else None)
    if kind not in WORDS:
        return values
    word = WORDS[kind]
    array = np.ascontiguousarray(values)
    bits = array.view(word)
    size = 8 * word().itemsize
    # One round of a multiplicative hash; its high bits depend on all bits of the number.
    mixed = (bits ^ word(0x9E3779B97F4A7C15 * (2 * seed + 1) % 2**size)) * word(0xD6E8FEB86659FD93 % 2**size)
    mixed ^= mixed >> word(size // 2)
    mixed *= word(0xD6E8FEB86659FD93 % 2**size)
    step = (mixed >> word(size - 2)).astype(np.int8)
    # A quarter up, a quarter down, one half stays; the bits of a positive and a negative number both grow outwards.
    off = np.where(step == 0, bits + word(1), np.where(step == 1, bits - word(1), bits)).view(array.dtype)
    fixed = ~np.isfinite(array) | (np.abs(array) < np.finfo(kind).tiny) | ~np.isfinite(off)
    result = np.where(fixed, array, off).reshape(np.shape(values))
    return result if isinstance(values, np.ndarray) else values.__class__(result[()])


def moved_all(values, seed: int):
    """What a function returned: an array, or a tuple of them (named tuples too)."""
    if isinstance(values, tuple):
        parts = [moved(one, seed) for one in values]
        return type(values)(*parts) if hasattr(values, "_fields") else tuple(parts)
    return moved(values, seed)


def install(seed: int) -> None:
    """From now on, in this process."""
    plain = np.random.Generator

    class Generator(plain):
        """numpy's generator, its floats a last bit off."""

    def draw(name):
        original = getattr(plain, name)

        @functools.wraps(original)
        def drawn(self, *given, **named):
            out = named.pop("out", None)
            values = moved(original(self, *given, **named), seed)
            if name == "random":
                values = np.minimum(values, np.nextafter(values.dtype.type(1), 0)) if np.ndim(values) else values
            if out is None:
                return values
            out[...] = values
            return out

        return drawn

    for name in DRAWS:
        setattr(Generator, name, draw(name))
    default = np.random.default_rng

    @functools.wraps(default)
    def default_rng(given=None):
        return given if isinstance(given, plain) else Generator(default(given).bit_generator)

    np.random.Generator, np.random.default_rng = Generator, default_rng

    def sums(original):
        @functools.wraps(original)
        def called(*given, **named):
            return moved_all(original(*given, **named), seed)

        return called

    for module, names in SUMS.items():
        room = importlib.import_module(module)
        for name in names:
            setattr(room, name, sums(getattr(room, name)))
