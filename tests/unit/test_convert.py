"""`hierlearn convert`: studies of the older form say the same in the present one, and nothing half converted is left.

tests/older has three such studies, and the digests and draws that their claims had at every preset but smoke.
"""

import csv
import re
import shutil
import subprocess
import sys

import pytest
import shipped
import yaml

from hierlearn.core import registry
from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.command import convert, yaml_text
from hierlearn.pipeline.files import papers
from hierlearn.pipeline.plan import registration
from hierlearn.pipeline.plan.checking import load_study

ROOT = PACKAGE.parents[1]
OLDER = ROOT / "tests" / "older"
STUDIES = sorted((ROOT / "config" / "studies").glob("*.yaml"))
SMALL = """\
title: A study # of mine
paper: chen2020
place: Theorem 0
problem:
  input: {name: sphere}
  teacher: {name: ridge_polynomial}
axes: {dimension: [3, 4, 5], degree: [2, 1]}
seeds: 2

learners:
  # The first.
  kernel: &kernel
    label: Kernel
    learner: {name: kernel_ridge, kernel: {name: ntk}}
    select: {ridge: [0.1]}
    samples: {start: 2, cap: 16}
    skip: [{degree: 2, dimension: 3}, {degree: 1}] # too small
  other: {<<: *kernel, label: Other, skip: []}
figure: {name: sample_complexity, main: {degree: 2}}
claims:
  C1:
    place: Theorem 0
    statement: It holds
    kind: rate
    regime: beyond
    beyond: squared loss, where the theorem assumes a loss of slope at most 1; it is mine
    quantity: &growth {name: exponent, learner: other, where: {degree: 2}, sizes: [3, 4, 5]}
    rule: upper
    # From a pilot.
    predicted: 1.50
    slack: 0
    control: &rival {rival: another, quantity: {where: {degree: 1}}}
presets:
  full:
    axes: {dimension: [4, 5, 6]}
    claims:
      C1: {quantity: {sizes: [4, 5, 6]}}
      C2:
        place: Theorem 0
        statement: It is less
        kind: conjecture
        regime: limit
        quantity: {<<: *growth, sizes: [4, 5, 6]}
        rule: ordering
        side: below
        predicted: -1
        control: *rival
      C3:
        place: Theorem 0
        statement: A number
        kind: description
        quantity: {<<: *growth, sizes: [4, 5, 6]}
        rule: descriptive
revisions:
  quick: ["first", "second: more"]
"""
PRESENT = """\
learners:
  # The first.
  kernel: &kernel
    label: Kernel
    learner: {name: kernel_ridge, kernel: {name: ntk}}
    select: {ridge: [0.1]}
    samples: {start: 2, cap: 16}
    only: {dimension: [4, 5], degree: 2}  # too small
  other: {<<: *kernel, label: Other, only: []}
figure: {name: sample_complexity, main: {degree: 2}}

rivals:
  rival: {is: another, quantity: {where: {degree: 1}}}
claims:
  C1:
    place: Theorem 0
    statement: It holds
    kind: rate
    beyond: squared loss, where the theorem assumes a loss of slope at most 1; it is mine
    quantity: &growth {name: exponent, learner: other, where: {degree: 2}, sizes: [3, 4, 5]}
    # From a pilot.
    test: "<= 1.50 + 0"
    rival: rival
    at:
      full: {quantity: {sizes: [4, 5, 6]}}
  C2:
    place: Theorem 0
    statement: It is less
    kind: conjecture
    regime: limit
    quantity: {<<: *growth, sizes: [4, 5, 6]}
    test: "< -1"
    rival: rival
    presets: [full]
  C3:
    place: Theorem 0
    statement: A number
    quantity: {<<: *growth, sizes: [4, 5, 6]}
    presets: [full]
presets:
  full:
    axes: {dimension: [4, 5, 6]}
    learners:
      kernel:
        only: {degree: 2}
revisions:
  quick: 2
"""


@pytest.fixture
def folder(tmp_path):
    """A project of its own with the papers and the published numbers, and without studies."""
    for name in ("papers.yaml", "published"):
        source = ROOT / "config" / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    (tmp_path / "studies").mkdir()
    yield tmp_path
    registry.use(())
    papers.use(ROOT / "config")


def older(folder, text=SMALL, name="mine.yaml"):
    file = folder / "studies" / name
    file.write_text(text)
    return file


@pytest.mark.parametrize("name", [file.stem for file in sorted(OLDER.glob("*.yaml"))])
def test_a_converted_study_has_the_designs_and_draws_that_it_had(folder, name):
    file = folder / "studies" / f"{name}.yaml"
    shutil.copy(OLDER / file.name, file)
    assert convert.convert(file)
    with (OLDER / "digests.csv").open(newline="") as stream:
        rows = [row for row in csv.DictReader(stream) if row["study"] == name]
    for preset in {row["preset"] for row in rows}:
        study = load_study(file, preset)
        found = {claim: (study.draw, digest) for claim, digest in registration.digests(study).items()}
        wanted = {row["claim"]: (row["draw"], row["digest"]) for row in rows if row["preset"] == preset}
        assert list(found.items()) == list(wanted.items())


def test_comments_anchors_and_the_way_of_writing_stay(folder):
    file = older(folder)
    assert convert.convert(file) == {"quick": ["first", "second: more"]}
    assert file.read_text() == SMALL.partition("learners:\n")[0].replace(" #", "  #") + PRESENT


@pytest.mark.parametrize("file", STUDIES, ids=lambda file: file.stem)
def test_a_tree_that_is_not_changed_is_written_as_it_was_read(file):
    text = file.read_text()
    written = yaml_text.write(yaml_text.parse(text))
    assert yaml.safe_load(written) == yaml.safe_load(text)
    assert yaml_text.write(yaml_text.parse(written)) == written


def test_the_history_of_revisions_goes_to_the_records_of_the_folder(folder):
    older(folder)
    older(folder, SMALL.replace("second: more", "second: fewer"), "yours.yaml")
    told = list(convert.convert_all([folder], ROOT))
    assert told == [f"{folder.as_posix()}/studies/{name}.yaml: converted" for name in ("mine", "yours")]
    records = yaml.safe_load((folder / "records" / "revisions.yaml").read_text())
    assert records == {
        "mine": {"quick": ["first", "second: more"]},
        "yours": {"quick": ["first", "second: fewer"]},
    }


def test_the_history_of_the_project_has_a_line_for_every_number():
    records = yaml.safe_load((ROOT / "docs" / "records" / "revisions.yaml").read_text())
    numbers = {file.stem: shipped.content(file).get("revisions", {}) for file in STUDIES}
    assert {study: {preset: len(lines) for preset, lines in presets.items()} for study, presets in records.items()} == {
        study: presets for study, presets in numbers.items() if presets
    }


def test_a_study_of_the_project_names_its_broken_hypotheses_by_their_ids():
    for file in STUDIES:
        for name, claim in shipped.content(file).get("claims", {}).items():
            for part in (claim, *claim.get("at", {}).values()):
                assert isinstance(part.get("beyond", []), list), f"{file.stem}: {name}"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (SMALL.replace("rule:", "rule: ["), r"line \d+: found .*; expected valid YAML"),
        (SMALL.replace("title", "titel"), "titel: found an unknown key; expected one of"),
        (SMALL.replace("kind: rate", "knd: rate"), "claims.C1.knd: found an unknown key; expected one of"),
        (SMALL.replace("rule: upper", "rule: uper"), "found rule: uper, predicted: 1.5, slack: 0; expected a rule"),
        (SMALL.replace("slack: 0", "slack: -1"), "found rule: upper, predicted: 1.5, slack: -1; expected a rule"),
        (SMALL.replace("[{degree: 2, dimension: 3}, {degree: 1}]", "4"), "found what no study of the older form says"),
        ("title: x\nskip: 3\n", "found the present form; expected an older one"),
        ("- 1\n", r"found \[1\]; expected a mapping"),
    ],
)
def test_what_cannot_be_converted_is_told_in_lines_and_stays(folder, text, line):
    file = older(folder, text)
    done = subprocess.run(
        [sys.executable, "-m", "hierlearn.pipeline.command", "convert", str(file)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={"PYTHONPATH": str(PACKAGE.parent), "PATH": ""},
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    (told,) = done.stderr.splitlines()
    assert told.startswith(f"error: {file}: ") and re.search(line, told), told
    assert file.read_text() == text
    assert not (folder / "records").exists()


def test_a_folder_without_studies_is_one_line(tmp_path):
    with pytest.raises(ValueError, match="found no study; expected a study file, or a folder with `studies`"):
        list(convert.convert_all([tmp_path], ROOT))


OLDER_IMPORTS = """from hierlearn.probes._variables import describe
from hierlearn.core.protocols import Probe
import hierlearn.files.netcdf
from hierlearn.inputs.sphere import Sphere
scores = hierlearn.compare({}, [], [])
kind, seeds = sample.problem.teacher.kind, sample.problem.seeds
from hierlearn.core.protocols import Fit, Sample
    def objections(self, inputs):
    def fit(self, sample: Sample, monitor) -> Fit:
        self.refuse_sample(sample)
        objections = "Sample complexity"
"""


def test_components_import_modules_by_their_present_names(tmp_path):
    component, study = tmp_path / "probes" / "mine.py", tmp_path / "studies" / "mine.yaml"
    for file, text in {
        component: OLDER_IMPORTS,
        study: "# $schema=../hierlearn/schemas/study.schema.json\n",
    }.items():
        file.parent.mkdir()
        file.write_text(text)
    assert list(convert.convert_all([tmp_path], tmp_path.parent)) == [
        f"{file}: names of modules rewritten" for file in (component, study)
    ]
    assert component.read_text().splitlines() == [
        "from hierlearn.pipeline.measurements._variables import describe",
        "from hierlearn.core.protocols import Probe",
        "import hierlearn.pipeline.files.netcdf",
        "from hierlearn.inputs.sphere import Sphere",
        "scores = hierlearn.compare({}, [], [])",
        "kind, seeds = sample.data.kind, sample.data.seeds",
        "from hierlearn.core.protocols import Fit, TrainingData",
        "    def validate(self, inputs):",
        "    def fit(self, sample: TrainingData, monitor) -> Fit:",
        "        self.raise_for_data(sample)",
        '        objections = "Sample complexity"',
    ]
    assert study.read_text() == "# $schema=../hierlearn/pipeline/schemas/study.schema.json\n"
    assert list(convert.convert_all([tmp_path], tmp_path.parent)) == []
