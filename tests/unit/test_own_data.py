"""Studies of data of one's own: what they leave to the file, and what is said of a file that cannot be used."""

import random
from pathlib import Path

import numpy as np
import pytest

from hierlearn.core import registry
from hierlearn.core.registry import PACKAGE
from hierlearn.inputs._table_files import UnreadableTable
from hierlearn.pipeline.claims import evidence
from hierlearn.pipeline.files import problems
from hierlearn.pipeline.plan import adhoc_study, registration
from hierlearn.pipeline.plan import jobs as jobs_of_a_study
from hierlearn.pipeline.plan.configuration import configure
from hierlearn.statistics import estimates
from hierlearn.statistics.intervals import split_interval

ROOT = PACKAGE.parents[1]
STUDY = """\
title: Does a kernel predict the price better than a line?
problem: {input: {name: table, file: FILE, target: price}}
seeds: 2
learners:
  ntk: {label: K, learner: {name: kernel_ridge, kernel: {name: ntk}}, select: {ridge: [0.01]}, samples: {at: [20, 40]}}
  line: {label: Line, learner: {name: linear}, select: {ridge: [0.01]}, samples: {at: [20, 40]}}
claims:
  P1-kernel:
    statement: The kernel's risk is smaller than the line's.
    kind: open
    quantity: {name: log_risk_ratio, above: line, below: ntk, samples: 40}
    test: "> 0"
    rival: {is: the line itself, quantity: {below: line}}
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "mine" / "studies").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    rows(tmp_path / "mine.csv")
    write(STUDY)
    yield tmp_path
    registry.use(())


def rows(file, count=100, last="1.5"):
    generator = random.Random(0)
    lines = [",".join(f"{generator.random():.4f}" for _ in range(4)) for _ in range(count - 1)]
    file.write_text("\n".join(["age,size,rooms,price", *lines, f"0.5,0.5,0.5,{last}"]) + "\n")


def write(text, name="my-price", file="mine.csv"):
    Path("mine/studies", f"{name}.yaml").write_text(text.replace("FILE", file))


def planned(studies=("my-price",)):
    return configure({"own": "mine", "studies": list(studies)}, Path("none"), ROOT / "config" / "studies")


def refused():
    with pytest.raises(SystemExit) as end:
        planned()
    return end.value.code.splitlines()


def jobs(plan):
    return {
        (study, *words): plan.inputs.job(words[0], study, *words[1:])
        for study in plan.studies
        for words in plan.studies[study].jobs
    }


def test_a_study_leaves_dimension_teacher_held_out_points_and_figure_to_the_file(mine):
    study = planned().studies["my-price"]
    assert study.axes == {"dimension": [3]}
    assert vars(study.held_out) == {"validation": 15, "test": 25}
    (point,) = study.points
    assert point.problem["teacher"] == {"name": "labels", "classes": 0, "columns": 1}
    assert study.paper == "yours" and study.figure["name"] == "panels"


def test_classes_are_counted_in_the_file(mine):
    text = "a,b,kind\n" + "".join(f"{i},{i * i},{'xyz'[i % 3]}\n" for i in range(100))
    (mine / "mine.csv").write_text(text)
    write(STUDY.replace("price}", "kind}"))
    (point,) = planned().studies["my-price"].points
    assert point.problem["teacher"]["classes"] == 3 and point.outputs == 3


def test_a_changed_cell_makes_exactly_the_jobs_of_its_study_others(mine):
    write(STUDY.replace("P1", "P2"), "my-other", "other.csv")
    rows(mine / "other.csv")
    before = jobs(planned(["my-price", "my-other"]))
    rows(mine / "mine.csv", last="2.5")
    after = jobs(planned(["my-price", "my-other"]))
    changed = {job for job, made in before.items() if after[job] != made}
    assert changed and changed == {job for job in before if job[0] == "my-price"}


def test_a_file_elsewhere_is_the_same_design_and_another_content_is_not(mine):
    first = registration.digests(planned().studies["my-price"])
    (mine / "mine.csv").rename(mine / "moved.csv")
    write(STUDY, file="moved.csv")
    assert registration.digests(planned().studies["my-price"]) == first
    rows(mine / "moved.csv", last="7")
    assert registration.digests(planned().studies["my-price"]) != first


def test_a_study_that_states_all_has_its_digest_without_the_file(mine):
    study = planned().studies["my-price"]
    sha256 = study.points[0].problem["input"]["sha256"]
    stated = STUDY.replace(
        "target: price}", f"target: price, sha256: {sha256}}}, teacher: {{name: labels, classes: 0}}"
    )
    stated += "axes: {dimension: [3]}\npoints: {validation: 15, test: 25}\n"
    write(stated)
    assert registration.digests(planned().studies["my-price"]) == registration.digests(study)
    (mine / "mine.csv").unlink()
    plan = planned()
    assert registration.digests(plan.studies["my-price"]) == registration.digests(study)
    (absent,) = plan.absent
    assert "problem.input.file: found no such file or folder in mine.csv" in str(absent)
    rows(mine / "mine.csv", last="9")
    (other,) = planned().absent
    assert "found other content" in str(other) and sha256 in str(other)


def test_a_file_that_changes_while_a_run_reads_it_is_one_line_in_the_job_that_sees_it(mine):
    study = planned().studies["my-price"]
    (point,) = jobs_of_a_study.generate(study, study.tasks["all"])["points"]
    data = problems.draw(point)
    rows(mine / "mine.csv", last="9.75")
    for read in (lambda: problems.draw(point), lambda: problems.load(point, data)):
        with pytest.raises(
            UnreadableTable, match=r"^mine.csv: found other content, SHA-256 \w+; expected \w+"
        ) as error:
            read()
        assert "\n" not in str(error.value)


def test_intervals_over_splits_are_corrected_for_what_splits_share(mine):
    study = planned().studies["my-price"]
    judged = jobs_of_a_study.judge(study)
    assert judged["overlap"] == 25 / 75
    values = np.array([0.2, 0.5, 0.1, 0.4])
    wide = split_interval(values, 25 / 75)
    described = judged["claims"]["P1-kernel"]["quantity"]
    found = evidence._over_splits(described, estimates.mean(values), judged["overlap"])
    assert (found.value, found.low, found.high) == pytest.approx((wide.value, wide.low, wide.high))
    # The variance of the mean is (1/4 + 1/3) s^2, not s^2/4.
    plain = estimates.mean(values)
    assert (found.high - found.value) / (plain.high - plain.value) == pytest.approx(np.sqrt((1 / 4 + 1 / 3) / (1 / 4)))
    positive = estimates.over_splits(estimates.positive_mean(np.exp(values)), 25 / 75)
    assert np.log([positive.value, positive.low, positive.high]) == pytest.approx([wide.value, wide.low, wide.high])
    (mine / "mine.csv").rename(mine / "mine.test.csv")
    rows(mine / "mine.csv")
    write(STUDY.replace("target: price", "target: price, test: file"))
    assert "overlap" not in jobs_of_a_study.judge(planned().studies["my-price"])


def test_a_question_may_be_about_a_table(mine):
    asked = {"teacher": {"name": "labels"}, "input": {"name": "table", "file": "mine.csv"}, "dimension": [3]}
    learners = {"line": {"label": "Line", "learner": {"name": "linear"}, "representation": {"name": "raw"}}}
    made = adhoc_study.study(asked, learners)
    # Half of the risk of the best constant, as labels are numbers; points as many as the file has.
    assert made["samples"]["thresholds"] == [0.5] and made["points"] == {"validation": 15, "test": 25}


def test_a_question_about_a_table_has_its_dimension_and_teacher_from_the_file(mine):
    question = {"input": {"name": "table", "file": "mine.csv", "target": "price"}, "learners": ["linear"], "seeds": 2}
    settings, faults = adhoc_study.ask({"question": question}, "settings")
    assert not faults
    assert settings["question"]["dimension"] == [3] and settings["question"]["teacher"] == {"name": "labels"}
    question["input"]["target"] = "prise"
    (fault,) = adhoc_study.ask({"question": question}, "settings")[1]
    assert str(fault).startswith("settings: question.input.target: found no column 'prise' in mine.csv")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (None, "problem.input.file: found no such file or folder in mine.csv; expected csv"),
        ("age,prise\n1,2.5\n2,3.5\n", "problem.input.target: found no column 'price' in mine.csv; expected one of"),
        ("age,price\n1,\n2,3.5\n", "problem.input.file: found 1 missing value in row 1 in mine.csv: price"),
        ("age,price\n,1.5\n2,3.5\n", "found 1 missing or infinite value (age in row 1)"),
        ("age,price\nold,1.5\n2,3.5\n", "found text, 'old' in row 1 in mine.csv: column age"),
        ("age,price\n1,x\n2,x\n", "found one class, 'x', in all 2 rows"),
        ("age,price\n1,1.5\n2,2.5\n3,1\n4,3\n", "found one column of points in mine.csv; expected two or more"),
        ("age,size,price\n" + "1,2,1.5\n1,2,2.5\n" * 9, "found one value in all rows of every column in mine.csv"),
        ("age,price\n1,1.5\n2,2.5\n", "found 2 rows in mine.csv; expected 4 or more, to split them"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_line_before_anything_runs(mine, content, line):
    file = mine / "mine.csv"
    file.unlink() if content is None else file.write_text(content)
    (found,) = refused()
    assert found.startswith("error: mine/studies/my-price.yaml: problem.input.") and line in found


def test_fewer_rows_than_the_study_asks_are_said(mine):
    write(STUDY + "points: {validation: 16, test: 26}\n")
    for role, line in zip(("test", "validation"), refused(), strict=True):
        assert f"points.{role}: found " in line and line.endswith("all that there are")
    write(STUDY.replace("[20, 40]", "[20, 61]").replace("samples: 40", "samples: 61"))
    assert all("at most 60 training points, all that there are" in line for line in refused())


def test_columns_of_one_value_are_a_warning(mine):
    (mine / "mine.csv").write_text("age,size,price\n" + "".join(f"{i},7,{i * 1.5}\n" for i in range(100)))
    assert any("one value in all rows of size" in line for line in planned().warnings)


def test_a_class_too_rare_to_be_in_every_part_is_a_warning(mine):
    (mine / "mine.csv").write_text("age,size,price\n" + "".join(f"{i},{i % 7},{'ab'[i < 2]}\n" for i in range(100)))
    write(STUDY.partition("claims:")[0])
    (line,) = (line for line in planned().warnings if "of class" in line)
    assert "problem.input.target: 2 rows of class 'b'; 3 or more of each class" in line


def test_a_broken_study_beside_it_stops_nothing(mine):
    write("title: [", "broken")
    write(STUDY.replace("P1", "P3"), "my-missing", "none.csv")
    assert list(planned().studies) == ["my-price"]


def test_a_claim_about_a_paper_names_it(mine):
    write(STUDY.replace("kind: open", "kind: rate\n    regime: limit"))
    assert any("paper: found nothing; expected this required key" in line for line in refused())
