"""What the manual says from declarations: keys, components, equations and studies, as Markdown.

A page asks for one of these by a line of its own, such as {keys}, in whose place conf.py puts what the function of that
name returns.
"""

import contextlib
import csv
import io
import json
import os
import re
from ast import ClassDef, FunctionDef, Module, get_docstring, parse, walk
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from hierlearn.core import registry
from hierlearn.pipeline.claims import history
from hierlearn.pipeline.claims.page.mathematics import html
from hierlearn.pipeline.command.__main__ import parser
from hierlearn.statistics.decisions import Scatter, expected_width

ROOT = Path(__file__).parents[1]
PACKAGE = registry.PACKAGE
SCHEMA_FILES = PACKAGE / "pipeline" / "schemas"
SCHEMAS = {
    "Settings of a run": ("config", "`config/config.yaml`, and `--config key=value`."),
    "A study": (
        "study",
        "`config/studies/<study>.yaml`. The parameters of components are [on their page](components.md).",
    ),
    "Published numbers": ("published", "`config/published/<paper>.yaml`."),
}
# Keys that no shipped study uses.
EXAMPLES = {
    "claims.<name>.asked_after": "C1-p4",
    "claims.<name>.regime": "limit",
    "claims.<name>.withdrawn": "{quote: a sentence of the paper, where: Section 3}",
    "claims.<name>.withdrawn.quote": "a sentence of the paper",
    "claims.<name>.withdrawn.where": "Section 3",
    "claims.<name>.rival.missing": "no rival is known",
    "rivals.<name>.missing": "no rival is known",
    **dict.fromkeys(("revisions.full", "revisions.paper", "revisions.smoke"), "2"),
}
LONGEST = 100
LIMITS = {"minimum": "≥", "maximum": "≤", "exclusiveMinimum": ">", "exclusiveMaximum": "<", "multipleOf": "multiple of"}
PAPERS = ("chen2020", "bai2020", "allenzhu2019", "allenzhu2020")
# How a docstring cites: (chen2020, eq. 8; bai2020, Section 6).
CITATION = re.compile(rf"\s*\(((?:{'|'.join(PAPERS)})(?:[^()]|\([^()]*\))*)\)")
PLACES = ("eq", "Theorem", "Lemma", "Proposition", "Algorithm", "Remark", "Figure", "Section", "Appendix", "")
Schema = Mapping[str, Any]


def configuration() -> str:
    """config/README.md below its title, with its links as the manual sees them."""
    text = (ROOT / "config" / "README.md").read_text(encoding="utf-8")
    return text.partition("\n")[2].replace("](../docs/", "](")


def keys() -> str:
    """Every key of the settings, of a study file and of published numbers, as the schemas declare it."""
    lines = []
    for title, (name, where) in SCHEMAS.items():
        schema = yaml.safe_load((SCHEMA_FILES / f"{name}.schema.yaml").read_text(encoding="utf-8"))
        rows = list(_keys(schema, schema.get("$defs", {}), ""))
        table = _table("key", rows)
        if name == "study":
            table = _table("key", rows, "example", _examples({key for key, _ in rows}))
        lines += ["", f"## {title}", "", where, "", *table]
    return "\n".join(lines)


def _examples(names: set[str]) -> dict[str, str]:
    """How a shipped study writes each key, the shortest of all; <name> stands for names that the writer chooses."""
    found: dict[str, str] = dict(EXAMPLES)
    beginnings = {name[: dot.start()] for name in names for dot in re.finditer(r"\.", name)}
    for file in sorted((ROOT / "config" / "studies").glob("*.yaml")):
        study = yaml.safe_load(file.read_text(encoding="utf-8"))
        parts = (study, *study["presets"].values())
        for key, value in (entry for part in parts for entry in _written(part, "", names | beginnings)):
            text = yaml.safe_dump(value, default_flow_style=True, width=10**6, allow_unicode=True)
            text = text.removesuffix("\n").removesuffix("\n...")
            if value not in ({}, []) and len(text) < len(found.get(key, "x" * 1000)):
                found[key] = text
    return {key: text if len(text) <= LONGEST else f"{text[:LONGEST]} …" for key, text in found.items()}


def _written(content: Any, prefix: str, names: set[str]) -> Iterator[tuple[str, Any]]:
    """Yield what stands under each of these names, and the name."""
    for key, value in content.items() if isinstance(content, Mapping) else ():
        for name in {f"{prefix}{key}", f"{prefix}<name>"} & names:
            yield name, value
            yield from _written(value, f"{name}.", names)


def _table(
    first: str, rows: Iterable[tuple[str, Schema]], last: str = "", examples: Mapping[str, str] = {}
) -> Iterator[str]:
    """last, examples: a further column, by the names of the rows."""
    more, rule = (f" {last} |", " --- |") if last else ("", "")
    yield from (f"| {first} | meaning | values | default |{more}", f"| --- | --- | --- | --- |{rule}")
    for name, schema in rows:
        default = f"`{json.dumps(schema['default'], default=str)}`" if "default" in schema else ""
        default = default or ("required" if schema.get("required") is True else "none" if last else "")
        example = f" {_code(examples.get(name, ''))} |" if last else ""
        yield f"| `{name}` | {plain(schema.get('description', ''))} | {_values(schema)} | {default} |{example}"


def _code(text: str) -> str:
    """A text as code in a cell of a table."""
    text = text.replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text}`" if text else ""


def _keys(schema: Schema, shared: Mapping[str, Schema], prefix: str) -> Iterator[tuple[str, Schema]]:
    """Keys below a schema with their own schemas, depth first; <name> stands for a name that the writer chooses."""
    parts = dict(schema.get("properties", {}))
    if isinstance(schema.get("additionalProperties"), Mapping):
        parts["<name>"] = schema["additionalProperties"]
    for name, part in parts.items():
        if (reference := part.get("$ref", "")).startswith("#/$defs/"):
            part = shared[reference.rpartition("/")[2]] | {key: part[key] for key in part if key != "$ref"}
        if name != "<name>":
            yield prefix + name, {**part, "required": name in schema.get("required", ())}
        # A preset holds what a study holds; deeper keys are read where they are used.
        if prefix.count(".") < 3 and name != "presets":
            yield from _keys(part, shared, f"{prefix}{name}.")
            if isinstance(part.get("items"), Mapping):
                yield from _keys(part["items"], shared, f"{prefix}{name}.")


def _values(schema: Schema) -> str:
    """The values that a schema allows, in a few words."""
    if "enum" in schema:
        return ", ".join(f"`{one if isinstance(one, str) else json.dumps(one)}`" for one in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    if "component" in schema:
        return f"one of the [{schema['component']}](/components/{schema['component']}.md)"
    if "components" in schema:
        return f"[{schema['components']}](/components/{schema['components']}.md) by name"
    if parts := schema.get("oneOf") or schema.get("anyOf"):
        return " or ".join(dict.fromkeys(word for part in parts if (word := _values(part))))
    words = schema.get("type", "")
    words = " or ".join(words) if isinstance(words, list) else words
    if isinstance(schema.get("items"), Mapping) and (inner := _values(schema["items"])):
        words = f"{words} of {inner}"
    return " ".join(
        [words, ", ".join(f"{sign} {schema[key]:g}" for key, sign in LIMITS.items() if key in schema)]
    ).strip()


def component(kind: str, name: str) -> Iterator[str]:
    """A component with its parameters, choices and measures."""
    found = registry.implementation(kind, name)
    file = registry.path(kind, name).relative_to(PACKAGE.parent)
    about = " ".join((found.__doc__ or "").split("\n\n")[0].split())
    yield from (f"(component-{kind}-{name})=", "", f"### {name}", "", plain(about), "", f"`{file}`", "")
    declared = registry.parameters(kind, name)
    choices = {f"{key} (choice)": schema for key, schema in registry.choices(kind, name).items()}
    if declared or choices:
        yield from (*_table("parameter", (declared | choices).items()), "")
    for title, attribute in (("Measures", "MEASURES"), ("Along its training", "TRACES")):
        measured = getattr(found, attribute, {})
        if isinstance(measured, Mapping) and measured:
            yield from (f"{title}: " + "; ".join(f"`{key}`, {plain(text)}" for key, text in measured.items()) + ".", "")


def mathematics() -> str:
    """Places of the papers, and the functions that compute what stands there."""
    found = sorted(citations(), key=lambda one: (PAPERS.index(one[0]), _order(one[1]), one[3]))
    lines = []
    for paper in PAPERS:
        lines += ["", f"## {paper}", "", "| place | what | where |", "| --- | --- | --- |"]
        lines += [
            f"| {plain(place) or 'the whole'} | {plain(what)} | `{where}` |"
            for key, place, what, where in found
            if key == paper
        ]
    return "\n".join(lines)


def citations() -> Iterator[tuple[str, str, str, str]]:
    """Paper, place, first sentence and name of every module, class and function whose docstring cites a paper."""
    for file in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
        for node in walk(parse(file.read_text(encoding="utf-8"))):
            if not isinstance(node, Module | ClassDef | FunctionDef):
                continue
            text = " ".join((get_docstring(node) or "").split())
            name = module if isinstance(node, Module) else f"{module}.{node.name}"
            for paper, place in {pair: None for cited in CITATION.finditer(text) for pair in _cited(cited.group(1))}:
                yield paper, place, _sentence(CITATION.sub("", text)), name


def _cited(text: str) -> Iterator[tuple[str, str]]:
    """The pairs of paper and place in a citation; a place without a paper is of the paper before it."""
    paper = ""
    for part in text.split(";"):
        head, _, place = part.strip().partition(",")
        known = head in PAPERS
        paper = head if known else paper
        yield paper, place.strip() if known else part.strip()


def _order(place: str) -> tuple[int, list[float], str]:
    kind = next(i for i, word in enumerate(PLACES) if place.startswith(word))
    return kind, [float(number) for number in re.findall(r"\d+(?:\.\d+)?", place)], place


def command() -> str:
    """What `hierlearn --help` and the help of every subcommand say."""
    # Lines are as wide here as on any machine.
    os.environ["COLUMNS"] = "100"
    main = parser().format_help()
    names = re.findall(r"^    ([a-z-]+)(?: |$)", main.partition("\n  COMMAND\n")[2], re.MULTILINE)
    found = {"hierlearn": main, **{f"hierlearn {name}": _help(name) for name in names}}
    return "\n".join(f"## {name}\n\n```text\n{text}```\n" for name, text in found.items())


def _help(name: str) -> str:
    """What a subcommand says of itself."""
    told = io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.suppress(SystemExit):
        parser().parse_args([name, "--help"])
    return told.getvalue()


def draws() -> str:
    """How often a further draw of a stored design had another result, and which primary rows moved."""
    with open(ROOT / "docs" / "ledger" / "claims.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    primary = {row["claim"]: row["digest"] for row in rows if row["rank"] == "primary"}
    return history.further_draws(history.read(ROOT / history.FILE)[0], primary, {row["preset"] for row in rows})


def stability() -> str:
    """How many rows had another result, and the opposite one, by what changed between two ledgers."""
    with open(ROOT / "docs" / "records" / "ledgers_compared.csv", newline="", encoding="utf-8") as file:
        compared = list(csv.DictReader(file))
    lines = history.read(ROOT / history.FILE)[0]
    table = ["| you change | rows with another result | rows with the opposite result |", "| --- | --- | --- |"]
    for preset in ("standard", "quick"):
        table.append(_share(f"the random numbers, at `{preset}`", *history.moved(lines, preset)))
    for preset in ("standard", "quick"):
        rows = [row for row in compared if (row["preset"], row["changed"]) == (preset, "code")]
        counts = (sum(int(row[name]) for row in rows) for name in ("rows", "other", "opposite"))
        table.append(_share(f"the code or the processor, at `{preset}`", *counts))
    turned = ", ".join(f"`{claim}`" for claim in history.turned(lines, ("standard", "quick")))
    table += [
        "| nothing | none: the bytes are the same | none |",
        "",
        f"Rows that turned into their opposite: {turned}.",
    ]
    return "\n".join(table)


def _share(what: str, rows: int, other: int, opposite: int) -> str:
    """A row of the table of stability: per hundred, or per thousand where a hundred rows have less than one."""
    base = 100 if 100 * other >= rows else 1000
    share = f"{base * other / rows:.0f} in {base} ({other} of {rows})"
    return f"| {what} | {share if other else 'none'} | {f'{opposite} of {rows}' if opposite else 'none'} |"


def widths() -> str:
    """The mean width of the interval of a slope, by numbers of sizes and of seeds."""
    many, noise = (3, 5, 10, 20), Scatter(seed=0.2, size=0.03)
    lines = ["| number of sizes |" + "".join(f" {seeds} seeds |" for seeds in many), "| --- |" + " --- |" * len(many)]
    for sizes in (3, 4, 5, 6, 8, 12):
        found = (expected_width(np.geomspace(1, 4, sizes), seeds, noise) for seeds in many)
        lines.append(f"| {sizes} |" + "".join(f" {width:.2f} |" for width in found))
    return "\n".join(lines)


def studies() -> str:
    """Every study with what it asks, paper by paper."""
    files = sorted((ROOT / "config" / "studies").glob("*.yaml"))
    found = {file.stem: yaml.safe_load(file.read_text(encoding="utf-8")) for file in files}
    lines = []
    for paper in dict.fromkeys(study["paper"] for study in found.values()):
        lines += ["", f"## {paper}"]
        for name, study in found.items():
            if study["paper"] == paper:
                about = f"**{html(study['title'])}** ({html(study['place'])}). {html(study.get('summary', ''))}"
                lines += ["", f"### {name}", "", about]
    return "\n".join(lines)


def _sentence(text: str) -> str:
    return re.split(r"(?<=\.)\s", text, maxsplit=1)[0].strip()


def plain(text: Any) -> str:
    """Words of a declaration as Markdown of one line: no sign of them is markup but `code`."""
    parts = " ".join(str(text).split()).split("`")
    if len(parts) % 2 == 0:
        parts = ["\\`".join(parts)]
    plain = [part if i % 2 else re.sub(r"([|*_<>\[\]\\$])", r"\\\1", part) for i, part in enumerate(parts)]
    return "`".join(plain)
