"""`hierlearn compare --workflow`: a study that compares the same learners on the same table as jobs."""

import numpy as np
import pytest

from hierlearn.core import registry
from hierlearn.core.registry import PACKAGE
from hierlearn.estimators import TaylorRegressor
from hierlearn.pipeline.command.__main__ import main
from hierlearn.pipeline.plan.configuration import configure

STUDIES = PACKAGE.parents[1] / "config" / "studies"
LEARNERS = ["ntk", "quad-neural", "quad", "rbf", "ridge"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A folder with a csv file of 200 rows."""
    monkeypatch.chdir(tmp_path)
    generator = np.random.default_rng(0)
    rows = generator.standard_normal((200, 4))
    lines = [",".join(f"{value:.4f}" for value in row) for row in rows]
    (tmp_path / "My table.csv").write_text("\n".join(["age,size,rooms,price", *lines]) + "\n")
    yield tmp_path
    registry.use(())


def ended(*words):
    with pytest.raises(SystemExit) as end:
        main(["compare", "My table.csv", *map(str, words)])
    return end.value.code


def test_the_study_is_planned_with_every_learner_and_the_rows_of_the_table(table, capsys):
    assert not ended("--target", "price", "--learners", *LEARNERS, "--splits", 3, "--workflow", "own")
    assert "hierlearn run my-table-comparison --own own" in capsys.readouterr().out
    given = {"own": "own", "studies": ["my-table-comparison"]}
    study = configure(given, table / "none", STUDIES).studies["my-table-comparison"]
    assert list(study.learners) == LEARNERS and study.axes == {"dimension": [3]}
    (point,) = study.points
    assert point.problem["input"]["target"] == "price" and point.problem["input"]["share"] == 0.25
    written = (table / "own" / "studies" / "my-table-comparison.yaml").read_text()
    assert written.count(f"{{name: taylor, order: 2, width: {TaylorRegressor().width}}}") == 2
    # 150 rows that are no test rows, of which 30 choose the ridge.
    assert vars(study.held_out) == {"validation": 30, "test": 50}
    assert not (table / "My table-comparison.csv").exists()


def test_sizes_are_those_that_were_asked(table):
    assert not ended("--learners", "ridge", "--sizes", 40, 20, "--workflow", "own")
    assert "samples: {at: [20, 40]}" in (table / "own" / "studies" / "my-table-comparison.yaml").read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--learners", "forest"], "--workflow: found the learner 'forest'; expected one of ntk, quad-neural, quad"),
        (["--target", "prize"], "My table.csv: target: found no column 'prize'; expected one of age, price"),
        (["--sizes", "121"], "--sizes: found [121]; expected 1 to 120, the rows but for validation and test points"),
        (["--splits", "0"], "--splits: found 0; expected a whole number of at least 1"),
    ],
)
def test_what_the_workflow_cannot_do_is_one_line_and_writes_nothing(table, words, said):
    code = ended(*words, "--workflow", "own")
    assert code.startswith(f"error: {said}") and "\n" not in code
    assert [file.name for file in table.iterdir()] == ["My table.csv"]


def test_a_study_that_is_there_is_kept(table):
    assert not ended("--learners", "ridge", "--workflow", "own")
    file = table / "own" / "studies" / "my-table-comparison.yaml"
    before = file.read_text()
    assert "my-table-comparison.yaml: found a study" in ended("--learners", "ntk", "--workflow", "own")
    assert file.read_text() == before
