"""Reads and checks the configuration and the studies: the one object that the rules of the workflow ask."""

import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from hierlearn.claims import tally
from hierlearn.core import process, registry
from hierlearn.core.provenance import ends_in_one_line
from hierlearn.plan import (
    answers,
    cache,
    checking,
    folders,
    history,
    papers,
    plausibility,
    question,
    registration,
    resources,
)
from hierlearn.plan.cluster import Requests
from hierlearn.plan.draws import Draw
from hierlearn.plan.faults import Broken, Fault, Note, nearest, show
from hierlearn.plan.inputs import Inputs
from hierlearn.plan.load import load
from hierlearn.plan.shared import shared
from hierlearn.plan.study import Study
from hierlearn.plan.targets import FILES, Targets, jobs_of
from hierlearn.plan.violations import SCHEMAS, fill_defaults, schema, schema_faults
from hierlearn.run.job import MEMORY_VARIABLES

NAME, LONGEST = re.compile("[a-z0-9]+(-[a-z0-9]+)*"), 60
# Folders of the project that no run writes into.
ROOT, OWN = SCHEMAS.parents[2], ("benchmarks", "config", "docs", "envs", "profiles", "tests", "workflow")
# A study's name is a target of its own beside these and the words that are answered at once.
COMMANDS = ("plan", "tally", "register", "record", "publish")
RULES = ("all", "default", "contact_sheet", *FILES)
NOT_TAKEN = "no rule's, no command's and no paper's name"


@dataclass(frozen=True)
class Plan:
    """What is to be run: settings of the whole run, the studies by name, the warnings about each and about folders."""

    settings: Mapping[str, Any]
    studies: Mapping[str, Study]
    doubts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # Lines of all registered.csv; the project's folder of studies, and the files of those in folders of a user's own.
    registered: tuple[registration.Line, ...] = ()
    config: Path = Path("config")
    own: Mapping[str, Path] = field(default_factory=dict)
    # What an earlier run found, as far as it counts, and the claims of sound studies that this run leaves out.
    kept: cache.Cache = field(default_factory=cache.Cache)
    left_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def targets(self) -> Targets:
        """Files by their names."""
        return Targets(self.settings, self.studies)

    @cached_property
    def inputs(self) -> Inputs:
        """What jobs read and are."""
        return Inputs(self.targets, {job: found for entry in self._entries for job, found in entry.jobs.items()})

    @cached_property
    def requests(self) -> Requests:
        """What jobs need."""
        return Requests(self.studies, {job: one for entry in self._entries for job, one in entry.requests.items()})

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
        return [doubt for doubts in self.doubts.values() for doubt in doubts]

    @cached_property
    @ends_in_one_line
    @answers.in_one_line
    def absent(self) -> list[Fault]:
        """Files outside the project that its studies would read, and cannot; what is kept reads none."""
        studies = (study for name, study in self.studies.items() if name not in self.kept.entries)
        return sorted({fault for study in studies for fault in plausibility.absent(study)})

    @property
    def _entries(self) -> list[cache.Entry]:
        """What is kept of the studies of this run."""
        return [entry for name, entry in self.kept.entries.items() if name in self.studies]

    def keep(self) -> None:
        """Keep what was found of the studies, for the next time; they are sound, and of the designs registered.

        What cannot be kept is found again.
        """
        new = [name for name in self.studies if name not in self.kept.entries]
        if self.kept.file and (new or self.left_out):
            found = dict(zip(new, shared(self._entry, new), strict=True))
            for entry in found.values():
                self.inputs.kept.update(entry.jobs)
                self.requests.kept.update(entry.requests)
            with suppress(OSError):
                self.kept.write({name: one for name, one in found.items() if not one.reads_outside}, self.left_out)

    def _entry(self, name: str) -> cache.Entry:
        jobs = {job: self.inputs.job(*job) for job in jobs_of(self.studies[name])}
        needs = {job: self.requests.needs(*job) for job in jobs}
        return cache.Entry(self.kept.sources[name], self.studies[name], self.doubts[name], jobs, needs)


@ends_in_one_line
@answers.in_one_line
def configure(given: Mapping[str, Any], file: Path, folder: Path, records: Path | None = None) -> Plan:
    """The plan for the keys given on the command line over those of a file; ends the program with all faults if any.

    given: --config and --configfile; file: config.yaml (may be absent); folder: of the studies, beside that of the
    published numbers; records: where `Plan.keep` keeps what was found, None to find all of it now.
    """
    settings, faults = load(file, file.as_posix()) if file.exists() or file.is_symlink() else ({}, [])
    described = f"{file.as_posix()} with --config" if given else file.as_posix()
    asked, faults = question.ask({**settings, **given}, described) if not faults else ({}, faults)
    if {question.KEY, "studies"} <= given.keys():
        faults.append(Fault(described, ("studies",), f"{show(given['studies'])} beside a question", "one of the two"))
    own, found = folders.own(asked.get("own"), described, ROOT, OWN)
    faults += found
    papers.use(folder.parent)
    registry.use(one.path for one in own)
    searched = [folders.StudyFolder(folder.parent, "config"), *own]
    files = {name: (one, path) for one in reversed(searched) for name, path in one.studies().items()}
    files = {name: files[name] for name in sorted(files)}
    faults += [*folders.named_twice(searched), *papers.faults(RULES)]
    settings, found = configuration(asked, described, list(files)) if asked or not faults else ({}, [])
    faults += found
    chosen = settings.get("studies") or list(files)
    preset, limit = settings.get("preset", "quick"), settings.get("memory_limit_mb", resources.ABSURD_MB)
    studies, owners, left_out = {}, {}, {}
    every = {name: path for name, (_, path) in files.items()}
    kept = (
        cache.read(records, settings, every, [one.path for one in searched]) if records and settings else cache.Cache()
    )
    lines, verdicts = [], []
    for one in searched:
        for known, (rows, found) in ((lines, one.registered()), (verdicts, one.verdicts())):
            known += rows
            faults += found
        faults += one.faults(bool(kept.entries))
    unfit = {name for name in files if not NAME.fullmatch(name) or len(name) > LONGEST}
    unfit |= files.keys() & taken()

    def check(name: str) -> tuple[Study | None, list[Fault]]:
        one, path = files[name]
        return checking.study(path, one.shown(path), preset, limit)

    known = kept.entries.keys() | (kept.left_out.keys() - set(chosen)) | unfit
    new = [name for name in files if name not in known]
    checked = dict(zip(new, shared(check, new), strict=True))
    for name, (one, path) in files.items():
        shown = one.shown(path)
        if name in unfit:
            allowed = f"at most {LONGEST} small letters, digits and hyphens, and {NOT_TAKEN}"
            faults.append(Fault(shown, (), f"the file name {name!r}", allowed))
            continue
        entry = kept.entries.get(name)
        if entry:
            study, found, claims = entry.study, [], list(entry.study.claims)
        elif name in checked:
            study, found = checked[name]
            claims = _claims(study, path)
        else:
            study, found, claims = None, [], kept.left_out[name][1]
        faults += found
        for claim in claims:
            first = owners.setdefault(claim, shown)
            if first != shown:
                faults.append(Fault(shown, ("claims", claim), f"a claim that {first} has too", "a name of its own"))
        if entry and name in chosen:
            studies[name] = study
        elif study is not None and name in chosen:
            drawn = replace(study, run=Draw.of(settings))
            before = history.earlier(drawn, verdicts)
            studies[name] = replace(drawn, registered=registration.of(drawn, lines), earlier=before)
        elif study is not None and not entry:
            left_out[name] = tuple(claims)
    if preset == "paper" and not faults:
        faults += _unstated(described, settings["studies"], studies)
    if faults:
        said = {question.as_asked(fault, described, asked) for fault in faults}
        sys.exit("\n".join(f"error: {fault}" for fault in sorted(said)))

    def doubtful(study: Study) -> tuple[str, ...]:
        return tuple(_line(question.as_asked(fault, described, asked)) for fault in plausibility.warnings(study))

    known = kept.entries
    doubts = {name: known[name].doubts if name in known else doubtful(study) for name, study in studies.items()}
    others = {name: path for name, (one, path) in files.items() if one in own}
    doubts |= {f"{one.name}/": tuple(map(_line, one.doubts())) for one in own}
    doubts |= {n: (*doubts[n], *_unregistered(studies[n])) for n in others if n in studies and n not in known}
    return Plan(settings, studies, doubts, tuple(lines), folder.parent, others, kept, left_out)


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
    """A warning for every claim of a study of a user's own that is judged and has no line; a pilot judges nothing."""
    for name, claim in study.claims.items() if not study.run.pilot and study.preset != "smoke" else ():
        if claim.rule != "descriptive" and name not in study.registered:
            found = f"no line of it in {registration.file_beside(study)}"
            yield _line(Fault(study.file, ("claims", name), found, "one before it is judged (register)"))


def _line(doubt: Fault) -> str:
    """What is printed of a doubt."""
    return f"{'note' if isinstance(doubt, Note) else 'warning'}: {doubt}"


def _claims(study: Study | None, file: Path) -> list[str]:
    """The names of a study's claims; as its file has them where the study has faults."""
    if study is not None:
        return list(study.claims)
    content = load(file, file.name)[0]
    claims = content.get("claims") if isinstance(content, dict) else None
    return list(claims) if isinstance(claims, dict) else []


def configuration(given: Mapping[str, Any], name: str, known_studies: list[str]) -> tuple[dict[str, Any], list[Fault]]:
    """The configuration with defaults, and its faults. name: what messages call it.

    `studies` may be one name instead of a list.
    """
    against, broken = schema("config"), Broken()
    # Snakemake hands over true and false on the command line as words.
    words = {"true": True, "false": False}
    booleans = [key for key, part in against["properties"].items() if part.get("type") == "boolean"]
    given = {k: words.get(v, v) if k in booleans and isinstance(v, str) else v for k, v in given.items()}
    faults = list(schema_faults(name, dict(given), against, broken=broken))
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
    if isinstance(other, str) and other and not broken.over("compare"):
        faults += _compare_faults(name, other)
    if given.get("pilot") is True and given.get("replicate") not in (None, 0):
        faults.append(Fault(name, ("replicate",), f"{show(given['replicate'])} beside pilot: true", "one of the two"))
    if "results" in given and not broken.over("results"):
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


def set_environment(workflow: Path) -> None:
    """Let every job find the package, and give equal bytes even where a library writes the words of a set.

    No file of the folder that a run is started in hides a library from its jobs, and what is said reaches any terminal.
    """
    paths = [str(workflow), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    os.environ["PYTHONHASHSEED"] = "0"
    # What a library warns of as Python starts or ends is no fault of a job's.
    os.environ.pop("PYTHONWARNINGS", None)
    for name, value in {"PYTHONSAFEPATH": "1", **MEMORY_VARIABLES}.items():
        os.environ.setdefault(name, value)
    process.restore()
    process.replace_letters()
    if surroundings := sorted(_hopeless(workflow)):
        sys.exit("\n".join(f"error: {line}" for line in surroundings))


def _hopeless(workflow: Path) -> Iterator[str]:
    """What surrounds a run and would end it with a traceback, a line each."""
    # Snakemake fills braces in the paths of scripts and environments; PYTHONPATH is a list of folders.
    if found := {"{", "}", os.pathsep} & set(str(workflow)):
        path, letters = show(str(workflow.parent)), " and ".join(sorted(found))
        yield f"path of the project: found {letters} in {path}; expected a path without {{, }} and {os.pathsep}"
    # Python marks each such letter with a surrogate, which no file of text can hold.
    for place in sorted({str(workflow.parent), os.getcwd()}):
        if any("\ud800" <= letter <= "\udfff" for letter in place):
            encoding = sys.getfilesystemencoding()
            yield f"path {show(place)}: found letters that {encoding} lacks; expected PYTHONUTF8=1 or a locale of UTF-8"
    # matplotlib reads one that lies here before all others, and fails where it cannot.
    settings = Path("matplotlibrc")
    try:
        settings.read_text(encoding="utf-8") if settings.is_file() else None
    except (OSError, UnicodeDecodeError) as error:
        yield f"{settings}: found a file that cannot be read ({type(error).__name__}); expected UTF-8"
