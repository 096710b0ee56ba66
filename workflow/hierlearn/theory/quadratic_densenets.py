"""Which quadratic DenseNets there are: widths, connection graphs and weights of layers  (allenzhu2020, eq. 1.2-1.3)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

# Where a study says nothing: 4 and 2 features at L = 3, as in the settings in which the correction is seen.
FIRST_WIDTH = 4
# Polynomials of degree 2^L of normal variables: from here on no sample of ordinary size shows their second moments.
EXPLOSIVE_DEPTH = 4
UNBOUNDED = ("gaussian", "gaussian_mixture")


def layer_widths(depth: int, widths: Sequence[int] | None, first: int | None = None) -> tuple[int, ...]:
    """Return k_2 .. k_L; one width stands for all layers, and without a choice they are 4, 2, 1, 1, ...

    first: k_2 in the place of what these say.
    """
    if widths is None:
        chosen = tuple(max(1, FIRST_WIDTH >> layer) for layer in range(depth - 1))
    else:
        chosen = tuple(widths) * (depth - 1 if len(widths) == 1 else 1)
    return chosen if first is None else (first, *chosen[1:])


def links(depth: int, graph: Sequence[Sequence[int]] | None) -> tuple[tuple[int, ...], ...]:
    """Return J_2 .. J_L, each increasing; without a choice J_2 = {0, 1} and J_l = {0, l - 1}."""
    return links_by_name("skip", depth) if graph is None else tuple(tuple(sorted(sources)) for sources in graph)


def links_by_name(name: str, depth: int) -> tuple[tuple[int, ...], ...]:
    """Return J_2 .. J_L: skip, J_l = {0, l - 1}; chain, J_l = {l - 1}; dense, all earlier layers. J_2 = {0, 1}."""
    graphs: dict[str, Callable[[int], tuple[int, ...]]] = {
        "skip": lambda l: (0, l - 1),
        "chain": lambda l: (l - 1,),
        "dense": lambda l: tuple(range(l)),
    }
    seen = graphs[name]
    return ((0, 1), *(seen(layer) for layer in range(3, depth + 1)))


def layer_weights(
    depth: int, alphas: Sequence[float] | None, gap: float, last: float | None = None
) -> tuple[float, ...]:
    """Return alpha_2 .. alpha_L; without a choice 1, gap, gap^2, ...; last: alpha_L / alpha_{L-1} in place of gap."""
    chosen = tuple(gap**power for power in range(depth - 1)) if alphas is None else tuple(alphas)
    return chosen if last is None or depth < 3 else (*chosen[:-1], last * chosen[-2])


def faults(parameters: Mapping[str, Any], inputs: Mapping[str, Any], dimension: int) -> Iterator[tuple[str, str, str]]:
    """Yield (parameter, what was found, what is allowed) of everything that makes a teacher impossible.

    parameters: of the teacher; inputs: description of the law of x.
    """
    depth = parameters["depth"]
    available = dimension - 1 if parameters["kind"] == "classes" else dimension
    for name, what in (("widths", "width"), ("graph", "set J_l"), ("alphas", "weight")):
        given = parameters[name]
        if given is not None and len(given) != depth - 1 and (name, len(given)) != ("widths", 1):
            yield name, f"{len(given)} entries at depth {depth}", f"one {what} for each of the layers 2 to {depth}"
    widths = layer_widths(depth, parameters["widths"], parameters["first_width"])
    if widths and widths[0] > available:
        beside = "the dimension" if available == dimension else "the dimension less the threshold's coordinate"
        yield "widths", f"a layer 2 of width {widths[0]}", f"at most {available}, {beside}"
    for layer, (before, width) in enumerate(pairwise(widths), start=3):
        if width > before:
            yield "widths", f"{before} then {width} at layer {layer}", "widths that do not grow with the layer"
    for layer, sources in enumerate(links(depth, parameters["graph"])[: depth - 1], start=2):
        yield from (("graph", *fault) for fault in _link_faults(layer, sources))
    alphas = parameters["alphas"]
    if alphas is not None and not any(alphas):
        yield "alphas", "zeros only", "one weight above 0"
    elif (
        alphas is not None
        and len(alphas) == depth - 1
        and not any(layer_weights(depth, alphas, parameters["gap"], parameters["last_gap"]))
    ):
        yield "alphas", "zeros before the layer that last_gap weighs", "a weight above 0 among them"
    if inputs["name"] == "gaussian" and inputs.get("norm", "sqrt_dimension") != "sqrt_dimension":
        yield "kind", f"the input gaussian of norm {inputs['norm']}", "coordinates of variance 1: norm sqrt_dimension"


def warnings(
    parameters: Mapping[str, Any], inputs: Mapping[str, Any], dimension: int
) -> Iterator[tuple[str, str, str]]:
    """Yield (parameter, what is so, why it may not be meant) of what the theorems leave out or that cannot be
    measured."""
    depth = parameters["depth"]
    alphas = layer_weights(depth, parameters["alphas"], parameters["gap"], parameters["last_gap"])
    if any(after >= before for before, after in pairwise(alphas)):
        name = "gap" if parameters["alphas"] is None else "alphas"
        assumed = (
            "the theorems assume that each layer weighs less than the layer below it, which is the information gap"
        )
        yield name, "the weights of the layers do not fall", assumed
    if depth >= EXPLOSIVE_DEPTH and inputs["name"] in UNBOUNDED:
        found = f"the target is a polynomial of degree {2**depth} of the input {inputs['name']}"
        yield "depth", found, "no sample shows the mean of its square; it does for a bounded input such as uniform"


def _link_faults(layer: int, sources: Sequence[int]) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with J_l: it has l - 1, not l - 2, and some j <= l - 3  (allenzhu2020, footnote 4)."""
    found = f"J_{layer} = {{{', '.join(map(str, sources))}}}"
    if not sources or len(set(sources)) < len(sources) or not set(sources) <= set(range(layer)):
        yield found, f"different numbers of earlier layers, 0 to {layer - 1}"
    elif layer >= 3:
        if layer - 1 not in sources:
            yield found, f"a set with the layer {layer - 1} before it"
        if layer - 2 in sources:
            yield found, f"a set without the layer {layer - 2} two before it"
        if not any(source <= layer - 3 for source in sources):
            yield found, f"a set with a skip link from a layer up to {layer - 3}"
