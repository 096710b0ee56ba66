"""What the manual says of each kind of component, from its protocol, its template and the checks that it must pass.

A page of components/ asks for the parts by a line of its own, such as {kind teachers}.
"""

import ast
import inspect
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import generated
import yaml

from hierlearn.core import contracts, registry
from hierlearn.core.component import Component
from hierlearn.core.protocols import PROTOCOLS, Experiment, Fit, TrainingData
from hierlearn.pipeline.command.template import TEMPLATES
from hierlearn.statistics.estimates import Measurement

ROOT = generated.ROOT
CHECKS = ROOT / "tests" / "contract"
# What methods of a kind are given and return.
PASSED: Mapping[str, tuple[type, ...]] = {"learners": (TrainingData, Fit), "quantities": (Measurement,)}
SINGULAR = {"representations": "representation", "quantities": "quantity"}
# What a class may state beside its parameters. A new attribute of a protocol without a line here ends the build.
LITERALS = {
    "law": "what teachers and other components call the law of x",
    "dimension": "the number d of coordinates, set by the problem",
    "norm": "root of the mean of |x|²: `unit` or `sqrt_dimension`",
    "shape": "channels, height and width, where points are pictures",
    "kind": "`regression`, or `classes`: the sign of one output, or the largest of several",
    "outputs": "the number k of outputs",
    "basis": "the orthogonal polynomials of one degree that the target is a sum of",
    "order": "the number of signs that the target multiplies",
    "links": "of a network of squares: which layers each layer reads",
    "layer_widths": "of a network of squares: the width of each layer",
    "centre": "of a network of squares: the c of its first layer, x² − c",
    "unlabelled": "how many unlabelled points `fit` is given",
    "batch_seeds": "whether one call trains all seeds; no number of a seed may change by it",
    "trains": "whether it trains what it measures",
    "UNIT": "one or two words for the number; `{averaged}` stands for what `variable` names",
    "METHOD": "what the interval is made from",
    "ALONG": "the axis of a slope, where no parameter names one",
    "READS": "variables that it reads beside those that its parameters name",
    "reads_traces": "whether `measure` is given the traces too",
    "learners": "names of the learners that it rests on",
    "letters": "letters of the panels that can be drawn alone",
    "MEASURES": "names of what it measures, one line each",
    "TRACES": "names of what it records while it trains, one line each",
    "COORDINATES": "coordinates of the result, each with the parameter that lists its values",
    "LAWS": "the laws of x that it is defined for; all of them where it says none",
    "Choices": "a class with what a study selects on validation points, or sweeps",
    "stream_key": "the word for it in keys of random streams, so that a new name changes no number",
    "stream_words": "the same for parameters with new names",
}


def kind(name: str) -> str:
    """Every part of a kind's page below its first lines."""
    parts = {
        "A file to begin with": _files(name),
        "In a study": _use(name),
        "Methods": _methods(name),
        "Literals": _literals(name),
        "What is checked": _checks(name),
        f"All {name}": _members(name),
    }
    return "\n".join(line for title, lines in parts.items() for line in ("", f"## {title}", "", *lines))


def kinds() -> str:
    """A table of the kinds with the names of their components."""
    lines = ["| kind | components |", "| --- | --- |"]
    for name in registry.KINDS:
        known = ", ".join(f"[`{one}`](#component-{name}-{one})" for one in registry.available(name))
        lines.append(f"| [{name}](components/{name}.md) | {known} |")
    return "\n".join(lines)


def _files(name: str) -> Iterator[str]:
    """The templates that `hierlearn new` writes."""
    for room in registry.rooms(name):
        word = SINGULAR.get(room, room.removesuffix("s"))
        yield f"`hierlearn new {word} mine --folder ../mine` writes this file as `../mine/{room}/mine.py`:"
        text = (TEMPLATES / room / "template.py").read_text(encoding="utf-8")
        yield from (
            "",
            "```python",
            text.replace("Template", "Mine").replace('"template"', '"mine"').rstrip(),
            "```",
            "",
        )


def _use(name: str) -> Iterator[str]:
    """How a shipped study names a component of the kind, the shortest with a parameter."""
    study, place, shortest = min(_uses()[name], key=lambda one: (len(str(one[2])), one[0]))
    content: Any = shortest
    for key in reversed(place):
        content = [content] if isinstance(key, int) else {key: content}
    text = yaml.safe_dump(content, sort_keys=False, default_flow_style=None, width=100, allow_unicode=True)
    yield from (f"From `config/studies/{study}.yaml`:", "", "```text", text.rstrip(), "```")


@cache
def _uses() -> Mapping[str, list[tuple[str, tuple[Any, ...], Any]]]:
    """Per kind: study, place and description of every component with a parameter."""
    found: dict[str, list[tuple[str, tuple[Any, ...], Any]]] = {name: [] for name in registry.KINDS}

    def walk(study: str, place: tuple[Any, ...], part: Any) -> None:
        if isinstance(part, Mapping):
            names = [one for one in registry.KINDS if _fits(one, place, part)]
            if names and len(part) > 1:
                found[names[0]].append((study, place, part))
            for key, below in part.items():
                walk(study, (*place, key), below)

    for file in sorted((ROOT / "config" / "studies").glob("*.yaml")):
        walk(file.stem, (), yaml.safe_load(file.read_text(encoding="utf-8")))
    return found


def _fits(name: str, place: tuple[Any, ...], part: Mapping[str, Any]) -> bool:
    """Whether a mapping at a place of a study describes a component of the kind."""
    last = {
        "inputs": "input",
        "teachers": "teacher",
        "learners": "learner",
        "kernels": "kernel",
        "quantities": "quantity",
    }
    at = {"figures": ("figure",)}.get(name)
    sections = {"representations": "representations", "probes": "probes"}
    if part.get("name") not in registry.available(name) or "presets" in place:
        return False
    if name in sections:
        return place[:1] == (sections[name],) and place[-1] in (place[1], "probe")
    return place == at if at else place[-1:] == (last[name],)


def _methods(name: str) -> Iterator[str]:
    """What the protocol of a kind asks, from its source."""
    protocol = PROTOCOLS[name]
    yield "S seeds, n points or samples, d coordinates, D features, k outputs. You may leave out what is not required."
    for passed in PASSED.get(name, ()):
        about = [" ".join(part.split()) for part in (inspect.getdoc(passed) or "").split("\n\n")]
        yield from ("", f"`{passed.__name__}`: {generated.plain(' '.join(about))}")
    for owner in (protocol, Component):
        if owner is Component:
            yield from ("", "Components of every kind may also have:")
        for method, function in vars(owner).items():
            if not inspect.isfunction(function) or (method.startswith("_") and method != "__call__"):
                continue
            if method in ("raise_for", "raise_first", "raise_for_data", "__subclasshook__"):
                continue
            mark = " **required**" if getattr(function, "__isabstractmethod__", False) else ""
            about = " ".join(inspect.getdoc(function).split()) if inspect.getdoc(function) else ""
            yield from ("", f"- `{method}({_arguments(function)})`{mark}: {generated.plain(about)}")


def _arguments(function: Any) -> str:
    """The arguments of a method with their types, as its source writes them."""
    node = ast.parse(inspect.cleandoc("\n" + inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef)
    node.args.args = node.args.args[1:]
    return ast.unparse(node.args)


def _literals(name: str) -> Iterator[str]:
    """What classes of a kind state beside their parameters."""
    protocol = PROTOCOLS[name]
    own = {*vars(protocol), *inspect.get_annotations(protocol), *(vars(Experiment) if name == "probes" else ())}
    own = {one for one in own if not one.startswith("_") and not inspect.isfunction(vars(protocol).get(one))}
    general = {*inspect.get_annotations(Component), "Choices"}
    used = {one for member in registry.available(name) for kind_ in _classes(name, member) for one in vars(kind_)}
    stated = sorted((own & LITERALS.keys()) | (general & used), key=list(LITERALS).index)
    if missing := {one for one in own if not one.isidentifier() or one not in LITERALS} - {"fit", "measure", "draw"}:
        raise ValueError(f"LITERALS: found nothing on {', '.join(sorted(missing))} of {protocol.__name__}")
    yield "A parameter is an annotated field of the class: type and limits, one sentence, its default."
    if stated:
        yield from ("The class may also state:", "", "| literal | meaning |", "| --- | --- |")
        yield from (f"| `{one}` | {LITERALS[one]} |" for one in stated)


def _classes(name: str, member: str) -> list[type]:
    """The class of a component and those that it inherits from in the package, without the protocols."""
    mro = registry.implementation(name, member).__mro__
    return [
        one
        for one in mro
        if one.__module__.startswith("hierlearn.") and not one.__module__.startswith("hierlearn.core")
    ]


def _checks(name: str) -> Iterator[str]:
    """What is asked of a component while a study runs, and by `hierlearn check`."""
    protocols = {PROTOCOLS[name].__name__}
    yield "While a study runs, a wrong result ends the job with one line that names your file and method:"
    yield ""
    for function in vars(contracts).values():
        about = inspect.getdoc(function) if inspect.isfunction(function) else None
        first = " ".join(about.split("\n\n")[0].split()) if about else ""
        if match := re.match(r"Return (\w+)\.(\w+): (.*)", first):
            if match[1] in protocols:
                yield f"- `{match[2]}`: {generated.plain(match[3])}"
        elif name == "kernels" and first.startswith("Return the kernel's matrix"):
            yield f"- `__call__`: {generated.plain(first.partition(': ')[2])}"
        elif name == "teachers" and "Teacher.norm is not" in first:
            yield f"- `norm`: {generated.plain(first)}"
    yield from ("", "`hierlearn check` asks more, in seconds:", "")
    singular = SINGULAR.get(name, name.removesuffix("s"))
    for file in ("test_every_component.py", "test_protocols_are_whole.py", f"test_every_{singular}.py"):
        if (CHECKS / file).exists():
            tree = ast.parse((CHECKS / file).read_text(encoding="utf-8"))
            tests = [one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name.startswith("test_")]
            yield from (f"- {one.name.removeprefix('test_').replace('_', ' ')}" for one in tests if one.args.args)


def _members(name: str) -> Iterator[str]:
    """Every component of the kind with its parameters."""
    for member in registry.available(name):
        yield from generated.component(name, member)
