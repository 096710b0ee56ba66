"""Registered designs: a digest of what a verdict rests on and of nothing else, and lines that are only added."""

import copy
import csv
import subprocess
from dataclasses import astuple, replace
from pathlib import Path

import pytest
import shipped
import yaml
from small_study import STUDY, put, study_of

from hierlearn.core import registry
from hierlearn.pipeline.files import append_only_csv
from hierlearn.pipeline.plan import descriptions, jobs, registration
from hierlearn.pipeline.plan.replicates import Draw

ROOT = Path(__file__).parents[2]
REGISTERED = ROOT / "config" / "registered.csv"


def small(content, preset="quick"):
    return study_of(content, "small", "small.yaml", preset)


def digests(content):
    return registration.digests(small(content))


@pytest.fixture
def lines(content):
    return registration.new_lines(small(content), [])


OF_THE_KERNEL = [
    ("claims.C1-kernel.test", "<= 7"),
    ("claims.C1-kernel.test", "= 1"),
    ("claims.C1-kernel.test", "<= 1 + 0.3"),
    ("claims.C1-kernel.place", "Theorem 99"),
    ("seeds", 5),
    ("points.test", 77),
    ("samples.thresholds", [0.5]),
    ("problem.label_noise", 0.25),
    ("learners.kernel.samples.cap", 32),
    ("learners.kernel.only", {"degree": 1}),
]


@pytest.mark.parametrize(("path", "value"), OF_THE_KERNEL)
def test_what_a_verdict_rests_on_is_in_its_digest(content, path, value):
    changed = put({"points": {}, "samples": {}} | content, path, value)
    assert digests(changed)["C1-kernel"] != digests(content)["C1-kernel"]


def test_words_figures_labels_and_cuts_are_in_no_digest(content):
    changed = content | {"title": "T", "summary": "S", "split_jobs_by": ["seed"]}
    for path, value in (
        ("claims.C1-kernel.statement", "Another one"),
        ("claims.C1-kernel.remark", "Seen before."),
        ("claims.C1-kernel.rival.is", "another name of the rival"),
        ("claims.C1-kernel.limit_from", "theory"),
        ("claims.C1-kernel.withdrawn", {"quote": "We assume it.", "where": "Section 2"}),
        ("learners.kernel.label", "Another label"),
    ):
        changed = put(changed, path, value)
    changed["figure"] = {"name": "panels", "panels": []}
    assert digests(changed) == digests(content)


def test_another_learner_another_probe_and_another_claim_change_no_digest(content):
    changed = copy.deepcopy(content)
    changed["learners"]["again"] = changed["learners"]["kernel"]
    changed["probes"]["more"] = changed["probes"]["theory"]
    changed["claims"]["C9-more"] = changed["claims"]["C1-kernel"]
    new = digests(changed)
    assert new.pop("C9-more") == digests(content)["C1-kernel"]
    assert new == digests(content)


def test_a_learner_that_a_claim_does_not_name_is_not_in_its_digest(content):
    changed = put(content, "learners.linear.samples", {"at": [3, 4]})
    assert digests(changed)["C1-kernel"] == digests(content)["C1-kernel"]


def test_a_rival_that_only_the_control_names_is_in_the_digest(content, monkeypatch):
    """Whatever shape a claim's control has."""
    of = descriptions.claims

    def with_control(study):
        return {name: claim | {"control": {"quantity": {"above": ["linear"]}}} for name, claim in of(study).items()}

    monkeypatch.setattr(descriptions, "claims", with_control)
    changed = put(content, "learners.linear.samples", {"at": [3, 4]})
    assert digests(changed)["C1-kernel"] != digests(content)["C1-kernel"]


def test_a_default_counts_as_much_as_a_value_that_is_written(content, monkeypatch):
    component = small(content).learners["kernel"].component
    written = put(content, "learners.kernel.learner", registry.defaults("learners", component["name"]) | component)
    assert digests(written) == digests(content)
    before, known = digests(content), registry.parameters

    def other(kind, name):
        found = copy.deepcopy(known(kind, name))
        if kind == "kernels":
            found["regularity"] = {"type": "integer", "default": 3}
        return found

    monkeypatch.setattr(registry, "parameters", other)
    assert digests(content)["C1-kernel"] != before["C1-kernel"]


def test_how_something_is_executed_is_in_no_digest(content, monkeypatch):
    before, known = digests(content), registry.parameters

    def other(kind, name):
        found = dict(known(kind, name))
        if kind == "quantities":
            return found
        return found | {"device": {"type": "string", "default": "cpu", "execution": True}}

    monkeypatch.setattr(registry, "parameters", other)
    assert digests(content) == before


def test_a_registered_claim_is_judged_with_its_digest(content, lines):
    study = small(content)
    judged = jobs.judge(replace(study, registered=registration.of(study, lines)))
    assert judged["study"]["draw"] == "small/quick/1"
    assert judged["study"]["revision"] == 1
    assert {name: claim["digest"] for name, claim in judged["claims"].items()} == registration.digests(study)
    assert {claim["digest"] for claim in jobs.judge(study)["claims"].values()} == {""}


def test_a_design_that_differs_from_its_line_is_refused(content, lines):
    assert list(registration.other_designs(small(content), lines)) == []
    changed = small(put(content, "seeds", 5))
    faults = list(registration.other_designs(changed, lines))
    assert [fault.path for fault in faults] == [("claims", name) for name in content["claims"]]
    assert str(faults[0]).endswith("expected the design that was registered, or revisions.quick: 2")
    once = small(put(content, "seeds", 5) | {"revisions": {"quick": 1}})
    assert "or revisions.quick: 2" in str(next(registration.other_designs(once, lines)))
    twice = small(put(content, "seeds", 5) | {"revisions": {"quick": 2}})
    assert list(registration.other_designs(twice, lines)) == []
    # Designs are tried out in pilots; other presets have lines of their own.
    assert list(registration.other_designs(replace(changed, run=Draw(pilot=True)), lines)) == []
    assert list(registration.other_designs(replace(changed, preset="full"), lines)) == []


def test_another_revision_is_registered_on_its_own_draw(content, lines):
    revised = small(put(content, "seeds", 5) | {"revisions": {"quick": 2}})
    assert list(registration.other_designs(revised, lines)) == []
    new = registration.new_lines(revised, lines)
    assert {(line.revision, line.draw) for line in new} == {(2, "small/quick/2")}
    (fault,) = registration.other_designs(small(content), [*lines, *new])
    assert "revisions.quick: found 1, less than the 2 in" in str(fault)


def test_a_registered_claim_does_not_vanish(content, lines):
    changed = copy.deepcopy(content)
    del changed["claims"]["C1-kernel"]
    (fault,) = registration.other_designs(small(changed), lines)
    assert "found no C1-kernel" in str(fault)


def test_what_is_registered_is_not_registered_again(content, lines):
    assert [line.claim for line in lines] == list(content["claims"])
    assert registration.new_lines(small(content), lines) == []


def test_lines_are_added_below_those_that_are_there(content, lines, tmp_path):
    file = tmp_path / "registered.csv"
    assert registration.read(file) == ([], [])
    append_only_csv.append(file, registration.COLUMNS, map(astuple, lines[:1]))
    # An editor may have left the last line without an end.
    before = file.read_text().rstrip("\n")
    file.write_text(before)
    append_only_csv.append(file, registration.COLUMNS, map(astuple, lines[1:]))
    assert file.read_text().startswith(before)
    assert registration.read(file) == (lines, [])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: found ''; expected claim,study,preset,revision,digest,draw,question,design"),
        ("claim,study\n", "line 1: found 'claim,study'"),
        ("HEADER\nC1,small,quick,1,abc\n", "line 2: found 'C1,small,quick,1,abc'"),
        ("HEADER\nC1,small,quick,none,abc,d\n", "line 2: found"),
        ("HEADER\nC1,small,quick,0,abc,d\n", "line 2: found"),
        ("HEADER\nC1,small,quick,1,,d\n", "line 2: found"),
        ("HEADER\nC1,small,quick,1,abc,d\nC1,small,quick,1,abd,d\n", "line 3: found C1 of small at revision 1"),
        ('HEADER\n"C1', "a file that cannot be read"),
    ],
)
def test_a_line_that_is_none_is_named(tmp_path, text, message):
    file = tmp_path / "registered.csv"
    file.write_text(text.replace("HEADER", ",".join(registration.COLUMNS)))
    faults = registration.read(file)[1]
    assert len(faults) == 1
    assert message in str(faults[0])


def test_every_design_of_the_project_is_the_one_that_is_registered():
    lines, faults = registration.read(REGISTERED)
    assert faults == []
    for name, preset in sorted({(line.study, line.preset) for line in lines}):
        study, faults = shipped.checked(ROOT / "config" / "studies" / f"{name}.yaml", preset)
        assert faults == []
        assert [str(fault) for fault in registration.other_designs(study, lines)] == []


def test_earlier_lines_have_one_digest_without_words_each():
    files = [REGISTERED, *(ROOT / "examples").glob("*/registered.csv")]
    lines = [line for file in files for line in registration.read(file)[0]]
    with registration.EARLIER.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with_words = [row["digest"] for row in rows]
    assert len(set(with_words)) == len(rows)
    # A line with two digests of its own has no words in the third.
    assert set(with_words) <= {line.digest for line in lines if not line.question}


def test_lines_of_the_project_are_only_added():
    asked = ["git", "-C", str(ROOT), "log", "--format=%H", "--", "config/registered.csv"]
    done = subprocess.run(asked, capture_output=True, text=True)
    if done.returncode or not done.stdout:
        # An archive of the sources has no commits to compare with.
        pytest.skip("no commits here that the lines of config/registered.csv could be compared with")
    shown = ["git", "-C", str(ROOT), "show"]
    texts = [
        subprocess.run([*shown, f"{commit}:config/registered.csv"], capture_output=True, text=True).stdout
        for commit in done.stdout.split()
    ]
    # Columns may be added, of which earlier lines have none.
    bodies = [text.partition("\n")[2] for text in texts]
    for after, before in zip([REGISTERED.read_text().partition("\n")[2], *bodies], bodies, strict=False):
        assert after.startswith(before)


def test_lines_from_before_there_were_two_digests_are_read_and_kept(lines, tmp_path):
    file = tmp_path / "registered.csv"
    first, second = lines[:2]
    old = f"{first.claim},{first.study},{first.preset},{first.revision},{first.digest},{first.draw}\n"
    file.write_text(",".join(registration.COLUMNS[: -registration.LATER]) + "\n" + old)
    bare = replace(first, question="", design="")
    assert registration.read(file) == ([bare], [])
    append_only_csv.append(file, registration.COLUMNS, [astuple(second)])
    assert registration.read(file) == ([bare, second], [])
    header, kept, _ = file.read_text().split("\n", 2)
    assert header == ",".join(registration.COLUMNS) and f"{kept}\n" == old


def test_the_small_study_names_one_learner_in_its_first_claim():
    """What the tests above rest on."""
    content = yaml.safe_load(STUDY)
    assert content["claims"]["C1-kernel"]["quantity"]["learner"] == "kernel"
    assert {"kernel", "linear"} <= set(content["learners"])
