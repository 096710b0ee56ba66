"""Who is who: a learner has one colour and one marker, in all panels of all studies."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Look = tuple[str, str]

# Okabe and Ito's colours, ordered so that neighbours differ in hue and in lightness; markers repeat the distinction.
# Their yellow is lost on white: wine stands in its place.
COLOURS = ("#0072B2", "#E69F00", "#000000", "#009E73", "#882255", "#56B4E9", "#D55E00", "#CC79A7")
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
    ("NTK-Neural", "tangent kernel", "ResNet (NTK)", "last layer refitted", "order 1", "step"),
    ("NTK", "3 layers (NTK)", "layer 2 alone", "layers 2 and 3 alone", "no skip link"),
    ("NTK on the same", "arc-cosine", "two rounds", "ResNet, layer by layer", "ResNet (last)", "random start"),
    ("NTK of the", "fully connected", "two layers", "polynomial", "2 layers (NTK)", "searched"),
    ("linear in", "monomials", "3 layers (last)", "recursive", "student with"),
)


def looks(labels: Mapping[str, str]) -> dict[str, Look]:
    """Colour and marker of every learner of a study: alike where their labels are. labels: name -> label.

    The first of a family has its colour. Its others, and who belongs to none, take colours that are left, and when
    there are none the family's with another marker.
    """
    families = {label: _family(label) for label in labels.values()}
    found: dict[str, Look] = {}
    for label, family in families.items():
        if family is not None and _look(family) not in found.values():
            found[label] = _look(family)
    for label, family in families.items():
        if label not in found:
            found[label] = _free(found.values(), family)
    return {name: found[label] for name, label in labels.items()}


def of_lines(lines: Sequence[Mapping[str, Any]], learners: Mapping[str, Look]) -> list[Look]:
    """Colour and marker of every line of a panel: its learner's, or of the label that tells a learner's lines apart.

    learners: as `looks` has them. A line that says `colour_of` looks as the line of that number before it, from 1.
    """
    times = Counter(line["learner"] for line in lines if "learner" in line and "colour_of" not in line)
    found: list[Look | None] = [
        learners[line["learner"]] if times[line.get("learner")] == 1 else None for line in lines
    ]
    for k, line in enumerate(lines):
        if "colour_of" in line:
            found[k] = found[line["colour_of"] - 1]
        elif found[k] is None:
            taken, family = [look for look in found if look is not None], _family(line.get("label", ""))
            named = "learner" in line and family is not None and _look(family) not in taken
            found[k] = _look(family) if named else _free(taken, None)
    return found


def of_rows(lines: Sequence[Mapping[str, Any]], learners: Mapping[str, Look]) -> list[Look]:
    """Colour and marker of every row: its family's where a learner has several rows, else its learner's."""
    times, found = Counter(line["learner"] for line in lines), []
    for line in lines:
        family = _family(line.get("label", "")) if times[line["learner"]] > 1 else None
        found.append(learners[line["learner"]] if family is None else _look(family))
    return found


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
