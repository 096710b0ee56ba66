"""`hierlearn new` writes files that work, and `hierlearn check` says in words what a file lacks."""

import subprocess
import sys

import pytest

from hierlearn.core import registry
from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.command import template
from hierlearn.pipeline.plan.configuration import configure

CHECK = PACKAGE.parents[1] / "tests" / "check.py"
COMPONENTS = [kind for kind in template.KINDS if kind != "study"]


@pytest.fixture(autouse=True)
def without_own_folders():
    yield
    registry.use(())


def check(name, folder):
    """The exit code and the lines of `hierlearn check`."""
    words = [sys.executable, str(CHECK), f"name={name}", f"folder={folder}"]
    done = subprocess.run(words, text=True, capture_output=True, check=False, cwd=CHECK.parents[1])
    return done.returncode, (done.stdout + done.stderr).splitlines()


def test_there_is_a_template_of_every_kind():
    rooms = {room for kind in registry.KINDS for room in registry.rooms(kind)}
    assert set(template.KINDS.values()) == rooms | {"studies"}


@pytest.mark.parametrize("kind", COMPONENTS)
def test_a_new_component_fulfils_its_contract(kind, tmp_path):
    file = template.write(kind, "brand_new", tmp_path / "mine")
    assert "class BrandNew(" in file.read_text()
    code, lines = check("brand_new", tmp_path / "mine")
    assert (code, len(lines)) == (0, 1), lines
    assert lines[0].startswith(f"{template.KINDS[kind]}/brand_new.py: ") and " 0 without" in lines[0]


def test_a_new_study_is_sound(tmp_path):
    template.write("study", "brand-new", tmp_path / "mine")
    code, (line,) = check("brand-new", tmp_path / "mine")
    assert (code, line) == (0, "studies/brand-new.yaml: 2 learners, 1 claims, no fault")


def test_a_new_study_of_a_file_has_sizes_that_fit_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "prices.csv").write_text("age,size,price\n" + "".join(f"{i},{-i},{i * i / 7}\n" for i in range(100)))
    template.write("study", "of-a-file", tmp_path / "mine", "prices.csv")
    plan = configure({"own": "mine"}, tmp_path / "none", tmp_path / "config" / "studies")
    assert plan.studies["of-a-file"].learners["kernel"].samples == {"at": [15, 30, 60]} and not plan.absent
    template.write("study", "of-any", tmp_path / "mine", "table")
    with pytest.raises(SystemExit) as end:
        configure({"own": "mine"}, tmp_path / "none", tmp_path / "config" / "studies")
    (line,) = end.value.code.splitlines()
    assert "of-any.yaml: problem.input.file: found no such file or folder in mine.csv" in line
    (tmp_path / "prices.csv").write_text("age,size,price\n1,2,\n")
    with pytest.raises(ValueError, match="found 1 missing value in row 1") as caught:
        template.write("study", "of-another", tmp_path / "mine", "prices.csv")
    assert "\n" not in str(caught.value) and not (tmp_path / "mine" / "studies" / "of-another.yaml").exists()


def test_a_study_that_begins_as_another_has_its_learners_and_none_of_its_claims(tmp_path):
    for source in sorted(template.STUDIES.glob("*.yaml")):
        template.write("study", f"as-{source.stem}", tmp_path / "mine", source.stem)
    plan = configure({"own": str(tmp_path / "mine")}, tmp_path / "none", tmp_path / "config" / "studies")
    before = configure({}, tmp_path / "none", template.STUDIES).studies
    assert len(plan.studies) == len(before)
    for name, study in plan.studies.items():
        origin = before[name.removeprefix("as-")]
        assert (study.learners, study.axes, study.claims) == (origin.learners, origin.axes, {}), name


def test_a_study_of_ones_own_may_be_begun_with_too(tmp_path):
    template.write("study", "first", tmp_path)
    file = template.write("study", "second", tmp_path, "first")
    assert "gaussian" in file.read_text() and check("second", tmp_path)[0] == 0


@pytest.mark.parametrize(
    ("kind", "source", "message"),
    [
        ("study", "nothing", "--from: found no study 'nothing'; expected one of config/studies or of "),
        ("study", "../config", r"--from: found no study '../config'; expected one of config/studies or of "),
        ("learner", "bai2020-xor", "--from: found it for a learner; expected it for a study"),
    ],
)
def test_what_no_study_can_begin_as_is_refused_in_one_line(kind, source, message, tmp_path):
    with pytest.raises(ValueError, match=message) as caught:
        template.write(kind, "mine", tmp_path / "mine", source)
    assert "\n" not in str(caught.value) and not (tmp_path / "mine").exists()


@pytest.mark.parametrize(
    ("old", "new", "lack"),
    [
        (
            "np.exp(-cdist(x, x if z is None else z)",
            "np.sin(-cdist(x, x if z is None else z)",
            "positive semi definite",
        ),
        (".astype(dtype)", "", "single precision is double precision rounded"),
        ('"Length b."', '"Length b"', "its parameters are valid schemas with descriptions"),
    ],
)
def test_what_a_component_lacks_is_said_in_words(old, new, lack, tmp_path):
    file = template.write("kernel", "brand_new", tmp_path)
    file.write_text(file.read_text().replace(old, new))
    code, lines = check("brand_new", tmp_path)
    assert code == 1
    assert any(line.startswith("kernels/brand_new.py: it lacks: ") and lack in line for line in lines), lines


def test_what_is_no_component_and_what_is_not_there_is_one_line(tmp_path):
    file = template.write("kernel", "brand_new", tmp_path)
    file.write_text(file.read_text().replace("def profile", "def profil"))
    (line,) = check("brand_new", tmp_path)[1]
    assert line.startswith("error: ") and "found no method profile" in line
    (line,) = check("nothing", tmp_path)[1]
    assert line.startswith("error: name: found no component and no study 'nothing'")


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("lerner", "mine", r"kind: found 'lerner'; expected one of .*, teacher \(nearest: learner\)"),
        ("kernel", "Mine", "name: found 'Mine'; expected at most 60 small letters, digits and underscores"),
        ("study", "my_study", "name: found 'my_study'; expected at most 60 small letters, digits and hyphens"),
        ("study", "plan", "name: found 'plan'; expected no rule's, no command's and no paper's name"),
        ("study", "chen2020", "name: found 'chen2020'; expected no rule's, no command's and no paper's name"),
        ("kernel", "ntk", r"name: found 'ntk', which .*kernels/ntk.py has; expected another"),
        ("quantity", "score_mean", r"name: found 'score_mean', which .*quantities/scores.py has; expected another"),
        ("quantity", "scores", r"name: found 'scores', which .*quantities/scores.py has; expected another"),
        ("probe", "tracking", r"name: found 'tracking', which .*measurements/tracking.py has; expected another"),
        ("study", "bai2020-xor", r"name: found 'bai2020-xor', which .*bai2020-xor.yaml has; expected another"),
    ],
)
def test_names_that_cannot_be_are_refused_in_one_line(kind, name, message, tmp_path):
    with pytest.raises(ValueError, match=message) as caught:
        template.write(kind, name, tmp_path / "mine")
    assert "\n" not in str(caught.value) and not (tmp_path / "mine").exists()


def test_a_study_is_not_called_as_a_paper_of_its_folder_is(tmp_path):
    (tmp_path / "papers.yaml").write_text("own2026: {title: A cusp, authors: Nobody, year: 2026}\n")
    with pytest.raises(ValueError, match="name: found 'own2026'; expected no rule's"):
        template.write("study", "own2026", tmp_path)


def test_a_file_is_never_overwritten(tmp_path):
    file = template.write("kernel", "mine", tmp_path)
    with pytest.raises(ValueError, match="name: found 'mine', which"):
        template.write("kernel", "mine", tmp_path)
    with pytest.raises(ValueError, match=r"mine\.py is a file; expected a folder"):
        template.write("kernel", "mine", file)
    for part in ("config", "docs", "tests/unit"):
        with pytest.raises(ValueError, match="of the project itself"):
            template.write("kernel", "mine", template.ROOT / part)
