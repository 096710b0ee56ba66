"""Limits of constructor parameters: those that the components declare, in the words of the estimators."""

from collections.abc import Mapping
from typing import Any

from hierlearn.core.limits import misfits, plain
from hierlearn.core.parameters import properties, schema


def refuse(estimator: Any, parameter: str, value: Any, declared: Mapping[str, Any]) -> None:
    """Check a parameter against a JSON Schema. Raises ValueError, one line, that names estimator and parameter."""
    for place, found, allowed in misfits(plain(value), declared):
        raise ValueError(f"{type(estimator).__name__}: {parameter}{place} {found!r}; expected {allowed}")


def refuse_annotated(estimator: Any, limits: Mapping[str, Any]) -> None:
    """Check parameters against annotations as components have them. Raises ValueError as `refuse`."""
    for parameter, annotation in limits.items():
        refuse(estimator, parameter, vars(estimator)[parameter], schema(annotation))


def component(estimator: Any, kind: type, words: Mapping[str, str], **given: Any) -> Any:
    """Build a component from an estimator's parameters.

    words: the component's parameter by the estimator's name for it; given: further parameters of the component. Raises
    ValueError, one line, for a value outside what the component declares, or for values that do not go together.
    """
    declared, values = properties(kind), {}
    for parameter, theirs in words.items():
        values[theirs] = plain(vars(estimator)[parameter])
        refuse(estimator, parameter, values[theirs], declared[theirs])
    try:
        return kind(**values, **given)
    except ValueError as error:
        _, _, rest = str(error).partition(": ")
        raise ValueError(f"{type(estimator).__name__}: {rest}") from error
