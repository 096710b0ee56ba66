"""Checks a study before anything runs and lists all faults at once.

The structure of the file is checked first. Then come names and numbers, section by section in the order in which one
refers to another; what lies where something is broken, or refers to it, is not judged.
"""

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from hierlearn.core import folders
from hierlearn.plan import claims, formulas, papers, plausibility, references, resources, sections
from hierlearn.plan.declared import mapping, parts
from hierlearn.plan.draft import Draft
from hierlearn.plan.faults import Broken, Fault, show
from hierlearn.plan.load import load, unusable
from hierlearn.plan.presets import OF_ALL, PRESETS, base, bodies, path_in_file, sets
from hierlearn.plan.study import Study
from hierlearn.plan.violations import schema, schema_faults

# Sections of a study whose components name parts of the others.
REFERRING = ("figure", "claims")


def load_study(file: str | os.PathLike, preset: str = "quick") -> Study:
    """The study of a file at a preset. Raises ValueError with one line for every fault."""
    folder = Path(file).resolve().parent.parent
    # Beside a folder of one's own the project's papers stay.
    if folder not in folders.own():
        papers.use(folder)
    found, faults = study(Path(file), os.fspath(file), preset)
    if found is None and not faults:
        raise ValueError(f"{os.fspath(file)}: presets: found no {preset}; expected sizes for it")
    if found is None:
        raise ValueError("\n".join(map(str, faults)))
    return found


def study(file: Path, name: str, preset: str, limit: int = resources.ABSURD_MB) -> tuple[Study | None, list[Fault]]:
    """A study at a preset, and the faults of the study at every preset. name: what messages call the file.

    limit: memory in MB that a job of this preset may need. There is no study and no fault at the preset paper where the
    file states none.

    The published numbers that it may name lie in a folder beside its own; their faults are not the study's.
    """
    content, faults = load(file, name)
    if content is None:
        return None, faults
    if implausible := list(plausibility.too_many(content, name)):
        # All other checks would take minutes.
        return None, sorted({*faults, *implausible})
    numbers = papers.numbers(content.get("paper"), file.parents[1])
    drafts: dict[str, Draft] = {}
    faults, sizes = _preset_faults(content, name), base(content, preset)
    for which, body in bodies(content):
        draft = drafts[which] = _checked(body, numbers, file, name, which, drafts.get("quick"))
        if which == sizes and draft.sound is not None:
            faults += plausibility.too_large(draft.sound, limit)
        # What the body has too is said once, where it stands.
        said = set(drafts["quick"].faults) if which != "quick" else set()
        faults += [
            Fault(name, path_in_file(which, fault.path), fault.found, fault.allowed)
            for fault in draft.faults
            if fault not in said or sets(content, which, fault.path)
        ]
    if not faults:
        faults += plausibility.idle([draft.sound for draft in drafts.values()])
    found = None if faults or sizes is None else replace(drafts[sizes].study, preset=preset)
    return found, sorted(set(faults))


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
    return faults


def _checked(body: Mapping[str, Any], numbers: Any, file: Path, name: str, preset: str, quick: Draft | None) -> Draft:
    """What a study declares at a preset, with its faults. quick: the body itself, checked before its overlays."""
    broken = Broken()
    faults = []
    for at, value, allowed in unusable(body):
        faults.append(Fault(name, at, show(value), allowed))
        broken.mark(at, value)
    for path in _headless(body, quick) if quick else ():
        broken.mark(path)
    already = set(broken.values)
    found = schema_faults(name, body, papers.schema_of("study"), broken=broken)
    faults += [fault for fault in found if not any(fault.path[: len(at)] == at for at in already)]
    draft = Draft(Study(file.stem, name, preset, numbers, **parts(body, broken)), body, broken, faults)
    _check(draft)
    return draft


def _headless(body: Mapping[str, Any], quick: Draft) -> list[tuple]:
    """Entries of an overlay that lie over nothing, as their name or what stands there is broken in the body."""
    found = []
    for section in ("representations", "learners", "probes", "claims"):
        below, entries = quick.body.get(section), mapping(body.get(section))
        if below is not None and not isinstance(below, dict):
            found.append((section,))
            continue
        named = {name for name in entries if name in mapping(below)}
        found += [(section, name) for name in named if not isinstance(below[name], dict)]
        if (section,) in quick.broken.uncertain:
            found += [(section, name) for name in entries if name not in named]
    return found


def _check(draft: Draft) -> None:
    """Names and numbers, in the order in which sections refer to each other."""
    described = [(at, kind, part) for at, kind, part in sections.components(draft.body) if not draft.broken.over(*at)]
    for at, kind, part in described:
        claims.inherit(draft, at)
        sections.check_parameters(draft, at, kind, part)
    sections.check_law(draft)
    sections.check_axes(draft)
    own = [one for one in described if one[0][0] not in REFERRING]
    _check_names(draft, own)
    for name, entry in draft.study.learners.items():
        sections.check_learner(draft, name, entry)
    sections.check_split(draft)
    sections.check_curves(draft)
    sections.check_probes(draft)
    draft.sound, draft.known = draft.grid(), {}
    if draft.sound is not None:
        for fault in plausibility.impossible(draft.sound):
            draft.add(fault.path, fault.found, fault.allowed)
    _check_names(draft, [one for one in described if one[0][0] in REFERRING])
    sections.check_figure(draft)
    sections.check_claims(draft)
    formulas.check_texts(draft)


def _check_names(draft: Draft, described: list) -> None:
    """What components name of the study, and the sizes that they refer to."""
    for at, kind, part in described:
        claims.inherit(draft, at)
        for where, against, value, scope in sections.parameters_of(kind, at, part):
            if draft.broken.over(*where):
                continue
            if sections.is_size(value):
                references.check_size(draft, where, value)
            else:
                references.check_reference(draft, where, against, value, references.scope_of(draft, where[:-1], scope))
