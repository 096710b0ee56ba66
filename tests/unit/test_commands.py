"""Words that are answered at once: what a preset costs, what a ledger holds, which designs are registered."""

import os
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest
from small_study import STUDY
from test_estimates import write_logs
from test_page import row
from test_rules import rules

from hierlearn.core import registry
from hierlearn.pipeline.claims import digests as canonical
from hierlearn.pipeline.claims import history, tally
from hierlearn.pipeline.claims.ledger import csv_text, to_json
from hierlearn.pipeline.command import records, refusals
from hierlearn.pipeline.command.refusals import unknown_targets
from hierlearn.pipeline.files import results
from hierlearn.pipeline.plan import configuration, estimates, registration
from hierlearn.pipeline.plan.checking import load_study

COLUMNS = ("study", "claim", "kind", "rank", "regime", "verdict", "control_verdict", "digest", "draw")
JUDGED = {"digest": "abc", "draw": "small/quick/1", "revision": "1"}
SOUND = ("small", "C1", "rate", "primary", "limit", "consistent", "fails", "abc", "small/quick/1")


def rows(*changes):
    """Rows that keep every promise, each with some columns changed."""
    return [dict(zip(COLUMNS, SOUND, strict=True)) | change for change in changes]


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return replace(rules(pilot=False, replicate=0), config=tmp_path)


def alone(plan):
    """A run of one study."""
    return replace(plan, studies={"small": plan.studies["small"]})


def write(plan, study, *found, details=MappingProxyType({})):
    """Leave the claims.json of a study that was judged. details: what stands behind a row, by claim."""
    file = Path(plan.targets.file(study, "claims.json"))
    results.write_claims(file, [to_json(one) | {"detail": details.get(one.claim, {})} for one in found], {})
    return file


@pytest.mark.parametrize("make", [Path.touch, os.mkfifo, lambda path: path.symlink_to("nowhere")])
def test_what_lies_in_place_of_a_folder_of_results_is_named(plan, make):
    refusals.refuse_files_for_folders(plan)
    folder = Path(plan.targets.file("small", "claims.json")).parent
    folder.parent.mkdir(parents=True)
    make(folder)
    with pytest.raises(SystemExit) as end:
        refusals.refuse_files_for_folders(plan)
    assert end.value.code == f"error: {folder}: found a file; expected a folder of results, or nothing"


def test_no_study_may_be_called_as_a_command_is():
    assert tuple(records.ANSWERS) == configuration.COMMANDS


def test_the_cost_is_that_of_the_machine_that_ran_quick(plan):
    before, _ = records.cost(plan)
    Path("studies").mkdir()
    Path("studies", "small.yaml").write_text(STUDY)
    jobs = list(estimates.jobs_of(load_study(Path("studies", "small.yaml"))))
    write_logs(Path(plan.settings["results"], "quick"), jobs, 100.0)
    after, broken = records.cost(plan)
    assert not broken
    pace = 100.0 * len(jobs) / sum(job.core_seconds for job in jobs)
    assert f"Scaled by {pace:.2g}," in after[-1]
    (own, scaled) = (float(lines[1].split()[2]) for lines in (before, after))
    assert scaled == pytest.approx(pace * own, rel=0.01)


def test_the_cost_is_told_without_the_files_that_a_run_would_read_and_cannot(plan, monkeypatch):
    complete, _ = records.cost(plan)
    refusals.refuse_absent_files(plan)
    missing = iter([("basis", "no archive", "one")])
    monkeypatch.setattr(registry.implementation("inputs", "sphere"), "missing_inputs", lambda self: missing)
    plan = replace(plan)
    lines, broken = records.cost(plan)
    assert not broken and lines[:-1] == complete
    said = "small.yaml: problem.input.basis: found no archive; expected one"
    assert lines[-1] == f"To run it needs a file that is not there: {said}"
    with pytest.raises(SystemExit, match=f"^error: {said}$"):
        refusals.refuse_absent_files(plan)


def test_a_command_that_is_given_to_snakemake_is_named():
    (line,) = unknown_targets(["tally"], rules(), [])
    assert line.endswith("run `hierlearn tally`")


def test_a_ledger_that_keeps_its_promises_is_counted(plan):
    check = {"claim": "C3", "kind": "check", "regime": "", "verdict": "supported", "control_verdict": ""}
    write(plan, "small", *(row(**JUDGED, **one) for one in ({}, {"claim": "C2", "verdict": "vacuous"}, check)))
    lines, broken = records.tally(alone(plan))
    assert not broken
    assert lines[1].split() == ["rate", "at", "these", "sizes", "passes", "1", "1"]
    assert [line.split()[0] for line in lines[1:-1]] == ["rate", "rate", "check"]
    assert lines[-1] == "3 rows; 1 of 2 primary rows are decided, checks apart"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"control_verdict": "missing"}, "broken: 1 rows judged without a control: C1"),
        ({"digest": ""}, "broken: 1 rows judged on a design that is not registered: C1"),
    ],
)
def test_a_broken_promise_is_told_and_fails(plan, change, told):
    write(plan, "small", row(**JUDGED | change), row(**JUDGED, claim="C2"))
    lines, broken = records.tally(alone(plan))
    assert broken
    assert [line for line in lines if line.startswith("broken")] == [told]


def test_a_row_without_a_control_breaks_a_promise():
    assert list(tally.breaches(rows({"control_verdict": ""}))) == ["1 rows judged without a control: C1"]


def test_a_claim_of_an_own_study_without_a_line_in_its_own_registered_csv_is_told_by_its_name(plan):
    own = {"claim": "Z1-cusp", "digest": "", "draw": "own2026-cusp/quick/1"}
    write(plan, "small", row(**JUDGED), row(**JUDGED | own))
    lines, broken = records.tally(alone(plan))
    assert broken
    assert [line for line in lines if line.startswith("broken")] == [
        "broken: 1 rows judged on a design that is not registered: Z1-cusp"
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "check", "control_verdict": ""},
        {"kind": "description", "verdict": "", "control_verdict": "", "digest": ""},
        {"draw": "pilot", "digest": ""},
    ],
    ids=["check", "description", "pilot"],
)
def test_what_promises_less_breaks_none(change):
    assert list(tally.breaches(rows(change))) == []


def test_a_study_of_descriptions_alone_has_rows():
    described = {"kind": "description", "verdict": ""}
    assert tally.outcome(rows(described, described, {"kind": "check", "verdict": "supported"})) == (
        "1 check, 2 descriptions"
    )
    assert tally.outcome([]) == "no rows"


def test_many_broken_rows_are_one_line():
    (line,) = tally.breaches(rows(*({"claim": f"C{i}", "digest": ""} for i in range(14))))
    assert line.startswith("14 rows") and line.endswith("C9 and 4 more")


@pytest.mark.parametrize("word", ["tally", "record"])
def test_where_no_study_is_judged_or_by_older_code_one_line_says_so(plan, word):
    # The table of all studies is not asked: a run of one study leaves it as it is.
    Path(plan.results).mkdir(parents=True)
    Path(plan.results, "claims.csv").write_text(csv_text([row(study="small")]))
    with pytest.raises(ValueError, match=r"^results/quick: found no claims.json of small; expected a run"):
        records.ANSWERS[word](alone(plan))
    file = Path(plan.targets.file("small", "claims.json"))
    results.write_claims(file, [{"claim": "C1"}], {})
    with pytest.raises(ValueError, match=rf"^{file}: found no column paper; expected a run with this code"):
        records.ANSWERS[word](alone(plan))


def test_studies_that_are_not_judged_yet_are_named_and_others_not_counted(plan):
    write(plan, "small", row(study="small", **JUDGED))
    write(plan, "another", row(study="another", claim="Z1"))
    lines, broken = records.tally(plan)
    assert not broken and lines[-1] == "not judged yet: probing"
    assert lines[-2] == "1 rows; 1 of 1 primary rows are decided, checks apart"


def test_registering_adds_a_line_for_every_claim_once(plan):
    told, broken = records.register(plan)
    lines, _ = registration.read(plan.config / "registered.csv")
    studies = plan.targets.studies.values()
    assert not broken and told[-1] == f"{len(lines)} lines added to {os.path.relpath(plan.config / 'registered.csv')}"
    assert {(line.study, line.claim) for line in lines} == {(one.name, name) for one in studies for name in one.claims}
    again, _ = records.register(replace(plan, registered=tuple(lines)))
    assert again == ["nothing to add to registered.csv"]


def test_another_design_is_not_registered_at_the_same_revision(plan):
    study = plan.targets.studies["small"]
    line = replace(registration.new_lines(study, [])[0], digest="other")
    with pytest.raises(ValueError, match=r"claims\.C1-kernel: found another design"):
        records.register(replace(plan, registered=(line,)))
    assert not (plan.config / "registered.csv").exists()


@pytest.mark.parametrize("settings", [{"pilot": True, "replicate": 0}, {"pilot": False, "replicate": 1}])
def test_pilots_and_replicates_are_not_registered(settings):
    with pytest.raises(ValueError, match="register: found a pilot or a replicate"):
        records.register(rules(**settings))


def test_verdicts_of_registered_designs_are_recorded_once(plan):
    numbers = {"study": "small", "value": 1.0, "low": 0.0, "high": 2.0} | JUDGED
    write(plan, "small", row(claim="C1", **numbers), row(claim="C2", **numbers | {"digest": ""}))
    verdicts, rivals = (os.path.relpath(plan.config / name) for name in (history.NAME, history.RIVALS))
    assert records.record(alone(plan)) == ([f"1 line added to {verdicts}", f"1 line added to {rivals}"], False)
    assert records.record(alone(plan)) == (["nothing to add to verdicts.csv"], False)
    (line,) = history.read(plan.config / "verdicts.csv")[0]
    assert (line.claim, line.verdict, line.value) == ("C1", "consistent", "1")
    (rival,), _ = history.read_rivals(plan.config / history.RIVALS)
    assert (rival.claim, rival.digest, rival.draw, rival.result) == ("C1", line.digest, line.draw, "fails")


def test_a_recorded_line_says_what_was_asked_and_what_it_rests_on(plan):
    study = plan.targets.studies["small"]
    digest, design = "abc", registration.designs(study)["C1-kernel"]
    plan = replace(plan, studies={"small": study.of_run(registered={"C1-kernel": digest})})
    numbers = {"value": 1.0, "low": 0.9, "high": 1.2, "predicted": 1.0, "slack": 0.25, "rule": "two-sided", "seeds": 4}
    told = row(study="small", **JUDGED | numbers | {"claim": "C1-kernel", "digest": digest})
    write(plan, "small", told, details={"C1-kernel": {"dof": 2, "control": {"seeds": 4, "dof": 3}}})
    records.record(plan)
    (line,), _ = history.read(plan.config / history.NAME)
    (rival,), _ = history.read_rivals(plan.config / history.RIVALS)
    assert (line.limit, line.slack, line.rule, line.side) == ("0.75 1.25", "0.25", "two-sided", "")
    assert (line.quantity, line.method, line.level) == ("exponent", "line through sizes", "0.95")
    assert (line.freedom, line.seeds, rival.freedom) == ("2", "4", "3")
    assert (line.result, line.scope, line.kind) == ("passes", "at these sizes", "rate")
    assert (line.question, line.design) == (canonical.of_question(design), canonical.of_design(design))
    assert line.commit
    # Of another design the study says nothing.
    write(plan, "small", replace(told, digest="another"))
    records.record(plan)
    *_, later = history.read(plan.config / history.NAME)[0]
    assert (later.digest, later.question, later.design, later.quantity) == ("another", "", "", "")
    assert later.limit == "0.75 1.25"


def test_a_preset_is_planned_without_a_run(plan):
    lines, broken = records.cost(plan)
    assert not broken
    assert [line.split()[0] for line in lines[:4]] == ["study", "small", "probing", "all"]
    assert not Path(plan.results).exists()
