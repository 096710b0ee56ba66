"""Broken copies of YAML files: one change to the text at a time, at every key and every value.

What makes a change a fault is said here and not taken from the schemas: a mutant is invalid by its kind, whatever the
checker thinks of it.
"""

import functools
import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import yaml

# Mutants of each kind that are tried (all of them if it is 0), and what draws them.
MOST, SEED = int(os.environ.get("HIERLEARN_FUZZ", 12)), int(os.environ.get("HIERLEARN_FUZZ_SEED", 0))
# From so many on nothing else is left out either.
MANY = 60
# Keys whose children are called as the author likes; a claim's name has a form of its own.
NAMING = ("representations", "learners", "probes", "claims", "rivals", "laws", "tables", "coordinates", "others")
# Text for people.
PROSE = (
    *("title", "place", "summary", "statement", "remark", "label", "xlabel", "ylabel", "units", "source"),
    *("proof", "is", "missing"),
)
# Parameters that are mappings of names which the user chooses.
BY_NAME = (("lines",), ("inputs",), ("learners",), ("laws",))
# Numbers that may have either sign and any size; what is compared with, not how large something is.
SIGNED = ("printed", "slope", "level", "shift", "value", "low", "high", "power", "least", "most", "weights")
# Counts of things that a job holds in memory.
SIZES = (
    *("dimension", "unlabelled", "count", "directions", "width", "widths", "start", "cap", "at", "validation", "test"),
    *("samples", "points", "draws"),
)
# Parameters that say by null that they are left to the component.
NULLABLE = (
    *("widths", "graph", "alphas", "directions", "coefficients", "depth", "gap", "starts", "thresholds", "clip"),
    *("steps", "distils", "first_scale", "features", "features_axis"),
    *("sizes", "over", "values", "level", "least"),
)
# Lists whose entries stand for places one after the other, so that two may be equal.
IN_ORDER = (
    *("milestones", "starts", "widths", "graph", "alphas", "coefficients", "directions"),
    *("distils", "first", "middle", "last"),
)
# Without these a study, or a file of published numbers, says nothing. A study of no paper is a user's own.
REQUIRED = re.compile(
    r"title|place|problem|axes|seeds|figure|problem\.(input|teacher)|axes\.dimension|.*\.(name|coefficient|of)"
    r"|learners\.[^.]+\.(label|learner|samples|samples\.(cap|at))|probes\.[^.]+\.probe"
    r"|claims\.[^.]+\.(place|statement|kind|quantity|test)|figure\.panels\[\d+\]\.(kind|title|x|lines)"
    r"|claims\.[^.]+\.quantity\.(learner|probe|line|above|below|larger|smaller|published|predictors|error)"
    r"|figure\.panels\[\d+\]\.lines\[\d+\]\.(learner|variable)"
    r"|source|tables|tables\.[^.]+\.(title|place|obtained|units|coordinates|rows)|.*\.rows\[\d+\]\.(value|low|high)"
)


# From where to where, and what stands there instead.
Splice = tuple[int, int, str]


@dataclass(frozen=True)
class Place:
    """A value in a YAML file, with the key or list that it belongs to."""

    path: tuple
    key: yaml.Node | None
    value: yaml.Node
    parent: yaml.Node
    anchored: bool
    listing: bool

    @property
    def word(self) -> str:
        """The key that the value stands under, over lists."""
        return next(part for part in reversed(self.path) if isinstance(part, str))

    @property
    def free(self) -> bool:
        """Whether the author chose the key."""
        return self.key is not None and len(self.path) > 1 and self.path[-2] in NAMING

    @property
    def required(self) -> bool:
        """Whether nothing else says it: no default, no merged mapping, no body under an overlay."""
        if self.key is None or self.anchored or any(key.value == "<<" for key, _ in self.parent.value):
            return False
        # What a rival does not say is as in its claim, and what a change does not say as in what it changes.
        apart = self.path[0] == "presets" or self.under("rival", "rivals", "at")
        return bool(REQUIRED.fullmatch(dotted(self.path))) and not apart

    @property
    def refers(self) -> bool:
        """Whether a number of a claim or of a figure is one of those that the study itself lists elsewhere."""
        if self.listing or not self.under("claims", "figure"):
            return False
        placed = self.under("where", "above_where", "below_where")
        return placed or self.word in ("sizes", "values", "samples", "threshold")

    @property
    def kind(self) -> str:
        if not isinstance(self.value, yaml.ScalarNode):
            return "mapping" if isinstance(self.value, yaml.MappingNode) else "list"
        return {"int": "number", "float": "number", "bool": "boolean", "null": "nothing"}.get(
            self.value.tag.rpartition(":")[2], "text"
        )

    def under(self, *words: str) -> bool:
        return bool(set(words) & set(self.path[:-1]))


@dataclass(frozen=True)
class Mutant:
    """A broken copy of a file. word: the key or value that the change is about, which a message has to name."""

    kind: str
    file: Path
    place: str
    change: str
    splice: Splice
    word: str = ""

    @property
    def text(self) -> str:
        return spliced(self.file.read_text(), self.splice)

    @property
    def preset(self) -> str:
        """The preset at which the broken place counts."""
        steps = self.place.split(".")
        return steps[1] if re.match(r"presets\.\w+\.", self.place) else preset_of(self.file, steps[:4])

    def __str__(self) -> str:
        return f"{self.file.stem}: {self.kind} at {self.place}: {self.change}"

    @property
    def pattern(self) -> tuple:
        """What it has in common with mutants of other entries and files."""
        return self.kind, general(self.place), re.sub(r".* -> ", "", self.change) if self.kind != "misspelt key" else ""


@functools.cache
def general(place: str) -> str:
    """A place with a star for what its author called or listed."""
    names = "|".join(NAMING)
    return re.sub(rf"\b({names})\.[^.\[]+", r"\1.*", re.sub(r"\[\d+\]", "[*]", place))


@functools.cache
def claims_of(file: Path) -> dict[str, dict]:
    return yaml.load(file.read_text(), yaml.CSafeLoader).get("claims", {})


def preset_of(file: Path, steps: list[str]) -> str:
    """The preset at which a claim, what changes in it, or a rival by its name counts."""
    section, name = steps[0], steps[1] if len(steps) > 1 else ""
    if section == "claims":
        first = claims_of(file).get(name, {}).get("presets", ["quick"])[0]
        return steps[3].split()[0] if steps[2:3] == ["at"] and len(steps) > 3 else first
    for claim in claims_of(file).values() if section == "rivals" else ():
        if claim.get("rival") == name:
            return claim.get("presets", ["quick"])[0]
        changed = [words for words, part in claim.get("at", {}).items() if part.get("rival") == name]
        if changed:
            return changed[0].split()[0]
    return "quick"


def places(text: str) -> list[Place]:
    """Every value below the root, each once: an alias is where its anchor is."""
    found, seen = [], set()

    root = yaml.compose(text, yaml.CSafeLoader)
    # What a claim lists first, a learner or an axis may repeat by an alias.
    sections = [section for section in parts_of(root) if section[0] not in ("claims", "rivals", "figure", "presets")]
    overlays = [one for name, presets in parts_of(root) if name == "presets" for _, one in parts_of(presets)]
    sections += [section for one in overlays for section in parts_of(one) if section[0] not in ("claims", "figure")]
    listing = set()
    for _, section in sections:
        reach(section, listing)

    def visit(node, path):
        if id(node) in seen:
            return
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            entries = [(key.value, key, value) for key, value in node.value if key.value != "<<"]
        else:
            entries = [(i, None, value) for i, value in enumerate(node.value)]
        for part, key, value in entries:
            if id(value) not in seen:
                anchored = text[value.start_mark.index] in "&!"
                found.append(Place((*path, part), key, value, node, anchored, id(value) in listing))
                if isinstance(value, yaml.CollectionNode):
                    visit(value, (*path, part))
                else:
                    seen.add(id(value))

    visit(root, ())
    return found


def parts_of(node: yaml.Node) -> list[tuple[str, yaml.Node]]:
    """(key, value) of every entry of a mapping; none of another value."""
    return [(key.value, value) for key, value in node.value] if isinstance(node, yaml.MappingNode) else []


def reach(node: yaml.Node, found: set[int]) -> None:
    """Collects the nodes at and below one, what it merges and repeats included."""
    found.add(id(node))
    below = [value for _, value in parts_of(node)] or (node.value if isinstance(node, yaml.SequenceNode) else [])
    for part in below:
        if id(part) not in found:
            reach(part, found)


def dotted(path: tuple) -> str:
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path).lstrip(".")


def span(text: str, node: yaml.Node) -> tuple[int, int]:
    """Where a value stands, without its anchor and without the white space that follows a block."""
    start, end = node.start_mark.index, node.end_mark.index
    anchor = re.match(r"&\S+\s+", text[start:end])
    return start + (anchor.end() if anchor else 0), start + len(text[start:end].rstrip())


def replaced(text: str, node: yaml.Node, new: str) -> Splice:
    return *span(text, node), new


def beside(place: Place, entry: str) -> Splice:
    """Another entry before the place's own in its mapping."""
    mark = place.key.start_mark
    between = ", " if place.parent.flow_style else "\n" + " " * mark.column
    return mark.index, mark.index, entry + between


def without(text: str, place: Place) -> Splice:
    """Neither the place's key nor its value; in a flow mapping not their comma either."""
    start, end = place.key.start_mark.index, span(text, place.value)[1]
    if place.parent.flow_style and (comma := re.match(r"\s*,\s*", text[end:])):
        end += comma.end()
    return start, end, ""


def spliced(text: str, splice: Splice) -> str:
    start, end, new = splice
    return text[:start] + new + text[end:]


def misspelt(word: str, chance: random.Random) -> str:
    """A word with one slip of the hand: a letter doubled, left out or exchanged with the next."""
    spellings = set()
    for i, letter in enumerate(word):
        spellings |= {word[:i] + letter + word[i:], word[:i] + word[i + 1 : i + 2] + letter + word[i + 2 :]}
        # relu2 without its digit is relu.
        spellings.add(word if letter.isdigit() else word[:i] + word[i + 1 :])
    # A slip may give a word of another meaning, and YAML reads some as numbers or as truth values.
    usable = [s for s in sorted(spellings) if s != word and re.fullmatch("[a-z]+[a-z0-9_-]*[a-z0-9]", s)]
    return chance.choice([s for s in usable if s not in ("no", "on", "off", "yes", "null")] or [word + "x"])


WRONG = {
    "number": ("zz", "true", "null", "[7]", "{zz: 1}", '"5"', ".nan", ".inf", "1e3"),
    "text": ("7", "true", "null", "[zz]", "{zz: 1}", "2026-01-01", "!!binary aGk="),
    "boolean": ("7", "zz", "null", "[true]", "{zz: 1}"),
    # A number may stand for a size that depends on the problem, but no negative one.
    "mapping": ("-7", "zz", "true", "null", "[zz]"),
    "list": ("7", "zz", "true", "null", "{zz: 1}"),
    "nothing": ("[zz]", "{zz: 1}"),
}
NAMES = (
    *('"../x"', '"/etc/x"', '"a/b"', '"."', '".."', '"a\\0b"', '"a\\nb"', '"a\\n"', '" a"', '""', '"-a"', '"a--b"'),
    *('"аlpha"', '"ａ"', '"a\\u200bb"', '"a b"', '"~"', '"$HOME"', '"{x}"', "7", "true", "null", "[a]", "a" * 300),
)


@functools.cache
def mutants(file: Path) -> tuple[Mutant, ...]:
    """Every mutant of a study or of a file of published numbers; the same ones whenever it is asked."""
    return tuple(_mutants(file))


def _mutants(file: Path) -> Iterator[Mutant]:
    text = file.read_text()
    for place in places(text):
        at, value = dotted(place.path), place.value
        # Of the place alone, so that a mutant stays the same where others of its file change.
        chance = random.Random(f"{file.stem} {at}")
        # The coordinates of a published number are what its table says, so that most values are possible.
        fact = place.under("rows") and place.path[-1] not in ("value", "low", "high", "inferred")

        def mutant(kind: str, change: str, new: Splice, word: str = "", at=at) -> Mutant:
            return Mutant(kind, file, at, change, new, word)

        for new in WRONG[place.kind]:
            nullable = new == "null" and place.path[-1] in NULLABLE
            # A place may be one value or a list of them.
            one_or_more = place.under("only") and new in ("7", "[7]")
            if not nullable and not one_or_more and not (fact and new[0] not in "[{n"):
                yield mutant("wrong type", f"{place.kind} -> {new}", replaced(text, value, new))
        if place.key is not None:
            key = place.key.value
            yield mutant("duplicate key", key, beside(place, f"{key}: 0"), key)
            if place.free:
                for name in NAMES:
                    yield mutant("name", f"{key} -> {name[:20]}", replaced(text, place.key, name))
            elif (fact or not place.under("rows")) and place.path[-2:-1] not in BY_NAME:
                wrong = misspelt(key, chance)
                yield mutant("misspelt key", f"{key} -> {wrong}", replaced(text, place.key, wrong), key)
            if not place.free:
                yield mutant("unknown key", "-> unheard-of", beside(place, "unheard-of: 1"), "unheard-of")
            # What an alias elsewhere repeats is not missing alone.
            if place.required and "&" not in text[slice(*span(text, value))]:
                yield mutant("missing", f"-> no {key}", without(text, place), key)
        # A teacher's directions are vectors of any length and sign.
        vector = place.word == "directions" and place.under("teacher")
        setting = place.kind == "number" and not vector and not place.under("where")
        if setting and not fact and place.word not in SIGNED and not place.under("limits"):
            for new in ("-1", "-1.0e+30"):
                yield mutant("out of range", f"-> {new}", replaced(text, value, new))
        if place.path[-1] == "order" and place.under("counting"):
            yield mutant("out of range", "-> above the dimension", replaced(text, value, "7919"))
        if place.path == ("problem", "teacher", "alpha") and 0 in yaml.safe_load(text)["axes"].get("beta", []):
            yield mutant("out of range", "-> 0 where beta is 0", replaced(text, value, "0"))
        # Before the end of a list the order of dimensions would be the fault.
        last = place.key is not None or place.value is place.parent.value[-1]
        sized = place.word in SIZES and not place.under("claims", "figure", "limits", "only", "rows")
        # The start of a walk is a size, that of a training is not.
        if setting and last and sized and (place.word != "start" or place.under("samples")):
            yield mutant("absurd size", "-> 10^15", replaced(text, value, str(10**15)))
        if (
            place.kind == "text"
            and not fact
            and place.word not in PROSE
            and not place.under("coordinates", "revisions", "marks", "limit_from")
        ):
            wrong = misspelt(value.value, chance)
            yield mutant("misspelt word", f"{value.value} -> {wrong}", replaced(text, value, wrong), value.value)
        if place.kind == "number" and place.refers:
            yield mutant("out of the grid", "-> 7919", replaced(text, value, "7919"))
        if place.kind == "list" and value.flow_style and value.value and place.word not in IN_ORDER:
            first = span(text, value.value[0])
            again = text[slice(*first)]
            yield mutant("duplicate entry", f"-> {again} twice", (first[0], first[0], f"{again}, "))


def part(cases: list, apart: int, first: int = 0) -> list:
    """One of so many cases; all of them where many mutants are tried."""
    return cases if MOST == 0 or MOST >= MANY else cases[first % apart :: apart]


def sample(everything: list[Mutant], most: int, seed: int) -> list[Mutant]:
    """At most so many of every kind: one of every pattern first, then others of the same patterns.

    By what each is, so that a study that changes leaves those of the others as they are.
    """
    chosen = []
    for kind in sorted({mutant.kind for mutant in everything}):
        of_kind = [mutant for mutant in everything if mutant.kind == kind]
        of_kind.sort(key=lambda mutant: sha256(f"{seed} {mutant}".encode()).digest())
        seen: dict[tuple, int] = {}
        turns = []
        for mutant in of_kind:
            seen[mutant.pattern] = seen.get(mutant.pattern, -1) + 1
            turns.append(seen[mutant.pattern])
        order = sorted(range(len(of_kind)), key=turns.__getitem__)
        chosen += [of_kind[i] for i in order[:most]]
    return chosen
