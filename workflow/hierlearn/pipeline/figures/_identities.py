"""Who is who: a learner has one colour and one marker, in all panels of all studies."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Look = tuple[str, str]

# Okabe and Ito's colours, ordered so that neighbours differ in hue and in lightness; markers repeat the distinction.
# Their yellow is lost on white, and their vermilion is near their orange, above all in the dark: wine and brick are
# here instead.
COLOURS = ("#0072B2", "#E69F00", "#000000", "#009E73", "#80005C", "#56B4E9", "#CC3D00", "#CC79A7")
MARKERS = ("o", "D", "s", "^", "v", "P", "X", "*")

# Beginnings of labels, by colour. The first holds what a paper is about, and no two of a row compete in a study;
# what follows are its rivals, from the nearest on.
FAMILIES: tuple[tuple[str, ...], ...] = (
    (
        *("Quad-Neural", "ResNet", "staged", "student", "Algorithm 1", "randomised network", "network", "quadratic"),
        *("order 2", "fitted again, weights"),
    ),
    ("Quad-Raw", "3 layers", "joint", "third-order model", "order 3", "fitted once", "relu²", "not whitened"),
    ("RBF", "2 layers", "layer by layer", "order 4", "ReLU", "fitted again, random"),
    (
        *("NTK-Neural", "tangent kernel", "its tangent kernel", "to its tangent kernel", "ResNet (NTK)"),
        *("the ResNet linearised", "last layer refitted", "order 1", "step"),
    ),
    ("NTK", "3 layers (NTK)", "layer 2 alone", "layers 2 and 3 alone", "no skip link"),
    (
        *("NTK on the same", "arc-cosine", "two rounds", "ResNet (last)", "its last layer"),
        "random start",
    ),
    ("NTK of the", "fully connected", "two layers", "polynomial", "2 layers (NTK)", "searched", "plain student"),
    ("linear in", "monomials", "3 layers (last)", "recursive", "student with"),
)
# Colour and marker, by their numbers, of who shares a study with the first of its family.
FIXED: dict[str, tuple[int, int]] = {
    "NTK, 3 layers": (6, 7),
    "Quad-Raw at n = d^1.5": (1, 1),
    "Quad-Raw at n = d^2.5": (1, 4),
    "NTK-Raw at n = d^1.5": (4, 7),
    "NTK-Raw at n = d^2.5": (4, 2),
    "arc-cosine": (5, 0),
    "2 layers (last)": (0, 5),
    "fully connected, 2 layers": (6, 1),
    "ResNet, layer by layer": (6, 4),
    "last layer refitted, twice the steps": (3, 6),
    "Algorithm 1": (0, 5),
    "$\\kappa=10$": (7, 7),
    "staged, from values": (3, 3),
}


def looks(labels: Mapping[str, str]) -> dict[str, Look]:
    """Colour and marker of every learner of a study: alike where their labels are. labels: name -> label.

    The first of a family has its colour. Its others, and who belongs to none, take colours that are left, and when
    there are none the family's with another marker.
    """
    found: dict[str, Look] = {label: _fixed(label) for label in labels.values() if label in FIXED}
    families = {label: _family(label) for label in labels.values() if label not in found}
    for label, family in families.items():
        if family is not None and _look(family) not in found.values():
            found[label] = _look(family)
    for label, family in families.items():
        if label not in found:
            found[label] = _free(found.values(), family)
    return {name: found[label] for name, label in labels.items()}


def of_lines(
    lines: Sequence[Mapping[str, Any]], learners: Mapping[str, Look], seen: dict[str, Look] | None = None
) -> list[Look]:
    """Colour and marker of every line of a panel: its learner's, or of the label that tells a learner's lines apart.

    learners: as `looks` has them; seen: how labels of no learner look in the panels before, to which this one's are
    added. A line that says `colour_of` looks as the line of that number before it, from 1.
    """
    seen = {} if seen is None else seen
    times = Counter(line["learner"] for line in lines if "learner" in line and "colour_of" not in line)
    found: list[Look | None] = [
        learners[line["learner"]] if times[line.get("learner")] == 1 else None for line in lines
    ]
    labels = [line.get("label", line.get("variable", "")) for line in lines]
    for k, line in enumerate(lines):
        if found[k] is None and "colour_of" not in line and seen.get(labels[k]) not in found:
            found[k] = seen[labels[k]]
    named: dict[str, Look] = {}
    for k, line in enumerate(lines):
        if "colour_of" in line:
            found[k] = found[line["colour_of"] - 1]
        elif found[k] is None:
            found[k] = _of_label(labels[k], [look for look in found if look is not None], named)
            seen.setdefault(labels[k], found[k])
    return found


def _of_label(label: str, taken: Sequence[Look], named: dict[str, Look]) -> Look:
    """The look of a label's family; the same colour and another marker for who is called alike up to a comma.

    named: who of the panel has a family's look, to which this label is added.
    """
    family, name = _family(label), label.partition(",")[0]
    if family is None or (name not in named and _look(family) in taken):
        return _free(taken, None)
    if name not in named:
        named[name] = _look(family)
        return named[name]
    colour = named[name][0]
    return next(((colour, marker) for marker in MARKERS if (colour, marker) not in taken), _free(taken, None))


def of_rows(lines: Sequence[Mapping[str, Any]], learners: Mapping[str, Look]) -> list[Look]:
    """Colour and marker of every row: its family's where a learner has several rows, else its learner's."""
    times, found = Counter(line["learner"] for line in lines), []
    for line in lines:
        label = line.get("label", "") if times[line["learner"]] > 1 else ""
        family, name = _family(label), label.partition(",")[0]
        found.append(_fixed(name) if name in FIXED else learners[line["learner"]] if family is None else _look(family))
    return found


def _fixed(name: str) -> Look:
    colour, marker = FIXED[name]
    return COLOURS[colour], MARKERS[marker]


def _family(label: str) -> int | None:
    """The family with the longest beginning of the label."""
    known = [
        (len(start), number) for number, family in enumerate(FAMILIES) for start in family if label.startswith(start)
    ]
    return max(known)[1] if known else None


def _look(number: int, turn: int = 0) -> Look:
    """The colour of this number; its own marker, or at later turns others."""
    return COLOURS[number % len(COLOURS)], MARKERS[(number + 3 * turn) % len(MARKERS)]


def _free(taken: Iterable[Look], family: int | None) -> Look:
    """A look that nobody has: of a colour that nobody has if there is one, else of the family's or the next."""
    taken = list(taken)
    for number in range(len(COLOURS)):
        if COLOURS[number] not in {colour for colour, _ in taken}:
            return _look(number)
    every = [(family or 0) + k for k in range(len(COLOURS))]
    return next(
        look for turn in range(1, len(MARKERS)) for number in every if (look := _look(number, turn)) not in taken
    )
