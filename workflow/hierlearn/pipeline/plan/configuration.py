"""Reads and checks the configuration and the studies: the one object that the rules of the workflow ask."""

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from hierlearn.core import registry
from hierlearn.core.folders import PACKAGE
from hierlearn.core.provenance import ends_in_one_line
from hierlearn.core.words import nearest, show
from hierlearn.pipeline.claims import asked, history, tally
from hierlearn.pipeline.files import append_only_csv, papers
from hierlearn.pipeline.files.errors import Fault, Note, value_at
from hierlearn.pipeline.files.load import load
from hierlearn.pipeline.files.schema_errors import fill_defaults, schema, schema_faults
from hierlearn.pipeline.plan import (
    adhoc_study,
    asked_studies,
    checking,
    component_guards,
    folders,
    grid_checks,
    registration,
    resources,
)
from hierlearn.pipeline.plan.replicates import Draw
from hierlearn.pipeline.plan.resource_requests import Requests
from hierlearn.pipeline.plan.rule_inputs import Inputs
from hierlearn.pipeline.plan.study import Study
from hierlearn.pipeline.plan.study_spec import mapping
from hierlearn.pipeline.plan.targets import FILES, Targets

NAME, LONGEST = re.compile("[a-z0-9]+(-[a-z0-9]+)*"), 60
# Folders of the project that no run writes into.
ROOT, OWN = PACKAGE.parents[1], ("benchmarks", "config", "docs", "envs", "profiles", "tests", "workflow")
# A study's name is a target of its own beside these and the words that are answered at once.
COMMANDS = ("plan", "tally", "register", "record", "publish")
RULES = ("all", "default", "contact_sheet", *FILES)
NOT_TAKEN = "no rule's, no command's and no paper's name"


@dataclass(frozen=True)
class Plan:
    """What is to be run: settings of the whole run, the studies by name, the warnings about each and about folders."""

    settings: Mapping[str, Any]
    studies: Mapping[str, Study]
    warnings_by_study: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Lines of all registered.csv; the project's folder of studies, and the files of those in folders of a user's own.
    registered: tuple[registration.Line, ...] = ()
    config: Path = Path("config")
    own: Mapping[str, Path] = field(default_factory=dict)
    # What messages call the settings.
    described: str = ""

    @cached_property
    def targets(self) -> Targets:
        """Files by their names."""
        return Targets(self.settings, self.studies)

    @cached_property
    def inputs(self) -> Inputs:
        """What jobs read and are."""
        return Inputs(self.targets)

    @cached_property
    def requests(self) -> Requests:
        """What jobs need."""
        return Requests(self.studies)

    def beside(self, study: str, name: str) -> Path:
        """A file beside the folder of a study's file, such as registered.csv."""
        return (self.own[study].parents[1] if study in self.own else self.config) / name

    @property
    def results(self) -> str:
        """The folder of all results."""
        return self.targets.results

    @property
    def warnings(self) -> list[str]:
        """All warnings, one line each."""
        return [line for lines in self.warnings_by_study.values() for line in lines]

    @cached_property
    @ends_in_one_line
    @component_guards.in_one_line
    def absent(self) -> list[Fault]:
        """Files outside the project that its studies would read, and cannot."""
        faults = {fault for study in self.studies.values() for fault in grid_checks.absent(study)}
        return sorted(adhoc_study.as_asked(fault, self.described, self.settings) for fault in faults)


@ends_in_one_line
@component_guards.in_one_line
def configure(given: Mapping[str, Any], file: Path, folder: Path, targets: Collection[str] = ()) -> Plan:
    """Plan what the keys given on the command line, over those of a file, ask for; end the program with all faults.

    given: --config and --configfile; file: config.yaml (may be absent); folder: of the studies, beside that of the
    published numbers; targets: those of the command line. Studies that neither name are not read.
    """
    described = f"{file.as_posix()} with --config" if given else file.as_posix()
    asked, faults = _settings(given, file, described)
    own, own_faults = folders.own(asked.get("own"), described, ROOT, OWN)
    papers.use(folder.parent)
    registry.use(one.path for one in own)
    searched = [folders.StudyFolder(folder.parent, "config"), *own]
    sources = asked_studies.sources(searched)
    faults += [*own_faults, *folders.named_twice(searched), *papers.faults(RULES)]
    settings, setting_faults = configuration(asked, described, list(sources)) if asked or not faults else ({}, [])
    registered, verdicts, record_faults = _records(searched)
    faults += [*setting_faults, *record_faults, *_misnamed(sources)]
    chosen = asked_studies.chosen(
        settings, {name: source for name, source in sources.items() if _is_fit(name)}, targets
    )
    studies, study_faults = _checked(chosen, settings)
    faults += study_faults
    if settings.get("preset") == "paper" and not faults:
        faults += _unstated(described, settings["studies"], studies)
    if faults:
        faults = sorted({adhoc_study.as_asked(fault, described, asked) for fault in faults})
        sys.exit("\n".join(f"error: {fault}" for fault in faults))
    kept = append_only_csv.by_study(registered), append_only_csv.by_study(verdicts)
    studies = {
        name: _of_run(study, settings, *(lines.get(name, []) for lines in kept)) for name, study in studies.items()
    }
    others = {name: source.path for name, source in sources.items() if source.folder in own}
    warnings = {
        name: tuple(_line(adhoc_study.as_asked(fault, described, asked)) for fault in grid_checks.warnings(study))
        for name, study in studies.items()
    }
    warnings |= {f"{one.name}/": tuple(map(_line, one.warnings())) for one in own}
    warnings |= {name: (*warnings[name], *_unregistered(studies[name])) for name in others if name in studies}
    return Plan(settings, studies, warnings, tuple(registered), folder.parent, others, described)


def _settings(given: Mapping[str, Any], file: Path, described: str) -> tuple[dict[str, Any], list[Fault]]:
    """The settings as they are asked for, with the study that answers a question, and their faults."""
    settings, faults = load(file, file.as_posix()) if file.exists() or file.is_symlink() else ({}, [])
    asked, faults = adhoc_study.ask({**settings, **given}, described) if not faults else ({}, faults)
    if {adhoc_study.KEY, "studies"} <= given.keys():
        faults.append(Fault(described, ("studies",), f"{show(given['studies'])} beside a question", "one of the two"))
    return asked, faults


def _records(
    searched: Iterable[folders.StudyFolder],
) -> tuple[list[registration.Line], list[history.Verdict], list[Fault]]:
    """The registered designs and the verdicts of all folders, and the faults of what lies beside the studies."""
    registered, verdicts, faults = [], [], []
    for one in searched:
        for known, (lines, wrong) in ((registered, one.registered()), (verdicts, one.verdicts())):
            known += lines
            faults += wrong
        faults += one.faults()
    return registered, verdicts, faults


def _is_fit(name: str) -> bool:
    return bool(NAME.fullmatch(name)) and len(name) <= LONGEST and name not in taken()


def _misnamed(sources: Mapping[str, asked_studies.Source]) -> Iterator[Fault]:
    """Files whose name no study can have."""
    allowed = f"at most {LONGEST} small letters, digits and hyphens, and {NOT_TAKEN}"
    for name, source in sources.items():
        if not _is_fit(name):
            yield Fault(source.shown, (), f"the file name {name!r}", allowed)


def _checked(
    chosen: Mapping[str, asked_studies.Source], settings: Mapping[str, Any]
) -> tuple[dict[str, Study], list[Fault]]:
    """The studies at the preset of the run, and their faults with those of claims that two of them have."""
    preset, limit = settings.get("preset", "quick"), settings.get("memory_limit_mb", resources.ABSURD_MB)
    studies, faults, owners = {}, [], {}
    for name, source in chosen.items():
        study, wrong = checking.study(source.path, source.shown, preset, limit, at_all=False)
        faults += wrong
        if study is not None:
            studies[name] = study
        for claim in study.claims if study else _claims(source.path) if wrong else ():
            first = owners.setdefault(claim, source.shown)
            if first != source.shown:
                found = f"a claim that {first} has too"
                faults.append(Fault(source.shown, ("claims", claim), found, "a name of its own"))
    return studies, faults


def _of_run(
    study: Study, settings: Mapping[str, Any], registered: list[registration.Line], verdicts: list[history.Verdict]
) -> Study:
    """A study with what a run adds to its file: the draw, the registered designs, what was found before."""
    drawn = study.of_run(run=Draw.of(settings))
    return drawn.of_run(
        registered=registration.of(drawn, registered), earlier=history.earlier(drawn, verdicts, _moved())
    )


@cache
def _moved() -> dict[tuple[str, str], str]:
    """Which rows ask today what earlier lines of the project were asked."""
    return asked.moved(ROOT / asked.FOLDER)


def taken() -> set[str]:
    """Targets and words of the command line that no study can be called."""
    return {*RULES, *COMMANDS, *papers.known()}


def _unstated(described: str, asked: list[str], stated: Collection[str]) -> list[Fault]:
    """Studies that are asked for at the preset paper and have no sizes for it; all of them where no study has."""
    without = [name for name in asked if name not in stated]
    allowed = f"one of {', '.join(stated)}" if stated else "presets.paper in a study"
    if asked or stated:
        return [Fault(described, ("studies",), f"{name}, which states no preset paper", allowed) for name in without]
    return [Fault(described, ("preset",), "paper, which no study states", allowed)]


def _unregistered(study: Study) -> Iterator[str]:
    """A warning for the claims of a study of a user's own that are judged and have no line; a pilot judges nothing."""
    judged = [name for name, claim in study.claims.items() if claim.rule != "descriptive"]
    missing = [name for name in judged if name not in study.registered]
    if missing and not study.run.pilot and study.preset != "smoke":
        where, more = registration.file_beside(study), f" and {len(missing) - 1} more" if missing[1:] else ""
        found = f"no line of {missing[0]}{more} in {where}"
        yield _line(Fault(study.file, ("claims",), found, "one before a claim is judged (register)"))


def _line(doubt: Fault) -> str:
    """What is printed of a doubt."""
    return f"{'note' if isinstance(doubt, Note) else 'warning'}: {doubt}"


def _claims(file: Path) -> list[str]:
    """The names of the claims of a study with faults, as its file has them."""
    return list(mapping(value_at(load(file, file.name)[0], ("claims",))))


def configuration(given: Mapping[str, Any], name: str, known_studies: list[str]) -> tuple[dict[str, Any], list[Fault]]:
    """The configuration with defaults, and its faults. name: what messages call it.

    `studies` may be one name instead of a list.
    """
    against = schema("config")
    # Snakemake hands over true and false on the command line as words.
    words = {"true": True, "false": False}
    booleans = [key for key, part in against["properties"].items() if part.get("type") == "boolean"]
    given = {k: words.get(v, v) if k in booleans and isinstance(v, str) else v for k, v in given.items()}
    faults = list(schema_faults(name, dict(given), against))
    misshapen = {fault.path[0] for fault in faults}
    chosen = given.get("studies", [])
    if is_one := isinstance(chosen, str):
        given["studies"] = chosen = [chosen]
    for i, study in enumerate(chosen if isinstance(chosen, list) else ()):
        if isinstance(study, str) and study not in known_studies:
            path = ("studies",) if is_one else ("studies", i)
            allowed = nearest(study, known_studies) if known_studies else "a study of config/studies, which has none"
            if not given.get("own") and "(nearest: " not in allowed:
                allowed += "; one of your own with its folder in `own`"
            faults.append(Fault(name, path, show(study), allowed))
    other = given.get("compare")
    if isinstance(other, str) and other and "compare" not in misshapen:
        faults += _compare_faults(name, other)
    if given.get("pilot") is True and given.get("replicate") not in (None, 0):
        faults.append(Fault(name, ("replicate",), f"{show(given['replicate'])} beside pilot: true", "one of the two"))
    if "results" in given and "results" not in misshapen:
        results = Path(given["results"])
        faults += _results_faults(name, results)
        # Snakemake takes x/ and x//y for names of their own.
        given["results"] = results.as_posix()
    if other and not faults:
        own = Path(Targets(fill_defaults(dict(given), against), {}).file("claims.csv"))
        if Path(other).resolve() == own.resolve():
            faults.append(Fault(name, ("compare",), f"{show(other)}, which this run writes", "that of another run"))
    return ({} if faults else fill_defaults(dict(given), against)), sorted(set(faults))


def _compare_faults(name: str, other: str) -> list[Fault]:
    allowed = "the claims.csv of a finished run"
    if not Path(other).is_file():
        return [Fault(name, ("compare",), show(other), allowed)]
    try:
        tally.other_run(other)
    except ValueError as error:
        wrong = str(error).partition(": found ")[2].partition("; expected ")[0]
        return [Fault(name, ("compare",), f"{wrong} in {show(other)}", allowed)]
    return []


def _results_faults(name: str, results: Path) -> list[Fault]:
    found = show(str(results))
    if ".." in results.parts:
        return [Fault(name, ("results",), found, "a folder below the working directory")]
    if any((at.exists() or at.is_symlink()) and not at.is_dir() for at in (results, *results.parents)):
        return [Fault(name, ("results",), f"{found}, where a file is", "a folder")]
    if any(own in (results.resolve(), *results.resolve().parents) for own in (ROOT / folder for folder in OWN)):
        return [Fault(name, ("results",), f"{found}, of the project itself", "another folder")]
    return []
