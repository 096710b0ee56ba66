"""Every study of the project runs from its files to the page at the smallest preset."""

import csv
import shutil

import pytest
import xarray
from conftest import ROOT, copied, snakemake
from recomputation import designs, ledger

FILES = sorted((ROOT / "config" / "studies").glob("*.yaml"))
STUDIES = {file.stem: designs.study_at(file, "smoke") for file in FILES}


def said(study: dict) -> set[tuple[str, str]]:
    """What of a study no test of a component runs: quantities and rules of claims, figures and kinds of panels."""
    figure, claims = study["figure"], study["claims"].values()
    found = {("figure", figure["name"]), *(("panel", panel["kind"]) for panel in figure.get("panels", []))}
    return found | {("rule", claim["rule"]) for claim in claims} | {("quantity", c["quantity"]["name"]) for c in claims}


def covering() -> list[str]:
    """A few studies that say all that the others say: the next is the one with most that is not yet there."""
    names, chosen = {name: said(study) for name, study in STUDIES.items()}, []
    while missing := set().union(*names.values()).difference(*(names[name] for name in chosen)):
        chosen.append(max(names, key=lambda name: len(names[name] & missing)))
    return chosen


SHORT = covering()
STUDY_TEST = "test_a_study_leaves_scores_figures_and_claims"


@pytest.fixture(scope="module")
def smoke(request, tmp_path_factory):
    """The results of the studies whose tests were chosen: `make test` leaves out what has nothing that others lack."""
    chosen = [item.callspec.params["name"] for item in request.session.items if item.originalname == STUDY_TEST]
    folder, tree = tmp_path_factory.mktemp("smoke"), copied(tmp_path_factory.mktemp("tree"))
    # A tree that has these studies alone, since a run of some writes no table of all.
    for name in chosen:
        shutil.copy(ROOT / "config" / "studies" / f"{name}.yaml", tree / "config" / "studies")
    done = snakemake(tree, "--cores", "2", "--config", "preset=smoke", folder=folder)
    assert done.code == 0, done.end
    return folder / "results" / "smoke"


@pytest.mark.slow
@pytest.mark.parametrize("preset", ["quick", "standard", "full"])
def test_a_preset_that_takes_longer_can_be_planned(preset, tmp_path):
    done = snakemake(ROOT, "--dry-run", "--quiet", "--config", f"preset={preset}", folder=tmp_path)
    assert done.code == 0, done.end
    assert list(tmp_path.glob("results")) == []


def test_the_ledger_has_a_row_for_every_claim(smoke):
    with open(smoke / "claims.csv", newline="") as file:
        found = {(row["study"], row["claim"]) for row in csv.DictReader(file)}
    shown = {name for name, _ in found}
    assert shown >= set(SHORT)
    assert found == {(name, claim) for name in shown for claim in STUDIES[name]["claims"]}


def test_every_quantity_gives_the_same_verdicts_without_the_package(smoke):
    count, differences = ledger.compared(smoke, rank=None)
    assert count > 80
    assert differences == []


@pytest.mark.parametrize(
    "name", [name if name in SHORT else pytest.param(name, marks=pytest.mark.slow) for name in STUDIES]
)
def test_a_study_leaves_scores_figures_and_claims(smoke, name):
    for file in ("figure.svg", "figure.pdf", "figure.png", "claims.json"):
        assert (smoke / name / file).stat().st_size
    for probe in STUDIES[name].get("probes", {}):
        assert xarray.open_dataset(smoke / name / f"{probe}.probe.nc").data_vars
    learners = list(STUDIES[name].get("learners", {}))
    assert (smoke / name / "scores.nc").exists() == bool(learners)
    if learners:
        scores = xarray.open_dataset(smoke / name / "scores.nc")
        assert {"learner", "dimension", "samples", "seed"} <= set(scores.coords)
        assert list(scores.learner.values) == learners
        # every learner was trained somewhere
        assert (scores.status == 0).any([axis for axis in scores.status.dims if axis != "learner"]).all()
    assert f'id="study-{name}"' in (smoke / "index.html").read_text()
