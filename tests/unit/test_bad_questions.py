"""What moves a question, takes a rival away or makes a design smaller is refused in one line, before anything runs."""

import csv
from pathlib import Path

import pytest
import yaml
from small_study import STUDY, put

from hierlearn.pipeline.claims import rivals
from hierlearn.pipeline.claims.question_forms import question, words
from hierlearn.pipeline.command import design_sizes, first_questions, records, removed_rivals
from hierlearn.pipeline.command import refusals as commands
from hierlearn.pipeline.plan import registration
from hierlearn.pipeline.plan.configuration import configure

NAME, PRESET = "chen2020-small", "standard"
FILE, RECORDS = Path("config/studies", f"{NAME}.yaml"), Path("docs/records")
RIVAL = ("chen2020", "Theorem 0", "the line", "linear", "must fail", "ours", "", "", "the simplest")
OTHER = ("chen2020", "Theorem 0", "the plane", "", "must fail", "ours", "", "", "the next simplest")
MEASURED = ("C1-kernel", "the line", "Theorem 0", "C1-theory")


def write(file, columns, *lines):
    with open(file, "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows([columns, *lines])


def planned():
    return configure({"preset": PRESET}, Path("config/config.yaml"), Path("config/studies"))


@pytest.fixture
def study(tmp_path, monkeypatch):
    """The content of a study whose claims are registered, with rivals and records, in a project of its own."""
    monkeypatch.chdir(tmp_path)
    FILE.parent.mkdir(parents=True)
    RECORDS.mkdir(parents=True)
    content = put(yaml.safe_load(STUDY), "presets.standard", {"seeds": 3})
    FILE.write_text(yaml.safe_dump(content))
    write("config/rivals.csv", rivals.COLUMNS, RIVAL, OTHER)
    write("config/measured_rivals.csv", rivals.MEASURED_COLUMNS, MEASURED)
    write(RECORDS / removed_rivals.KEPT, removed_rivals.KEPT_COLUMNS)
    for name in (first_questions.CHANGED, first_questions.CONTRACT):
        write(RECORDS / name, ("row", "field", "change"))
    design_sizes.write(RECORDS / design_sizes.FILE, {})
    plan = planned()
    records.register(plan)
    designs = registration.designs(plan.studies[NAME])
    said = {"study": NAME, "preset": PRESET, "date": "2026-11-22"}
    forms = {claim: said | {"words": words(one), "question": question(one)} for claim, one in designs.items()}
    first_questions.write(RECORDS / first_questions.FILE, forms)
    records.register(planned())
    commands.refuse_other_designs(planned())
    return content


def refusals():
    """The lines with which a run and `hierlearn register` refuse."""
    try:
        plan = planned()
    except SystemExit as end:
        return [end.code.splitlines()] * 2
    found = []
    for ask, refusal in ((commands.refuse_other_designs, SystemExit), (records.register, ValueError)):
        try:
            ask(plan)
            found.append([])
        except refusal as end:
            found.append(str(end).splitlines())
    return found


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("test", "<= 7", "claims.C1-kernel.test.predicted: found 7; expected 1, as first registered on 2026-11-22"),
        ("kind", "conjecture", "claims.C1-kernel.kind: found 'conjecture'; expected 'rate', as first registered on"),
        ("rank", "secondary", "claims.C1-kernel.rank: found 'secondary'; expected 'primary', as first registered on"),
        ("place", "Theorem 9", "claims.C1-kernel.place: found 'Theorem 9'; expected 'Theorem 0', as first registered"),
        ("quantity.threshold", 0.1, "claims.C1-kernel.quantity.threshold: found 0.1; expected 0.5, as first"),
        ("rival", {"is": "a line", "quantity": {"learner": "linear"}}, "claims.C1-kernel.rival"),
    ],
)
def test_a_changed_question_is_refused_by_the_name_of_its_field(study, path, value, line):
    FILE.write_text(yaml.safe_dump(put(study, f"claims.C1-kernel.{path}", value)))
    run, register = refusals()
    assert len(run) == 1 and "claims.C1-kernel: found another design than that of its line" in run[0]
    assert len(register) == 1 or path == "rival", register
    assert register and any(line in one for one in register)


def test_a_judged_row_that_becomes_a_description_in_place_is_refused(study):
    claim = study["claims"]["C1-kernel"]
    bare = {key: claim[key] for key in ("place", "statement", "quantity", "at")}
    FILE.write_text(yaml.safe_dump(put(study, "claims.C1-kernel", bare)))
    run, register = refusals()
    assert len(run) == 1 and register
    assert any("claims.C1-kernel.kind: found 'description'; expected 'rate'" in line for line in register)


def test_a_new_name_beside_the_old_one_says_after_which_it_is_asked(study):
    again = study["claims"]["C1-kernel"] | {"test": "<= 7", "rank": "secondary"}
    FILE.write_text(yaml.safe_dump(put(study, "claims.C1-again", again)))
    (line,) = refusals()[1]
    assert "claims.C1-again: found the place, the quantity and the learner of C1-kernel in a claim with a new" in line
    FILE.write_text(yaml.safe_dump(put(study, "claims.C1-again", again | {"asked_after": "C1-kernel"})))
    assert refusals() == [[], []]


def test_a_new_name_in_the_place_of_the_old_one_is_refused(study):
    claims = {name.replace("kernel", "again"): one for name, one in study["claims"].items()}
    FILE.write_text(yaml.safe_dump(put(study, "claims", claims)))
    run, register = refusals()
    assert len(run) == 1 and f"claims: found no C1-kernel, which config/{registration.NAME} has" in run[0]
    assert [line.partition("found ")[2].partition(",")[0] for line in register] == ["the place", "no C1-kernel"]


def test_a_question_that_came_after_the_records_does_not_vanish_at_a_further_revision(study):
    later = study["claims"]["C1-kernel"] | {"test": "<= 7", "rank": "secondary", "asked_after": "C1-kernel"}
    FILE.write_text(yaml.safe_dump(put(study, "claims.C1-again", later)))
    records.register(planned())
    FILE.write_text(yaml.safe_dump(put(study, "revisions", {PRESET: 2})))
    (line,) = refusals()[1]
    assert "claims: found no C1-again, which was registered at revision 1" in line


@pytest.mark.parametrize(
    ("path", "value", "line"),
    [
        ("presets.standard.seeds", 2, "seeds: found 2; expected at least 3, as registered before"),
        ("claims.C1-kernel.quantity.sizes", [3, 4, 6], "claims.C1-kernel.quantity.sizes: found no 5"),
        ("learners.kernel.select.ridge", [0.1, 0.02], "learners.kernel.grid.ridge: found no 0.01"),
        ("points", {"test": 100}, "learners.kernel.points.test: found 100; expected at least 5000"),
    ],
)
def test_a_design_that_shrinks_is_refused_at_a_further_revision_too(study, path, value, line):
    smaller = put(study, path, value)
    if path.startswith("claims"):
        smaller = put(smaller, "axes.dimension", value)
    FILE.write_text(yaml.safe_dump(smaller))
    run, _ = refusals()
    assert run and all("found another design than that of its line" in one for one in run)
    FILE.write_text(yaml.safe_dump(put(smaller, "revisions", {PRESET: 2})))
    _, register = refusals()
    assert any(line in one for one in register) and all("registered before" in one for one in register), register


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("withdrawn", {"where": "Section 2"}, "claims.C1-kernel.withdrawn.quote: found nothing"),
        ("withdrawn", {"quote": "", "where": "Section 2"}, "claims.C1-kernel.withdrawn.quote: found ''"),
        ("asked_after", "C1-none", "claims.C1-kernel.asked_after: found 'C1-none'"),
        ("asked_after", "C1-kernel", "claims.C1-kernel.asked_after: found 'C1-kernel'; expected another claim"),
    ],
)
def test_a_withdrawal_without_its_quotation_and_a_question_asked_after_none_are_refused(study, key, value, line):
    changed = put(study, f"claims.C1-kernel.{key}", value)
    if key == "asked_after":
        changed = put(changed, "claims.C1-kernel.rank", "secondary")
    FILE.write_text(yaml.safe_dump(changed))
    for (found,) in refusals():
        assert line in found


@pytest.mark.parametrize(
    ("name", "columns", "left", "lost"),
    [
        ("rivals.csv", rivals.COLUMNS, [OTHER], "'the line' of chen2020, Theorem 0"),
        ("rivals.csv", rivals.COLUMNS, [RIVAL, (*OTHER[:4], "compared", *OTHER[5:])], "'the plane' of chen2020"),
        ("rivals.csv", rivals.COLUMNS, [RIVAL, (OTHER[0], "Theorem 9", *OTHER[2:])], "'the plane' of chen2020"),
        ("rivals.csv", rivals.COLUMNS, [], "'the line' of chen2020, Theorem 0; 'the plane' of chen2020, Theorem 0"),
        ("measured_rivals.csv", rivals.MEASURED_COLUMNS, [], "'the line' of C1-kernel, Theorem 0"),
    ],
)
def test_a_rival_that_was_listed_once_is_missed(study, name, columns, left, lost):
    write(f"config/{name}", columns, *left)
    for (found,) in refusals():
        assert f"config/{name}: found no {lost}" in found
        assert found.endswith("expected every rival that was ever listed; rivals are only added")


def test_a_list_that_is_gone_is_missed_and_a_longer_one_is_kept(study):
    third = (*RIVAL[:2], "the curve", *RIVAL[3:])
    write("config/rivals.csv", rivals.COLUMNS, RIVAL, OTHER, third)
    assert refusals() == [[], []]
    write("config/rivals.csv", rivals.COLUMNS, RIVAL, OTHER)
    assert [len(lines) for lines in refusals()] == [1, 1]
    Path("config/rivals.csv").unlink()
    assert [len(lines) for lines in refusals()] == [1, 1]
