"""What a component returns, checked where it enters the workflow: everything of theirs is asked for through here.

S seeds, n samples, k outputs. A wrong shape, kind or value is one line that names the component's file and method, what
was found and what is expected. A prediction that is not finite is no fault of the component's: it is data of that cell.
"""

import inspect
from collections.abc import Callable, Collection, Mapping
from numbers import Integral, Real
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from hierlearn.core import process
from hierlearn.core.parameters import choices as learner_choices
from hierlearn.core.protocols import (
    FLOPS,
    STATIONARY,
    STATUS,
    Experiment,
    Features,
    Figure,
    Fit,
    Input,
    Kernel,
    Learner,
    Monitor,
    Probe,
    Quantity,
    Representation,
    State,
    Teacher,
    TrainingData,
)
from hierlearn.core.provenance import BrokenSource, location
from hierlearn.core.streams import Streams

if TYPE_CHECKING:
    from hierlearn.core.problem import Problem

# A component and the method that is asked.
At: TypeAlias = tuple[Any, str]

# What a learner may say of a seed; the others are said of cells that nobody trains.
FITTED = ("ok", "not_converged", "diverged", "collapsed", "singular")
CERTIFICATE = ("gradient_norm", "smallest_curvature", "certificate_error", "stationary")
KINDS = {"f": "float", "biuf": "numbers", "iu": "integers", "Ubiuf": "numbers or words"}
WORDS = {Real: "a number", Integral: "an integer", str: "text", dict: "a dict", bool: "a truth value"}
# A norm is refused where it is outside both of the mean over points, in standard errors and as a factor.
NORM_POINTS, NORM_NUMBERS, STANDARD_ERRORS, FACTOR = 1 << 13, 1 << 23, 5.0, 1.2
# Points that carry the mean of |f*|^2, (sum |f*|^2)^2 / sum |f*|^4, without which no norm is called too large.
POINTS_AT_LEAST = 100


class BrokenContract(BrokenSource):
    """Something that a component must not return; the message is one line that names its file."""


def points(inputs: Input, streams: Streams, role: str, start: int, count: int) -> np.ndarray:
    """Return Input.sample: (S, count, *shape) float32, finite."""
    found = _ask(inputs.sample, streams, role, start, count)
    return _array((inputs, "sample"), "", found, (len(streams.seeds), count, "d", ...), np.float32)


def rows(inputs: Input, streams: Streams, role: str, start: int, count: int) -> np.ndarray | None:
    """Return Input.rows: (S, count) integers, or None."""
    found = _ask(inputs.rows, streams, role, start, count)
    return None if found is None else _array((inputs, "rows"), "", found, (len(streams.seeds), count), "iu")


def points_of_rows(inputs: Input, numbers: np.ndarray) -> np.ndarray:
    """Return Input.of_rows: (S, n, *shape) float32, finite."""
    found = _ask(inputs.of_rows, numbers)
    return _array((inputs, "of_rows"), "", found, (*numbers.shape, "d", ...), np.float32)


def target_of_rows(teacher: Teacher, inputs: Input, numbers: np.ndarray) -> np.ndarray | None:
    """Return Teacher.of_rows: (S, n, k) float, finite, or None."""
    found = _ask(teacher.of_rows, inputs, numbers)
    return None if found is None else _array((teacher, "of_rows"), "", found, (*numbers.shape, teacher.outputs))


def teacher_state(teacher: Teacher, streams: Streams, inputs: Input) -> State:
    """Return Teacher.draw: arrays of finite numbers, the seed first."""
    return _state((teacher, "draw"), _ask(teacher.draw, streams, inputs), len(streams.seeds), finite=True)


def target(teacher: Teacher, state: State, x: np.ndarray) -> np.ndarray:
    """Return Teacher.target: (S, n, k) float, finite."""
    return _array((teacher, "target"), "", _ask(teacher.target, state, x), (*x.shape[:2], teacher.outputs))


def norm(teacher: Teacher, state: State, inputs: Input, seeds: int) -> np.ndarray:
    """Return Teacher.norm: (S,) float, positive and finite."""
    found = _array((teacher, "norm"), "", _ask(teacher.norm, state, inputs), (seeds,))
    if not np.all(found > 0):
        raise _refusal((teacher, "norm"), f"{np.min(found):g}", "positive norms")
    return found


def bases(teacher: Teacher, state: State, x: np.ndarray) -> np.ndarray:
    """Return Teacher.bases: (S, n, b) float, finite."""
    return _array((teacher, "bases"), "", _ask(teacher.bases, state, x), (*x.shape[:2], "b"))


def norm_of_points(teacher: Teacher, state: State, inputs: Input, streams: Streams) -> None:
    """Raise BrokenContract where points of these streams show that Teacher.norm is not the target's norm.

    Refused is what is outside both FACTOR and STANDARD_ERRORS, for a seed or for all together. Polynomials of a high
    degree are heavy-tailed: where few points carry the mean, a larger norm may hang on points that no sample shows.
    """
    seeds = streams.seeds
    claimed = norm(teacher, state, inputs, len(seeds))
    size = points(inputs, streams.take([0]), "norm-check", 0, 1).size
    count = max(min(NORM_POINTS, NORM_NUMBERS // size), 1)
    ratios = np.empty((len(seeds), count))
    for i in range(len(seeds)):
        x = points(inputs, streams.take([i]), "norm-check", 0, count)
        found = target(teacher, {name: values[[i]] for name, values in state.items()}, x)[0]
        ratios[i] = np.sum(np.square(found), axis=-1) / claimed[i] ** 2
    for group in [*([i] for i in range(len(seeds))), list(range(len(seeds)))]:
        ratio = np.mean(ratios[group])
        carried_by = np.sum(ratios[group]) ** 2 / max(np.sum(ratios[group] ** 2), np.finfo(float).tiny)
        error = max(ratio, 1.0) / np.sqrt(max(carried_by, 1.0))
        inside = FACTOR**-2 <= ratio <= FACTOR**2 or abs(ratio - 1.0) <= STANDARD_ERRORS * error
        if not inside and (ratio > 1.0 or carried_by >= POINTS_AT_LEAST):
            size = np.sqrt(np.mean(claimed[group] ** 2))
            which = f"seed{'s' * (len(group) > 1)} {', '.join(str(seeds[i]) for i in group)}"
            means = f"the L2 norm of the target over {len(group) * count} points"
            raise _refusal((teacher, "norm"), f"{size:.4g} for {which}", f"{size * np.sqrt(ratio):.4g}, {means}")


def representation_state(representation: Representation, unlabelled: np.ndarray, streams: Streams) -> State:
    """Return Representation.fit: arrays of finite numbers, the seed first."""
    found = _ask(representation.fit, unlabelled, streams)
    return _state((representation, "fit"), found, len(streams.seeds), finite=True)


def features(representation: Representation, state: State, x: np.ndarray) -> np.ndarray:
    """Return Representation.apply: (S, n, D) float32, finite."""
    found = _ask(representation.apply, state, x)
    return _array((representation, "apply"), "", found, (*x.shape[:2], "D", ...), np.float32)


def gram(kernel: Kernel | Callable[..., np.ndarray], x: np.ndarray, z: np.ndarray | None = None) -> np.ndarray:
    """Return the kernel's matrix: (n, n') float, finite for finite points."""
    found, other = (kernel(x), x) if z is None else (kernel(x, z), z)
    finite = bool(np.isfinite(x).all() and np.isfinite(other).all())
    return _array((kernel, "__call__"), "", found, (len(x), len(other)), finite=finite)


def fit(learner: Learner, sample: TrainingData, monitor: Monitor, cache: dict[Any, Any]) -> Fit:
    """Return Learner.fit: a `Fit` of all seeds. One whose risks are not finite has diverged, if it says nothing."""
    found = _ask(learner.fit, sample, monitor, cache)
    seeds, at = len(sample.streams.seeds), (learner, "fit")
    if not isinstance(found, Fit):
        raise _refusal(at, _show(found), "a Fit")
    _flags(at, "status", found.status, seeds, {name: STATUS[name] for name in FITTED})
    for name in ("validation_risk", "train_risk", *(["flops"] if found.flops is not None else [])):
        values = _array(at, name, vars(found)[name], (seeds,), "f" if name != "flops" else "biuf", finite=False)
        if np.any(values < 0):
            raise _refusal(at, f"{name} {np.nanmin(values):g}", "no negative numbers")
    _state(at, found.state, seeds)
    parts = {"choices": learner_choices(type(learner)), "measures": learner.MEASURES}
    for part, declared in parts.items():
        for name, values in _arrays(at, part, vars(found)[part], declared).items():
            _array(at, name, values, (seeds,), "biuf", finite=False)
    if found.certificate is not None:
        certificate = _arrays(at, "certificate", found.certificate)
        if set(certificate) != set(CERTIFICATE):
            raise _refusal(at, f"a certificate of {', '.join(certificate) or 'nothing'}", ", ".join(CERTIFICATE))
        _flags(at, "stationary", certificate.pop("stationary"), seeds, STATIONARY)
        for name, values in certificate.items():
            _array(at, name, values, (seeds,), finite=False)
    if found.trace:
        trace = _arrays(at, "trace", found.trace, ("step", *learner.TRACES))
        if "step" not in trace:
            raise _refusal(at, f"a trace of {', '.join(trace)}", "'step' among them")
        steps = _array(at, "step", trace["step"], (seeds, "steps"), "biuf").shape[1]
        for name, values in trace.items():
            _array(at, name, values, (seeds, steps), "biuf", finite=False)
    finite = np.isfinite(found.validation_risk) & np.isfinite(found.train_risk)
    found.status = with_divergence(found.status, finite)
    return found


def with_divergence(status: np.ndarray, finite: np.ndarray) -> np.ndarray:
    """Return the status (S,) of seeds: those not finite (S,) have diverged where none is said to have failed."""
    unsaid = np.isin(status, [STATUS["ok"], STATUS["not_converged"]])
    return np.where(unsaid & ~finite, STATUS["diverged"], status).astype(np.int8)


def predictions(
    learner: Learner, state: State, seen: Features, role: str, shape: tuple[int, int, int], cache: dict[Any, Any]
) -> np.ndarray:
    """Return Learner.predict on the first points of a role: `shape` (S, count, k), float; they may not be finite."""
    found = _ask(learner.predict, state, seen, role, shape[1], cache)
    return _array((learner, "predict"), "", found, shape, finite=False)


def measures(
    probe: Probe | Experiment, problem: "Problem", declared: Mapping[str, str], coordinates: Mapping[str, str]
) -> dict[str, Any]:
    """Return Probe.measure: all declared variables and no other, over coordinates that are among them.

    declared, coordinates: the literals MEASURES and COORDINATES of the probe.
    """
    found, at = _ask(probe.measure, problem), (probe, "measure")
    given = _arrays(at, "", found, [*declared, *coordinates, "seed", *FLOPS])
    for name, variable in given.items():
        if not {"dimensions", "values"} <= {*dir(variable)}:
            raise _refusal(at, f"{name} {_show(variable)}", "a Variable")
        for axis in variable.dimensions:
            if axis not in given:
                raise _refusal(at, f"{name} over {axis!r} without its values", f"a variable {axis!r}")
        shape = tuple(np.size(given[axis].values) for axis in variable.dimensions)
        # Only a coordinate may be words; a measure may be unknown somewhere.
        kind = "Ubiuf" if variable.dimensions == (name,) else "biuf"
        _array(at, name, np.asarray(variable.values), shape, kind, finite=False)
    missing = [name for name in declared if name not in given]
    # A probe that is given nothing along a coordinate has nothing to measure there.
    if missing and {*coordinates} <= {*given}:
        raise _refusal(at, f"no {missing[0]!r}", "all that MEASURES says")
    return given


def measurement(quantity: Quantity, *given: Any) -> Any:
    """Return Quantity.measure: a `Measurement` of numbers; its value and its ends may be unknown."""
    found, at = _ask(quantity.measure, *given), (quantity, "measure")
    kinds = {
        "value": Real,
        "low": Real,
        "high": Real,
        "reason": str,
        "seeds": Integral,
        "detail": dict,
        "sizes": str,
        "positive": bool,
    }
    if not kinds.keys() <= {*dir(found)}:
        raise _refusal(at, _show(found), "a Measurement")
    for (name, kind), value in zip(kinds.items(), attrgetter(*kinds)(found), strict=True):
        if not isinstance(value, kind):
            raise _refusal(at, f"{name} {_show(value)}", WORDS[kind])
    return found


def drawing(figure: Figure, *given: Any) -> Any:
    """Return Figure.draw: a matplotlib Figure."""
    found = _ask(figure.draw, *given)
    if "savefig" not in dir(found):
        raise _refusal((figure, "draw"), _show(found), "a matplotlib Figure")
    return found


def _ask(method: Any, *given: Any) -> Any:
    """Return what a component's method does for its arguments; what it sets of numpy's goes no further."""
    try:
        with process.kept():
            return method(*given)
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, TypeError):
            _refuse_parameters(method, given)
        raise
    # What ends a program.
    except BaseException as end:
        found = f"an exit ({end.code})" if isinstance(end, SystemExit) else f"{type(end).__name__} ({end})"
        raise _refusal((method.__self__, method.__name__), found, "a result or an error") from end


def _refuse_parameters(method: Any, given: tuple[Any, ...]) -> None:
    """Raise BrokenContract for a method that does not take the arguments of its protocol."""
    try:
        inspect.signature(method).bind(*given)
    except TypeError as error:
        component, name = method.__self__, method.__name__
        forms = [vars(kind)[name] for kind in type(component).__mro__ if name in vars(kind)]
        found, *_, expected = (", ".join(inspect.signature(form).parameters) for form in (*forms, forms[-1]))
        raise _refusal((component, name), f"the parameters ({found})", f"({expected})") from error


def _array(at: At, name: str, found: Any, shape: tuple[Any, ...], kind: Any = "f", finite: bool = True) -> np.ndarray:
    """Return the array, if it is as expected. shape: lengths, words for any length, ... for any axes; kind: a dtype, or
    the letters of the kinds that are allowed."""
    expected = KINDS[kind] if isinstance(kind, str) else np.dtype(kind).name
    lengths = ", ".join("..." if size is ... else str(size) for size in shape)
    sizes = f"{expected} of shape ({lengths}{',' * (len(shape) == 1)})"
    right = isinstance(found, np.ndarray) and _fits(found.shape, shape)
    if not right or not (found.dtype.kind in kind if isinstance(kind, str) else found.dtype == kind):
        raise _refusal(at, f"{name} {_show(found)}".strip(), sizes)
    if finite and found.dtype.kind == "f" and not _all_finite(found):
        wrong = sum(int(np.sum(~np.isfinite(part))) for part in found)
        raise _refusal(at, f"{name} {wrong} of {found.size} values that are not finite".strip(), "finite values")
    return found


def _all_finite(values: np.ndarray) -> bool:
    """Whether no entry is infinite or NaN, without a mask of all of them, for which no job has asked memory."""
    # A sum that is finite has finite terms; one of finite terms may still overflow.
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(values.sum())) or all(np.isfinite(part).all() for part in values)


def _fits(found: tuple[int, ...], expected: tuple[Any, ...]) -> bool:
    if expected and expected[-1] is ...:
        found, expected = found[: len(expected) - 1], expected[:-1]
    pairs = zip(found, expected, strict=False)
    return len(found) == len(expected) and all(isinstance(b, str) or a == b for a, b in pairs)


def _state(at: At, found: Any, seeds: int, finite: bool = False) -> State:
    for name, values in _arrays(at, "", found).items():
        _array(at, f"{name!r}", values, (seeds, ...), "biuf", finite)
    return found


def _arrays(at: At, part: str, found: Any, declared: Collection[str] | None = None) -> dict[str, Any]:
    """Return a dict with names alone as keys. declared: those that its class has."""
    if not isinstance(found, Mapping) or not all(isinstance(name, str) for name in found):
        raise _refusal(at, f"{part} {_show(found)}".strip(), "a dict of arrays by name")
    for name in found:
        if declared is not None and name not in declared:
            allowed = f"one of {', '.join(declared) or 'none'}, which its class declares"
            raise _refusal(at, f"{part} {name!r}".strip(), allowed)
    return dict(found)


def _flags(at: At, name: str, found: Any, seeds: int, meanings: Mapping[str, int]) -> None:
    values = set(_array(at, name, found, (seeds,), "iu").tolist())
    if wrong := sorted(values - set(meanings.values())):
        raise _refusal(at, f"{name} {wrong}", ", ".join(f"{value} ({word})" for word, value in meanings.items()))


def _show(found: Any) -> str:
    if isinstance(found, np.ndarray):
        return f"{found.dtype} of shape {found.shape}"
    return "nothing" if found is None else f"a {type(found).__name__}"


def _refusal(at: At, found: str, expected: str) -> BrokenContract:
    component, method = at
    kinds = type(component).__mro__
    function = component if inspect.isfunction(component) else next(vars(k)[method] for k in kinds if method in vars(k))
    function = inspect.unwrap(function)
    place = location(function.__code__.co_filename, function.__code__.co_firstlineno)
    if function.__module__.rpartition(".")[2].startswith("_"):
        # What a component inherits from a helper of its room returns what the component itself made.
        place = location(inspect.getsourcefile(type(component)) or "", inspect.getsourcelines(type(component))[1])
    return BrokenContract(f"{place}: {method}: found {found}; expected {expected}")
