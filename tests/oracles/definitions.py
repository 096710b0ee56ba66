"""Every kernel at two points by its definition, in 60 digits: what far-away, tiny and nearly equal points should give.

`KERNELS[name](x, z, **parameters)` is K(x, z) of the kernel component of that name with these parameters, an mpf; x, z:
sequences of numbers. The expectations over a Gaussian pair are those of Cho and Saul (2009); quadrature.py integrates
them. A zero vector is orthogonal to every vector.
"""

from mpmath import mp, mpf

ORDERS = {"relu": (0, mpf(1)), "relu2": (1, mpf(1)), "relu3": (2, mpf("0.5"))}
POWERS = {"step": 0, "relu": 1, "relu2": 2}


def in_sixty_digits(kernel):
    def value(x, z, **parameters):
        with mp.workdps(60):
            return kernel([mpf(float(v)) for v in x], [mpf(float(v)) for v in z], **parameters)

    return value


def dot(x, z):
    return mp.fsum(a * b for a, b in zip(x, z, strict=True))


def lifted(x, bias, scale=True):
    """(x, 1), over sqrt(2) where the bias keeps norms; x without a bias."""
    return [v / mp.sqrt(2) if scale else v for v in (*x, mpf(1))] if bias else x


def angle(inner, square, other):
    """Of two vectors with these products; a right one where a vector is zero."""
    if square == 0 or other == 0:
        return mp.pi / 2
    return mp.atan2(mp.sqrt(max(square * other - inner**2, mpf(0))), inner)


def moment(order, inner, square, other):
    """E[u_+^a v_+^a] of a Gaussian pair with these variances and this covariance, a = 0, 1, 2."""
    t = angle(inner, square, other)
    value = {
        0: mp.pi - t,
        1: mp.sin(t) + (mp.pi - t) * mp.cos(t),
        2: 3 * mp.sin(t) * mp.cos(t) + (mp.pi - t) * (1 + 2 * mp.cos(t) ** 2),
    }[order]
    return value / (2 * mp.pi) * mp.sqrt(square * other) ** order


def products(x, z):
    return dot(x, z), dot(x, x), dot(z, z)


def on_all(function, values):
    """A function of covariance and variances at (inner, square, other), and at both points with themselves."""
    inner, square, other = values
    return function(inner, square, other), function(square, square, square), function(other, other, other)


def arccos(x, z, order=1, bias=False):
    return 2 * moment(order, *products(lifted(x, bias), lifted(z, bias)))


def arcsin(x, z, bias=False):
    return 1 - 2 * angle(*products(lifted(x, bias, False), lifted(z, bias, False))) / mp.pi


def ntk(x, z, depth=3, trained="all", bias=True):
    values = products(lifted(x, bias), lifted(z, bias))
    tangent = values[0]
    for _ in range(depth - 1):
        slope = 2 * moment(0, *values)
        values = on_all(lambda *of: 2 * moment(1, *of), values)
        tangent = values[0] + tangent * slope
    return {"all": tangent, "hidden": tangent - values[0], "last": values[0]}[trained]


def ntk_raw(x, z, activation="relu2", bias=True):
    values, (order, factor) = products(lifted(x, bias), lifted(z, bias)), ORDERS[activation]
    return factor**2 * moment(order, *values) * values[0]


def ntk_neural(x, z, features="step", activation="relu2", bias=True):
    def feature(inner, square, other):
        if features == "quadratic":
            return square * other + 2 * inner**2
        # The step of a zero vector is 1 for one half of all signs, as that of any other.
        return moment(POWERS[features], inner, square, other)

    inner, square, other = products(lifted(x, bias, False), lifted(z, bias, False))
    own = [feature(v, v, v) if v else feature(mpf(1), mpf(1), mpf(1)) * (features == "step") for v in (square, other)]
    order, factor = ORDERS[activation]
    seen = feature(inner, square, other)
    return factor**2 * moment(order, seen, *own) * seen


def recursive(x, z, base="arccos1", depth=2, bias=False):
    inner, square, other = products(lifted(x, bias, False), lifted(z, bias, False))
    cosine = mp.cos(angle(inner, square, other))
    for _ in range(depth):
        if base == "arcsin":
            cosine = 1 - 2 * mp.acos(cosine) / mp.pi
        elif base == "exponential":
            cosine = mp.exp(cosine - 1)
        else:
            order = int(base[-1])
            cosine = moment(order, cosine, mpf(1), mpf(1)) / moment(order, mpf(1), mpf(1), mpf(1))
    return cosine


def polynomial(x, z, degree=4, scale=1.0):
    return (dot(x, z) / mpf(scale) + 1) ** degree


def polynomial_of_squares(x, z, degree=2, scale=1.0):
    return polynomial(*([*point, *(v**2 - 1 for v in point)] for point in (x, z)), degree=degree, scale=scale)


def rbf(x, z, bandwidth=1.0):
    return mp.exp(-mp.fsum((a - b) ** 2 for a, b in zip(x, z, strict=True)) / (2 * mpf(bandwidth) ** 2))


def ntk_convolutional(x, z, places=None, patch=None, depth=1, pooling=False):
    """With circular filters, of all layers, and without dense ones."""
    places = places or len(x)
    patch = patch or places
    # x is channels by places.
    first, second = ([point[p::places] for p in range(places)] for point in (x, z))
    pairs = [(p, q) for p in range(places) for q in range(places)]

    def seen(of):
        return {(p, q): mp.fsum(of[(p + a) % places, (q + a) % places] for a in range(patch)) / patch for p, q in pairs}

    def covariances(left, right):
        # Places are as many as the mean over them divides by.
        return {(p, q): places * dot(left[p], right[q]) for p, q in pairs}

    inner, square, other = covariances(first, second), covariances(first, first), covariances(second, second)
    below = dict.fromkeys(pairs, mpf(0))
    for _ in range(depth):
        inner, square, other, below = (seen(of) for of in (inner, square, other, below))
        tangent = {pair: inner[pair] + below[pair] for pair in pairs}
        of_pair = {(p, q): (inner[p, q], square[p, p], other[q, q]) for p, q in pairs}
        below = {pair: tangent[pair] * 2 * moment(0, *of_pair[pair]) for pair in pairs}
        inner = {pair: 2 * moment(1, *of_pair[pair]) for pair in pairs}
        square = {(p, q): 2 * moment(1, square[p, q], square[p, p], square[q, q]) for p, q in pairs}
        other = {(p, q): 2 * moment(1, other[p, q], other[p, p], other[q, q]) for p, q in pairs}
    kept = pairs if pooling else [(p, p) for p in range(places)]
    return mp.fsum(inner[pair] + below[pair] for pair in kept) / len(kept)


def ntk_pictures(x, z, height=2, width=2, patch=3, depth=2, pooling=False):
    """Of all layers; filters are padded with zeros."""
    pixels = [(i, j) for i in range(height) for j in range(width)]
    # x is channels by height by width.
    first, second = (
        {(i, j): point[i * width + j :: height * width] for i, j in pixels} for point in (list(x), list(z))
    )
    pairs, side = [(p, q) for p in pixels for q in pixels], range(-(patch // 2), patch // 2 + 1)
    moves = [(a, b) for a in side for b in side]

    def seen(of):
        def moved(p, q, a, b):
            # A pixel beyond the edge is no key.
            return of.get(((p[0] + a, p[1] + b), (q[0] + a, q[1] + b)), mpf(0))

        return {(p, q): mp.fsum(moved(p, q, a, b) for a, b in moves) / patch**2 for p, q in pairs}

    def covariances(left, right):
        return {(p, q): len(pixels) * dot(left[p], right[q]) for p, q in pairs}

    inner, square, other = covariances(first, second), covariances(first, first), covariances(second, second)
    below = dict.fromkeys(pairs, mpf(0))
    for _ in range(depth):
        inner, square, other, below = (seen(of) for of in (inner, square, other, below))
        of_pair = {(p, q): (inner[p, q], square[p, p], other[q, q]) for p, q in pairs}
        below = {pair: (inner[pair] + below[pair]) * 2 * moment(0, *of_pair[pair]) for pair in pairs}
        inner = {pair: 2 * moment(1, *of_pair[pair]) for pair in pairs}
        square = {(p, q): 2 * moment(1, square[p, q], square[p, p], square[q, q]) for p, q in pairs}
        other = {(p, q): 2 * moment(1, other[p, q], other[p, p], other[q, q]) for p, q in pairs}
    kept = pairs if pooling else [(p, p) for p in pixels]
    return mp.fsum(inner[pair] + below[pair] for pair in kept) / len(kept)


NAMED = (arccos, arcsin, ntk, ntk_convolutional, ntk_neural, ntk_pictures, ntk_raw)
NAMED += (polynomial, polynomial_of_squares, rbf, recursive)
KERNELS = {kernel.__name__: in_sixty_digits(kernel) for kernel in NAMED}
