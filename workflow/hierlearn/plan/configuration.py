"""Reads, checks and expands the configuration and the studies."""

import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hierlearn.core.provenance import ends_in_one_line
from hierlearn.plan import checking, history, published, registration, resources
from hierlearn.plan.draws import Draw
from hierlearn.plan.faults import Fault
from hierlearn.plan.load import load
from hierlearn.plan.points import warnings
from hierlearn.plan.settings import configuration
from hierlearn.plan.study import Study

NAME, LONGEST = re.compile("[a-z0-9]+(-[a-z0-9]+)*"), 60
# A study's name is a target of its own beside these and the words that are answered at once.
COMMANDS = ("plan", "tally", "register", "record")
RULES = (
    "all",
    "default",
    "generate",
    "represent",
    "train",
    "evaluate",
    "probe",
    "aggregate",
    "figure",
    "judge",
    "ledger",
)


@dataclass(frozen=True)
class Plan:
    """What is to be run: settings of the whole run, the studies by name, and warnings, one line each."""

    settings: dict[str, Any]
    studies: dict[str, Study]
    warnings: tuple[str, ...] = ()
    registered: tuple[registration.Line, ...] = ()


@ends_in_one_line
def configure(given: Mapping[str, Any], file: Path, folder: Path) -> Plan:
    """The plan for the keys given on the command line over those of a file; ends the program with all faults if any.

    given: --config and --configfile; file: config.yaml (may be absent); folder: of the studies, beside that of the
    published numbers.
    """
    settings, faults = load(file, file.as_posix()) if file.exists() or file.is_symlink() else ({}, [])
    files = {path.stem: path for path in sorted(folder.glob("*.yaml"))}
    described = f"{file.as_posix()} with --config" if given else file.as_posix()
    if not faults:
        settings, faults = configuration({**settings, **given}, described, list(files))
    settings = {} if faults else settings
    chosen = settings.get("studies") or list(files)
    preset, limit = settings.get("preset", "quick"), settings.get("memory_limit_mb", resources.ABSURD_MB)
    studies, owners = {}, {}
    lines, found = registration.read(folder.with_name("registered.csv"))
    verdicts, found_before = history.read(folder.with_name("verdicts.csv"))
    faults += found + found_before
    for name in files:
        if not NAME.fullmatch(name) or len(name) > LONGEST or name in (*RULES, *COMMANDS) or name in checking.papers():
            allowed = f"at most {LONGEST} small letters, digits and hyphens, and no rule's and no paper's name"
            faults.append(Fault(f"config/studies/{name}.yaml", (), f"the file name {name!r}", allowed))
            continue
        study, found = checking.study(files[name], f"config/studies/{name}.yaml", preset, limit)
        faults += found
        for claim in _claims(study, files[name]):
            first = owners.setdefault(claim, name)
            if first != name:
                text = f"a claim that config/studies/{first}.yaml has too"
                faults.append(Fault(f"config/studies/{name}.yaml", ("claims", claim), text, "a name of its own"))
        if study is not None and name in chosen:
            drawn = replace(study, run=Draw.of(settings))
            before = history.earlier(drawn, verdicts)
            studies[name] = replace(drawn, registered=registration.of(drawn, lines), earlier=before)
    if preset == "paper" and not faults:
        faults += _unstated(described, settings["studies"], studies)
    for path in sorted(folder.glob("*.yml")):
        faults.append(Fault(f"config/studies/{path.name}", (), "the ending .yml", f"{path.stem}.yaml"))
    for path in sorted(folder.with_name("published").glob("*.yaml")):
        faults += published.tables(path, f"config/published/{path.name}")[1]
    if faults:
        sys.exit("\n".join(f"error: {fault}" for fault in sorted(set(faults))))
    told = tuple(f"warning: {one}" for study in studies.values() for one in warnings(study))
    return Plan(settings, studies, told, tuple(lines))


def _unstated(described: str, asked: list[str], stated: Collection[str]) -> list[Fault]:
    """Studies that are asked for at the preset paper and have no sizes for it; all of them where no study has."""
    without = [name for name in asked if name not in stated]
    allowed = f"one of {', '.join(stated)}" if stated else "presets.paper in a study"
    if asked or stated:
        return [Fault(described, ("studies",), f"{name}, which states no preset paper", allowed) for name in without]
    return [Fault(described, ("preset",), "paper, which no study states", allowed)]


def _claims(study: Study | None, file: Path) -> list[str]:
    """The names of a study's claims; as its file has them where the study has faults."""
    if study is not None:
        return list(study.claims)
    content = load(file, file.name)[0]
    claims = content.get("claims") if isinstance(content, dict) else None
    return list(claims) if isinstance(claims, dict) else []
