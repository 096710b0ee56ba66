"""Folders of a user's own: what of them is refused, where they are registered, and what rests on their files."""

import os
import subprocess
import sys
from pathlib import Path

import own_folder
import pytest
from own_folder import KERNEL, PAPERS

from hierlearn.core import registry
from hierlearn.pipeline.claims import history, rivals
from hierlearn.pipeline.command import records, refusals
from hierlearn.pipeline.files.papers import known
from hierlearn.pipeline.plan.checking import load_study
from hierlearn.pipeline.plan.configuration import ROOT, configure

CLAIMS = """claims:
  Z1-cusp:
    place: Section 1
    statement: The kernel with a cusp needs few points
    kind: conjecture
    rank: primary
    beyond: nothing is proved
    quantity: {name: exponent, learner: mine, sizes: [3, 4, 5]}
    test: "<= 2"
    rival: {is: the tangent kernel, quantity: {learner: ntk}}
"""
STUDY = own_folder.STUDY + CLAIMS


@pytest.fixture
def mine(tmp_path, monkeypatch):
    """A folder with a kernel, a paper and a study, beside a project without studies; the folder of work."""
    monkeypatch.chdir(tmp_path)
    Path("config/studies").mkdir(parents=True)
    own_folder.write(Path("mine"), CLAIMS)
    yield Path("mine")
    registry.use(())


def write(name, text):
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(text)


def planned(own="mine", **settings):
    return configure({"own": own, **settings}, Path("config/config.yaml"), Path("config/studies"))


def refusal(own="mine", **settings):
    """The lines of a refusal, each of which begins as all do."""
    with pytest.raises(SystemExit) as end:
        planned(own, **settings)
    lines = end.value.code.splitlines()
    assert all(line.startswith("error: ") for line in lines)
    return [line.removeprefix("error: ") for line in lines]


def test_what_lies_in_an_own_folder_is_known_until_it_is_not_named(mine):
    plan = planned()
    assert list(plan.studies) == ["own2026-cusp"]
    assert plan.targets.by_name() == {name: ["own2026-cusp"] for name in ("own2026-cusp", "own2026")}
    assert "cusp" in registry.available("kernels") and "own2026" in known()
    planned([])
    assert "cusp" not in registry.available("kernels") and "own2026" not in known()


@pytest.mark.parametrize(
    ("name", "warning"),
    [
        ("lerners/x.py", "mine/lerners: found a name that nothing is read by; expected learners, if that is meant"),
        ("paper.yaml", "mine/paper.yaml: found a name that nothing is read by; expected papers.yaml, if that is meant"),
        ("learners/My-Learner.py", "mine/learners/My-Learner.py: found a name that no class can have; expected a word"),
        ("studies/sub/other.yaml", "sub/other.yaml: found a study in a folder of its own; expected studies/other.yaml"),
    ],
)
def test_what_lies_where_nothing_is_read_is_named_in_a_warning(mine, name, warning):
    write("mine/notes.md", "Nobody's")
    for name_of_nobody in ("kernels/_shared.py", "papers.yaml~", "registered.csv.bak", "kernels.md"):
        write(f"mine/{name_of_nobody}", "")
    assert not any("mine/" in line for line in planned().warnings if "registered.csv" not in line)
    write(f"mine/{name}", "")
    assert any(warning in line for line in planned().warnings), planned().warnings


@pytest.mark.parametrize(
    ("named", "found"),
    [
        ("nowhere", "'nowhere', which is not there; expected a folder"),
        ("mine/papers.yaml", "'mine/papers.yaml', where a file is; expected a folder"),
        ("loop", "'loop', which leads nowhere; expected a folder"),
        ("x" * 300, "which is not there; expected a folder"),
        ("of:two", "'of:two'; expected a folder without : in its path"),
        (str(ROOT), "of the project itself; expected a folder outside it"),
        (str(ROOT / "config"), "of the project itself; expected a folder outside it"),
        (
            "empty",
            "'empty', which holds none of them; expected studies, published, papers.yaml, registered",
        ),
    ],
)
def test_a_folder_that_cannot_be_one_is_refused(mine, named, found):
    Path("empty").mkdir()
    Path("of:two/studies").mkdir(parents=True)
    Path("loop").symlink_to("loop")
    (line,) = refusal(named)
    assert line.startswith("config/config.yaml with --config: own: found ") and found in line
    (line,) = refusal(["mine", named])
    assert "own[1]: found " in line


@pytest.mark.parametrize(
    ("file", "text", "line"),
    [
        ("mine/kernels/ntk.py", KERNEL, "kernels/ntk.py:1; expected a name that none of the kernels has"),
        ("mine/quantities/exponent.py", "", "quantities/sample_complexities.py:1; expected a name that none of the"),
        ("mine/quantities/scores.py", "", "quantities/scores.py:1; expected a name that none of the quantities has"),
        ("config/studies/own2026-cusp.yaml", STUDY, "found the name of config/studies/own2026-cusp.yaml"),
        ("config/studies/another.yaml", STUDY, "claims.Z1-cusp: found a claim that "),
        (
            "mine/papers.yaml",
            PAPERS + PAPERS.replace("own2026", "bai2020"),
            "bai2020: found a paper that config",
        ),
        ("mine/studies/small.yml", STUDY, "mine/studies/small.yml: found the ending .yml; expected small.yaml"),
        ("mine/studies/own2026.yaml", STUDY.replace("Z1", "Z2"), "found the file name 'own2026'"),
        (
            "mine/papers.yaml",
            PAPERS.replace("own2026", "probe"),
            "probe: found the name of a rule; expected another key",
        ),
        ("mine/papers.yaml", PAPERS.replace("year: 2026", "yaer: 2026"), "own2026.yaer: found an unknown key"),
    ],
)
def test_names_that_are_taken_and_other_faults_are_named_with_their_files(mine, file, text, line):
    write(file, text)
    lines = refusal()
    assert any(line in one and "mine/" in one for one in lines), lines


def test_a_study_of_an_own_folder_may_be_of_a_paper_of_the_project(mine):
    write("mine/studies/on-chen.yaml", STUDY.replace("Z1", "Z3").replace("paper: own2026", "paper: chen2020"))
    planned()
    assert load_study("mine/studies/on-chen.yaml").paper == "chen2020"
    assert load_study("mine/studies/own2026-cusp.yaml").paper == "own2026"


def test_published_numbers_of_a_paper_lie_in_one_folder(mine):
    numbers = (ROOT / "config" / "published" / "allenzhu2019.yaml").read_text()
    write("config/published/allenzhu2019.yaml", numbers)
    write("mine/published/allenzhu2019.yaml", numbers)
    (line,) = refusal()
    assert line.startswith("mine/published/allenzhu2019.yaml: found the name of config/published/allenzhu2019.yaml")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("class Cusp", "class Casp", r"cusp.py:1: found no class Cusp; expected it to be named as the file is"),
        ("def profile", "def profil", r"found no method profile; expected all of Kernel"),
        ("Cusp(Kernel)", "Cusp", r"found class Cusp; expected class Cusp(Kernel)"),
        (
            "def profile",
            "def refuse(self): ...\n\n    def profile",
            r"found the method refuse; expected raise_for, as hierl",
        ),
        ("import numpy as np", "import nothing_such", r"cusp.py:6: ModuleNotFoundError: No module named"),
        ("return np.exp", "return (np.exp", r"SyntaxError"),
    ],
)
def test_a_component_that_breaks_its_contract_is_one_line_before_any_job(mine, old, new, line):
    write("mine/kernels/cusp.py", KERNEL.replace(old, new))
    (found,) = refusal()
    assert found.startswith("mine/kernels/cusp.py:") and line in found


def test_designs_are_registered_beside_their_studies_and_nothing_else_is_touched(mine, capsys):
    plan = planned()
    (warning,) = [line for line in plan.warnings if "Z1-cusp" in line]
    assert "found no line of Z1-cusp in mine/registered.csv" in warning
    before = {file: file.read_bytes() for file in Path("config").rglob("*") if file.is_file()}
    told, broken = records.register(plan)
    assert (told[-1], broken) == (f"1 line added to {mine / 'registered.csv'}", False)
    assert {file: file.read_bytes() for file in Path("config").rglob("*") if file.is_file()} == before
    assert (mine / "registered.csv").read_text().splitlines()[1].startswith("Z1-cusp,own2026-cusp,quick,1,")
    again = planned()
    assert set(again.studies["own2026-cusp"].registered) == {"Z1-cusp"}
    assert [line for line in again.warnings if "Z1-cusp" in line] == []
    refusals.refuse_other_designs(again)


def test_another_design_than_the_registered_one_is_refused_with_both_files(mine):
    records.register(planned())
    write("mine/studies/own2026-cusp.yaml", STUDY.replace("seeds: 2", "seeds: 3"))
    with pytest.raises(SystemExit) as end:
        refusals.refuse_other_designs(planned())
    (line,) = end.value.code.splitlines()
    assert line.startswith("error: mine/studies/own2026-cusp.yaml: claims.Z1-cusp: found another design than that of")
    assert "mine/registered.csv" in line
    refusals.refuse_other_designs(planned(pilot=True))


def test_a_rival_that_a_row_met_is_refused_once_it_is_gone_from_the_list(mine):
    listed = [",".join(rivals.COLUMNS), "own2026,Theorem 1,the line,linear,must fail,ours,,,the simplest"]
    write("mine/rivals.csv", "\n".join(listed) + "\n")
    met = "Z1-cusp,own2026-cusp,quick,1,own2026-cusp/quick/1,0,{},{},1,1,1,,fails"
    recorded = [",".join(history.RIVAL_COLUMNS), met.format("the line", "linear"), met.format("a control in words", "")]
    write("mine/verdict_rivals.csv", "\n".join(recorded) + "\n")
    refusals.refuse_other_designs(planned())
    write("mine/rivals.csv", listed[0] + "\n")
    with pytest.raises(SystemExit) as end:
        refusals.refuse_other_designs(planned())
    said = "mine/rivals.csv: found no 'the line', against which Z1-cusp was judged; expected every rival that a row has"
    assert end.value.code.startswith(f"error: {said}") and len(end.value.code.splitlines()) == 1
    with pytest.raises(ValueError, match="the line"):
        records.register(planned())


def test_a_file_of_papers_that_is_no_yaml_is_named_as_the_folder_is(mine):
    write("mine/papers.yaml", PAPERS + "x: [")
    assert refusal()[0].startswith("mine/papers.yaml: line ")


def test_a_line_of_registered_csv_that_is_none_is_named(mine):
    write("mine/registered.csv", "claim,study\n")
    (line,) = refusal()
    assert line.startswith("mine/registered.csv: ")


@pytest.mark.parametrize("name", ["registered.csv", "verdicts.csv", "papers.yaml"])
@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("nowhere"), Path.mkdir])
def test_what_is_no_file_in_place_of_one_is_named(mine, name, make):
    file = Path("mine", name)
    file.unlink(missing_ok=True)
    make(file)
    (line, *_) = [line for line in refusal() if name in line]
    assert line.startswith(f"mine/{name}: found a file that cannot be read (")


HASHES = """
import sys
from pathlib import Path
from hierlearn.pipeline.plan.configuration import configure
plan = configure({"own": sys.argv[1]}, Path("none"), Path("config/studies"))
files = sorted(plan.targets.files_of(plan.studies))
for file in files:
    print(file, plan.inputs.identity(file)["code_hash"])
"""


def hashes(folder):
    done = subprocess.run([sys.executable, "-c", HASHES, folder], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    return dict(line.split() for line in done.stdout.splitlines())


def test_code_hashes_follow_own_files_wherever_the_folder_lies(mine, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "workflow"))
    here = hashes("mine")
    Path("elsewhere").mkdir()
    assert hashes(str(mine.rename("elsewhere/moved"))) == here
    file = Path("elsewhere/moved/kernels/cusp.py")
    file.write_text(file.read_text() + "# other\n")
    changed = {file for file, code in hashes("elsewhere/moved").items() if code != here[file]}
    trained = {file for file in changed if file.endswith(".model.nc")}
    assert {Path(file).name for file in trained} == {"mine.model.nc"}
    assert not {Path(file).name for file in changed} & {"data.nc", "ntk.model.nc"}
