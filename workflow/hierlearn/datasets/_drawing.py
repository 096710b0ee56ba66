"""Draws points and labels of the library's laws and targets, and makes a documented function for each of them."""

import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, Literal, get_args, get_origin

import numpy as np
from sklearn.utils import check_random_state

from hierlearn.core import registry
from hierlearn.core.limits import misfits, plain
from hierlearn.core.parameters import Count, Index, NotNegative, schema
from hierlearn.core.problem import Problem, essential, pose, streams_of
from hierlearn.core.protocols import State

Description = str | Mapping[str, Any]
SETTINGS = {"n_samples": Count, "n_features": Index, "noise": NotNegative, "scale": Literal["unit", "paper"]}


@dataclass(frozen=True)
class Truth:
    """What labels were made from.

    targets: noise-free labels, of the shape of y; parameters: arrays of the target by name, such as directions or
    weights, without the axis of seeds; features: of its hidden layers by name, (n_samples, k) each; parts: what the
    target is the sum of by name, (n_samples, n_outputs) each; norm: root of its mean square under the law of X, in the
    units of y; problem: the problem itself, which draws further points.
    """

    targets: np.ndarray
    parameters: dict[str, np.ndarray]
    features: dict[str, np.ndarray]
    parts: dict[str, np.ndarray]
    norm: float
    problem: Problem


def described(component: Description) -> dict[str, Any]:
    """Return a component's description as a mapping; a word is its name."""
    return {"name": component} if isinstance(component, str) else dict(component)


def draw(
    teacher: Description,
    law: Description,
    n_samples: int,
    n_features: int,
    noise: float,
    scale: str,
    random_state: Any,
    role: str,
    draw: str,
    return_truth: bool,
) -> Any:
    """Return X (n, d) float32 and y, (n,) or (n, k) float64, classes as integers; with the `Truth` if asked.

    An integer `random_state` is the seed of a study: equal descriptions give the points of the workflow, bit by bit.
    Raises ValueError, one line, for values outside their limits.
    """
    check(n_samples=n_samples, n_features=n_features, noise=noise, scale=scale)
    content: dict[str, Any] = {
        "input": described(law),
        "teacher": described(teacher),
        "scale": scale,
        "label_noise": _number(noise),
        "dimension": int(n_features),
    }
    inputs = registry.build("inputs", content["input"], dimension=content["dimension"])
    target = registry.build("teachers", content["teacher"])
    inputs.raise_for(inputs)
    target.raise_for(inputs)
    streams = streams_of(essential(content), (_seed(random_state),), draw)
    problem = pose(inputs, target, scale, content["label_noise"], streams)
    batch = problem.draw(role, int(n_samples))
    y = _labels(target, batch.labels[0])
    x = batch.x[0].reshape(len(batch.x[0]), -1)
    if not return_truth:
        return x, y
    truth = Truth(
        _labels(target, batch.target[0]),
        *_of_truth(problem, batch.x),
        float((problem.norm * problem.factor)[0]),
        problem,
    )
    return x, y, truth


def _of_truth(problem: Problem, x: np.ndarray) -> tuple[State, State, State]:
    """Return parameters, features and parts of the target, without the axis of seeds."""
    teacher, state = problem.teacher, problem.state

    def single(of: Mapping[str, np.ndarray]) -> State:
        return {name: values[0] for name, values in of.items()}

    return single(state), single(teacher.hidden(state, x)), single(teacher.parts(state, x))


def _labels(teacher: Any, labels: np.ndarray) -> np.ndarray:
    """Return labels (n, k) in scikit-learn's manner: (n,) for one output, classes as integers from 0."""
    if teacher.kind == "classes":
        return (labels[:, 0] > 0).astype(int) if labels.shape[1] == 1 else labels.argmax(axis=1)
    return labels[:, 0] if labels.shape[1] == 1 else labels


def points(law: Description, n_samples: int, n_features: int, random_state: Any) -> np.ndarray:
    """Return points of a law, (n_samples, n_features) float32. Raises ValueError as `draw`."""
    check(n_samples=n_samples, n_features=n_features)
    content = described(law)
    inputs = registry.build("inputs", content, dimension=int(n_features))
    inputs.raise_for(inputs)
    streams = streams_of({"input": content, "dimension": int(n_features)}, (_seed(random_state),))
    found = inputs.sample(streams.at("points", "training"), "training", 0, int(n_samples))[0]
    return found.reshape(len(found), -1)


def check(**values: Any) -> None:
    """Check settings of a draw. Raises ValueError, one line."""
    for name, value in values.items():
        for place, found, allowed in misfits(plain(value), schema(SETTINGS[name])):
            raise ValueError(f"{name}{place} {found!r}; expected {allowed}")


def _number(value: float) -> float:
    """Return a whole number as an integer: it is written so in studies, and its text keys the draws."""
    return int(value) if float(value).is_integer() else float(value)


def _seed(random_state: Any) -> int:
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return int(random_state)
    return int(check_random_state(random_state).randint(2**31))


@dataclass(frozen=True)
class Defaults:
    """What a function of a target draws if it is not told: points, coordinates, the law of points, the scale."""

    n_samples: int = 100
    n_features: int = 10
    law: Description = "sphere"
    scale: str = "unit"


def maker(name: str, teacher: str, defaults: Defaults, example: str) -> Callable[..., Any]:
    """Make the function that draws a target's data: its signature and its page come from what the target declares.

    name: of the function; teacher: of the component; example: lines of a doctest.
    """
    component = registry.implementation("teachers", teacher)
    own = _parameters(component)

    def make(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs)
        given.apply_defaults()
        values = dict(given.arguments)
        description = {"name": teacher} | {key: values.pop(key) for key in own if values[key] is not MISSING}
        return draw(description, values.pop("law"), **values)

    signature = inspect.Signature([*_settings(defaults), *_keywords(own, defaults)])
    make.__name__ = make.__qualname__ = name
    make.__module__ = "hierlearn.datasets"
    vars(make)["__signature__"] = signature
    make.__doc__ = _page(component, own, defaults, example)
    return make


def _parameters(component: type[Any]) -> dict[str, tuple[Any, str, Any]]:
    """Annotation, text and default of every declared parameter of a component, by name."""
    found = {}
    for field in fields(component):
        if get_origin(field.type) is Annotated:
            kind, *marks = get_args(field.type)
            text = next((mark for mark in marks if isinstance(mark, str)), "")
            default = field.default if field.default_factory is MISSING else field.default_factory()
            found[field.name] = kind, text, default
    return found


def _settings(defaults: Defaults) -> list[inspect.Parameter]:
    either = inspect.Parameter.POSITIONAL_OR_KEYWORD
    return [
        inspect.Parameter("n_samples", either, default=defaults.n_samples, annotation=int),
        inspect.Parameter("n_features", either, default=defaults.n_features, annotation=int),
    ]


def _keywords(own: Mapping[str, tuple[Any, str, Any]], defaults: Defaults) -> list[inspect.Parameter]:
    values = {name: (kind, default) for name, (kind, _, default) in own.items()} | {
        "law": (str | Mapping, defaults.law),
        "noise": (float, 0.0),
        "scale": (str, defaults.scale),
        "random_state": (int | None, None),
        "role": (str, "training"),
        "draw": (str, ""),
        "return_truth": (bool, False),
    }
    only = inspect.Parameter.KEYWORD_ONLY
    return [inspect.Parameter(name, only, default=default, annotation=kind) for name, (kind, default) in values.items()]


def _words(annotation: Any) -> str:
    """Write an annotation as scikit-learn's pages do."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _words(parts[0])
    if origin is Literal:
        return "{" + ", ".join(map(repr, parts)) + "}"
    if origin is list:
        return f"list of {_words(parts[0])}"
    if parts:
        return " or ".join(_words(part) for part in parts)
    if annotation is type(None):
        return "None"
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


COMMON = """
law : str or mapping, default={law}
    Law of X: {laws}, or a mapping with its `name` and parameters.
noise : float, default=0.0
    {noise}
scale : {{"unit", "paper"}}, default={scale}
    "unit" divides targets by their root mean square; "paper" leaves them as the paper states them.
random_state : int, RandomState instance or None, default=None
    Seed. An integer gives the points that a study draws at that seed.
role : {{"training", "validation", "test"}}, default="training"
    Which independent points of the same target are drawn.
draw : str, default=""
    Word for independent numbers of the same problem.
return_truth : bool, default=False
    Whether a `Truth` is returned too.

Returns
-------
X : ndarray of shape (n_samples, n_features)
    Points, float32.
y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
    {labels}
truth : Truth
    Only with `return_truth`.
"""


def _page(component: type[Any], own: Mapping[str, tuple[Any, str, Any]], defaults: Defaults, example: str) -> str:
    """Write the docstring of a function in numpydoc's form."""
    head = ["n_samples : int", "    Number of points.", "n_features : int", "    Number of coordinates of a point."]
    for name, (kind, text, default) in own.items():
        head += [f"{name} : {_words(kind)}, default={default!r}"]
        head += textwrap.wrap(text.replace("null: ", "None: "), 110, initial_indent="    ", subsequent_indent="    ")
    flips, noise = "the probability that a label is of another class", "Standard deviation of the noise of labels"
    if "kind" in own:
        noise += f"; of classes {flips}"
    elif component.kind == "classes":
        noise = flips[0].upper() + flips[1:]
    common = COMMON.format(
        law=repr(defaults.law) if isinstance(defaults.law, str) else repr(dict(defaults.law)),
        laws=", ".join(component.LAWS) or "any of `hierlearn.available('inputs')`",
        noise=f"{noise}.",
        scale=repr(defaults.scale),
        labels="Classes, integers from 0." if component.kind == "classes" else "Labels, float64; classes as integers.",
    )
    first, _, rest = (inspect.getdoc(component) or "").partition("\n")
    text = f"Draw points and labels of a target: {first}\n{rest}\n\nParameters\n----------\n"
    return text + "\n".join(head) + common + "\nExamples\n--------\n" + textwrap.dedent(example).strip() + "\n"
