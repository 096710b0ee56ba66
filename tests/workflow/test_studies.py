"""Every study of the project runs from its files to the page at the smallest preset."""

import csv

import pytest
import xarray
import yaml
from conftest import ROOT, snakemake

STUDIES = {file.stem: yaml.safe_load(file.read_text()) for file in (ROOT / "config" / "studies").glob("*.yaml")}


@pytest.fixture(scope="module")
def smoke(tmp_path_factory):
    folder = tmp_path_factory.mktemp("smoke")
    done = snakemake(ROOT, "--cores", "2", "--config", "preset=smoke", folder=folder)
    assert done.code == 0, done.end
    return folder / "results" / "smoke"


@pytest.mark.parametrize("preset", ["quick", "full"])
def test_a_preset_that_takes_longer_can_be_planned(preset, tmp_path):
    done = snakemake(ROOT, "--dry-run", "--quiet", "--config", f"preset={preset}", folder=tmp_path)
    assert done.code == 0, done.end
    assert list(tmp_path.glob("results")) == []


def test_the_ledger_has_a_row_for_every_claim(smoke):
    with open(smoke / "claims.csv", newline="") as file:
        found = {(row["study"], row["claim"]) for row in csv.DictReader(file)}
    assert found == {(name, claim) for name, study in STUDIES.items() for claim in study["claims"]}


@pytest.mark.parametrize("name", STUDIES)
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
    assert f'id="{name}"' in (smoke / "index.html").read_text()
