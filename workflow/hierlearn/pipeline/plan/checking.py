"""Checks a study before anything runs, in stages.

The shape comes first: schemas, the parameters of components, the values that they take. Then come names, in the order
in which sections refer to one another, and at last what all of it means. What has faults goes no further, so that
nothing is said of what only follows from them.
"""

import os
from collections.abc import Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import Any

from hierlearn.core import folders
from hierlearn.core.words import nearest, show
from hierlearn.pipeline.claims import rivals
from hierlearn.pipeline.files import papers
from hierlearn.pipeline.files.errors import Fault
from hierlearn.pipeline.files.errors import Path as Place
from hierlearn.pipeline.files.load import load, unusable
from hierlearn.pipeline.files.schema_errors import schema, schema_faults
from hierlearn.pipeline.plan import claim_checks, formulas, grid_checks, own_data, references, resources, section_checks
from hierlearn.pipeline.plan.presets import DERIVED, OF_ALL, PRESETS, base, bodies, listed, place
from hierlearn.pipeline.plan.study import Study
from hierlearn.pipeline.plan.study_spec import mapping, parts
from hierlearn.pipeline.plan.validation_context import Draft

# Sections of a study whose components name parts of the others.
REFERRING = ("figure", "claims")
# Keys of an older form, by the section whose entries had them.
OLDER = {"claims": ("rule", "predicted", "slack", "side", "control"), "learners": ("skip",)}


def load_study(file: str | os.PathLike, preset: str = "quick") -> Study:
    """The study of a file at a preset. Raises ValueError with one line for every fault."""
    file = folders.path(file, "study")
    if not isinstance(preset, str) or preset not in PRESETS:
        raise ValueError(f"preset: found {show(preset)}; expected {nearest(preset, PRESETS)}")
    folder = Path(os.path.realpath(file)).parent.parent
    # Beside a folder of one's own the project's papers stay.
    if folder not in folders.own():
        papers.use(folder)
    found, faults = study(file, str(file), preset, at_all=False)
    if found is None and not faults:
        raise ValueError(f"{file}: presets: found no {preset}; expected sizes for it")
    if found is None:
        raise ValueError("\n".join(map(str, faults)))
    return found


def study(
    file: Path, name: str, preset: str, limit: int = resources.ABSURD_MB, at_all: bool = True
) -> tuple[Study | None, list[Fault]]:
    """A study at a preset, and the faults of the study. name: what messages call the file.

    limit: memory in MB that a job of this preset may need; at_all: whether its other presets are checked too. There is
    no study and no fault at the preset paper where the file states none.

    The published numbers that it may name lie in a folder beside its own; their faults are not the study's.
    """
    content, faults = load(file, name)
    if content is None:
        return None, faults
    if old := next(older(content), None):
        allowed = f"the present one, which `hierlearn convert {name}` writes"
        return None, [Fault(name, old, "a key of an older form of studies", allowed)]
    content, faults = own_data.filled(content, name)
    if faults:
        return None, faults
    sizes, stated = base(content, preset), dict(bodies(content, preset))
    if not at_all:
        stated = {which: body for which, body in stated.items() if which in ("quick", sizes)}
    faults = [*_preset_faults(content, name), *grid_checks.too_many(stated, name)]
    if faults:
        # All other checks would take minutes in a grid of too many points.
        return None, sorted(set(faults))
    numbers = papers.numbers(content.get("paper"), file.parents[1])

    def checked(which: str) -> tuple[Study | None, list[Fault]]:
        found, faults = _checked(stated[which], numbers, file, name, which, limit if which == sizes else None)
        return found, [Fault(name, place(content, which, one.path), one.found, one.allowed) for one in faults]

    found, faults = checked(sizes) if sizes else (None, [])
    body, of_body = (found, faults) if sizes == "quick" else (None, [])
    if sizes != "quick" and (at_all or faults):
        # What is wrong with the body is said where it stands, and nothing of what lies over it.
        body, of_body = checked("quick")
        faults = of_body or faults
    if at_all and not of_body:
        others = [checked(which) for which in stated if which not in ("quick", sizes)]
        faults += [fault for _, wrong in others for fault in wrong]
        # What one preset has no note of another may have.
        faults += grid_checks.idle([body, *filter(None, [found]), *(one for one, _ in others)]) if not faults else []
    if faults:
        return None, sorted(set(faults))
    listed = rivals.beside(file.parents[1], str(content.get("paper")))
    return found and found.of_run(preset=preset, rivals=listed), []


def older(content: Mapping[str, Any], at: Place = ()) -> Iterator[Place]:
    """Where a study is written in the form before `test`, `only`, `rival` and `at`."""
    for section, keys in OLDER.items():
        for name, entry in mapping(content.get(section)).items():
            yield from ((*at, section, name, key) for key in keys if key in mapping(entry))
    for preset, overlay in mapping(content.get("presets")).items():
        yield from older(mapping(overlay), ("presets", preset))
        if "claims" in mapping(overlay):
            yield "presets", preset, "claims"
    yield from (("revisions", key) for key, one in mapping(content.get("revisions")).items() if isinstance(one, list))


def _preset_faults(content: Mapping[str, Any], name: str) -> list[Fault]:
    """Faults of the section of overlays itself; what they lie over is checked with them."""
    against = schema("study")["properties"]["presets"]
    overlays = content.get("presets", {})
    faults = list(schema_faults(name, overlays, against, ("presets",)))
    for which in PRESETS:
        for key in OF_ALL:
            if key in mapping(mapping(overlays).get(which)):
                allowed = OF_ALL[key].format(preset=which)
                faults.append(Fault(name, ("presets", which, key), f"{key} of a preset", allowed))
    for claim, said in mapping(content.get("claims")).items():
        faults += _changes_faults(content, name, ("claims", claim), mapping(said))
    return faults


def _changes_faults(content: Mapping[str, Any], name: str, at: Place, claim: Mapping[str, Any]) -> Iterator[Fault]:
    """What is wrong with the presets that a claim has, and with those at which it changes."""
    known = schema("study")["properties"]["claims"]["additionalProperties"]["properties"]
    overlays = mapping(content.get("presets"))
    stated = ["quick", *(preset for preset in PRESETS if preset == DERIVED or preset in overlays)]
    larger = (combinations(stated[1:], count) for count in range(1, len(stated)))
    changing = [" ".join(presets) for some in larger for presets in some]
    for key in ("presets", "at"):
        if key in claim:
            yield from schema_faults(name, claim[key], known[key], (*at, key))
    for i, preset in enumerate(listed(claim, "presets", ())):
        if preset not in stated:
            yield Fault(name, (*at, "presets", i), show(preset), nearest(preset, stated))
    for words, overlay in mapping(claim.get("at")).items():
        if words not in changing:
            yield Fault(name, (*at, "at", words), show(words), nearest(words, changing))
        for key in ("at", "presets"):
            if key in mapping(overlay):
                yield Fault(name, (*at, "at", words, key), f"{key} of a change", f"{key} beside the statement")


def _checked(
    body: Mapping[str, Any], numbers: Any, file: Path, name: str, preset: str, limit: int | None = None
) -> tuple[Study | None, list[Fault]]:
    """What a study declares at a preset, and its faults where they stand in what it says there.

    limit: memory in MB that a job may need, None where that is not asked.
    """
    draft = Draft(name, body)
    draft.take(Fault(name, at, show(value), allowed) for at, value, allowed in unusable(body))
    if not draft.faults:
        draft.take(schema_faults(name, body, papers.schema_of("study")))
    if not draft.faults:
        _check_parameters(draft)
        claim_checks.check_written(draft)
    if not draft.faults:
        draft.study = Study(file.stem, name, preset, numbers, **parts(body))
    for stage in (_check_values, _check_names, _check_references, _check_meaning):
        if not draft.faults:
            stage(draft)
    if limit is not None and not draft.faults:
        draft.take(grid_checks.too_large(draft.study, limit))
    return (None if draft.faults else draft.study), draft.faults


def _check_parameters(draft: Draft) -> None:
    """The parameters that components have, and no others."""
    for at, kind, part in section_checks.components(draft.body):
        claim_checks.inherit(draft, at)
        section_checks.check_parameters(draft, at, kind, part)


def _check_values(draft: Draft) -> None:
    """Axes, and what learners choose and sweep, against the parameters that take them."""
    section_checks.check_axes(draft)
    for name, entry in draft.study.learners.items():
        section_checks.check_choices(draft, ("learners", name), entry)


def _check_names(draft: Draft) -> None:
    """What the sections name of each other."""
    section_checks.check_law(draft)
    _check_components(draft, referring=False)
    for name, entry in draft.study.learners.items():
        section_checks.check_learner(draft, name, entry)
    section_checks.check_split(draft)
    section_checks.check_curves(draft)
    section_checks.check_probes(draft)


def _check_references(draft: Draft) -> None:
    """What the figure and the claims name of the sections."""
    section_checks.check_figure(draft)
    _check_components(draft, referring=True)


def _check_meaning(draft: Draft) -> None:
    """What sizes become, what claims say together, formulas that cannot be drawn."""
    for fault in grid_checks.impossible(draft.study):
        draft.add(fault.path, fault.found, fault.allowed)
    section_checks.check_claims(draft)
    formulas.check_texts(draft)


def _check_components(draft: Draft, referring: bool) -> None:
    """What components name of the study, and the sizes that they refer to. referring: of the figure and the claims."""
    for at, kind, part in section_checks.components(draft.body):
        if (at[0] in REFERRING) != referring:
            continue
        claim_checks.inherit(draft, at)
        for where, against, value, scope in section_checks.parameters_of(kind, at, part):
            if draft.is_faulty(*where):
                continue
            if section_checks.is_size(value):
                references.check_size(draft, where, value)
            else:
                references.check_reference(draft, where, against, value, scope)
