"""A change runs again what rests on it, and nothing else."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager

import pytest
import yaml
from conftest import ROOT, snakemake

PACKAGE = ROOT / "workflow" / "hierlearn"
SCORED = {"evaluate all", "aggregate", "figure", "judge", "ledger"}
EVERYTHING = SCORED | {
    "generate all",
    "represent all neural",
    "train all kernel",
    "train all features",
    "train all linear",
    "train all failing",
    "probe theory",
}


def planned(tree) -> set[str]:
    """The jobs that a run would do, as rule and wildcards."""
    text = snakemake(tree, "--dry-run", "--config", "log=snakemake").text
    # Rules that a cluster would take as one submission stand indented below it.
    starts = [*re.finditer(r"^ *rule (\w+):$", text, flags=re.MULTILINE)]
    ends = [*(start.start() for start in starts), len(text)][1:]
    found = set()
    for start, end in zip(starts, ends, strict=True):
        rule, wildcards = start[1], re.search(r"wildcards: (.*)", text[start.end() : end])
        words = [part.split("=")[1] for part in wildcards[1].split(", ")] if wildcards else []
        found.add(" ".join([rule, *(word for word in words if word != "tiny")]))
    assert found or "Nothing to be done" in text, text
    return found - {"default", "all"}


@contextmanager
def edited(file, change):
    before, times = file.read_text(), (file.stat().st_atime_ns, file.stat().st_mtime_ns)
    file.write_text(change(before))
    try:
        yield
    finally:
        file.write_text(before)
        os.utime(file, ns=times)


AGAIN = {
    "hierlearn/kernels/arccos.py": {"train all features"} | SCORED,
    "hierlearn/kernels/rbf.py": set(),
    "hierlearn/learners/taylor.py": {"train all linear"} | SCORED,
    "hierlearn/learners/_dual.py": EVERYTHING - {"generate all", "represent all neural", "probe theory"},
    "hierlearn/representations/neural.py": {"represent all neural", "train all features"} | SCORED,
    "hierlearn/teachers/ridge_polynomial.py": EVERYTHING,
    "hierlearn/theory/deterministic_equivalent.py": {"probe theory", "figure", "judge", "ledger"},
    "hierlearn/pipeline/run/sample_sizes.py": EVERYTHING - {"generate all", "represent all neural", "probe theory"},
    "hierlearn/pipeline/files/scores.py": EVERYTHING,
    "hierlearn/pipeline/figures/sample_complexity.py": {"figure", "ledger"},
    "hierlearn/pipeline/claims/judging.py": {"judge", "ledger"},
    "hierlearn/pipeline/claims/page/index.py": {"ledger"},
    "scripts/aggregate.py": SCORED - {"evaluate all"},
}
# One of each kind of job; that each file changes the hash of its users alone is said of all of them below.
SOON = (
    "kernels/arccos",
    "learners/taylor",
    "representations/neural",
    "deterministic_equivalent",
    "figures/",
    "aggregate",
)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        one if any(part in one[0] for part in SOON) else pytest.param(*one, marks=pytest.mark.slow)
        for one in AGAIN.items()
    ],
)
def test_a_changed_file_runs_its_users_again_and_no_other_job(changed, file, expected):
    with edited(changed / "workflow" / file, lambda text: text + "\n# changed\n"):
        assert planned(changed) == expected


HASHES = """
import json, sys
from pathlib import Path
from hierlearn.core import provenance
from hierlearn.pipeline.plan.configuration import configure
from hierlearn.pipeline.plan import jobs
study = configure({}, Path("none"), Path(sys.argv[1])).studies["tiny"]
task = study.tasks["all"]
planned = {f"{rule}-tiny-all": (rule, task) for rule in ("generate", "evaluate")}
planned |= {f"{rule}-tiny": (rule,) for rule in ("aggregate", "figure", "judge")}
planned |= {f"train-tiny-all-{name}": ("train", task, name) for name in study.learners}
planned |= {"represent-tiny-all-neural": ("represent", task, "neural"), "probe-tiny-theory": ("probe", "theory")}
parts = {name: (rule, jobs.components_of(getattr(jobs, rule)(study, *rest))) for name, (rule, *rest) in planned.items()}
parts["ledger"] = "ledger", ()
digest = provenance._digest
def hashes(changed):
    provenance._digest = lambda file: "changed" if file == changed else digest(file)
    jobs.code.cache_clear()
    provenance._read.cache_clear()
    return {name: jobs.code(*part) for name, part in parts.items()}
before, again = hashes(None), {}
for file in provenance.PACKAGE.rglob("*.py"):
    after = hashes(file)
    again[str(file.relative_to(provenance.PACKAGE))] = [name for name in after if after[name] != before[name]]
print(json.dumps([before, again]))
"""


@pytest.fixture(scope="module")
def touched(finished):
    """For every file of the package, the jobs that its change runs again, and those that had read it when they ran."""
    environment = os.environ | {"PYTHONPATH": str(finished / "workflow")}
    words = [sys.executable, "-c", HASHES, str(finished / "config" / "studies")]
    done = subprocess.run(words, env=environment, text=True, capture_output=True, check=True)
    before, again = json.loads(done.stdout)
    noted = {file.stem: json.loads(file.read_text()) for file in (finished / "notes").glob("*.json")}
    # What ran is what is planned, with the hashes that it ran with.
    assert {name: code for name, (code, _) in noted.items()} == before
    package = finished / "workflow" / "hierlearn"
    read = {name: {os.path.relpath(file, package) for file in files} for name, (_, files) in noted.items()}
    return {file: (set(jobs), {name for name, files in read.items() if file in files}) for file, jobs in again.items()}


@pytest.mark.parametrize("file", sorted(str(file.relative_to(PACKAGE)) for file in PACKAGE.rglob("*.py")))
def test_a_change_of_any_file_runs_the_jobs_again_that_read_it(touched, file):
    again, read = touched[file]
    assert again == read


def of_study(change):
    def changed_text(text):
        content = yaml.safe_load(text)
        change(content)
        return yaml.safe_dump(content, sort_keys=False)

    return changed_text


def test_a_rule_of_a_claim_trains_nothing_again(changed):
    def change(content):
        content["claims"]["C1-kernel"]["test"] = "<= 1 + 4"

    with edited(changed / "config" / "studies" / "tiny.yaml", of_study(change)):
        assert {"judge", "ledger"} <= planned(changed) <= {"judge", "figure", "ledger"}


def test_a_new_learner_trains_only_itself(changed):
    def change(content):
        content["learners"]["another"] = content["learners"]["kernel"] | {"label": "Another"}

    with edited(changed / "config" / "studies" / "tiny.yaml", of_study(change)):
        assert planned(changed) == {"train all another"} | SCORED


NUMBERS = """
paper: chen2020
source: Nobody
tables:
  figure-0:
    title: Risk
    place: Figure 0
    obtained: read
    units: "1"
    coordinates: {learner: who, samples: n}
    rows:
      - {learner: kernel, samples: 2, value: 0.8}
      - {learner: kernel, samples: 8, value: 0.2}
"""


def test_a_published_number_is_drawn_and_judged_and_its_change_does_only_that_again(finished, tmp_path):
    """The figure shows trajectories, and risks beside what was published."""
    other = shutil.copytree(finished, tmp_path / "tree")
    place = {"dimension": 3, "degree": 1, "width": 4}

    def change(content):
        published, there = {"published": "figure-0"}, {"learner": "kernel"}
        quantity = {"name": "published_ratio", "learner": "kernel", "samples": 2, "where": place}
        quantity |= published | {"published_where": there}
        claim = content["claims"]["C1-kernel"] | {"test": "~ 1 */ 100", "quantity": quantity}
        content["claims"]["C2"] = claim
        risk = [{"learner": "kernel", "where": place}, published | {"where": there}]
        trace = [{"learner": "failing", "variable": "train_loss", "where": place | {"samples": 4}}]
        panels = [("risk", "samples", risk), ("trace", "step", trace)]
        content["figure"] = {
            "name": "panels",
            "panels": [{"kind": kind, "title": kind, "x": x, "lines": lines} for kind, x, lines in panels],
        }

    study, numbers = other / "config" / "studies" / "tiny.yaml", other / "config" / "published" / "chen2020.yaml"
    study.write_text(of_study(change)(study.read_text()))
    numbers.write_text(NUMBERS)
    assert planned(other) == {"figure", "judge", "ledger"}
    done = snakemake(other, "--cores", "1")
    assert done.code == 0, done.end
    rows = json.loads((other / "results/quick/tiny/claims.json").read_text())["rows"]
    (row,) = [row for row in rows if row["claim"] == "C2"]
    assert row["verdict"] == "vacuous"
    drawn = (other / "results/quick/tiny/figure.svg").read_text()
    # The other learner failed, and has no loss to show.
    assert ">published<" in drawn and ">nothing was measured<" in drawn
    numbers.write_text(NUMBERS.replace("Nobody", "Somebody"))
    assert planned(other) == set()
    numbers.write_text(NUMBERS.replace("0.8", "0.7"))
    assert planned(other) == {"figure", "judge", "ledger"}


def test_another_order_of_keys_and_comments_in_a_study_change_nothing(changed):
    with edited(changed / "config" / "studies" / "tiny.yaml", lambda text: "# a comment\n" + text):
        assert planned(changed) == set()


def test_a_renamed_study_draws_other_numbers_but_in_a_pilot(changed, results, tmp_path):
    """No two studies share data; pilots do, whatever the study that poses a problem is called."""
    file = changed / "config" / "studies" / "tiny.yaml"
    shutil.copy(file, file.with_name("renamed.yaml"))
    content = yaml.safe_load(file.read_text()) | {"claims": {}}
    file.with_name("renamed.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    own, piloted = "results/quick/renamed/all/data.nc", "results/quick-pilot/{}/all/data.nc"
    try:
        done = [snakemake(changed, own, folder=tmp_path)]
        pilots = [piloted.format(name) for name in ("renamed", "tiny")]
        done.append(snakemake(changed, *pilots, "--config", "pilot=true", folder=tmp_path))
    finally:
        file.with_name("renamed.yaml").unlink()
    assert [one.code for one in done] == [0, 0], done[-1].end
    first, second = ((tmp_path / pilot).read_bytes() for pilot in pilots)
    assert first == second
    assert (tmp_path / own).read_bytes() not in (first, (results / "tiny/all/data.nc").read_bytes())
