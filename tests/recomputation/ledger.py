"""The rows of a results folder recomputed from its judged.nc and the study files, with numpy and scipy alone.

python -m recomputation.ledger RESULTS, with tests/ on PYTHONPATH, prints what differs.
"""

import csv
import sys
from pathlib import Path
from typing import Any

import netCDF4
import numpy as np
import xarray
from recomputation import designs, rivals
from recomputation.estimates import NOTHING, Found, extremes, over_splits
from recomputation.quantities import QUANTITIES, Files, measure
from recomputation.tables import scores

# Laws of the 1797 digits, of which every seed draws 497 test pictures anew.
SPLIT = dict.fromkeys(("digits", "shifted_digits"), 497 / 1300)
ROOT = Path(__file__).parents[2]
WORDS = {"within": ("supported", "contradicted"), "limit": ("consistent", "not seen"), "beyond": ("extends", "ends")}
WORDS["ours"] = WORDS["beyond"]
NUMBERS = ("value", "low", "high", "control_value", "control_low", "control_high")
# claims.csv has six digits; beside numbers this small relative to the row's others, rounding shows.
DIGITS = 2e-5

Row = dict[str, str]


def rows(results: Path, config: Path = ROOT / "config", rank: str | None = "primary") -> list[Row]:
    """The rows of claims.csv that can be recomputed: judged, of that rank (None: all), of a quantity known here."""
    with open(results / "claims.csv", newline="", encoding="utf-8") as file:
        judged = [row for row in csv.DictReader(file) if row["rule"] != "descriptive" and rank in (None, row["rank"])]
    return [row for row in judged if claim_of(row, config)["quantity"]["name"] in QUANTITIES]


def claim_of(row: Row, config: Path) -> dict[str, Any]:
    return designs.study_at(config / "studies" / f"{row['study']}.yaml", row["preset"])["claims"][row["claim"]]


def files_of(row: Row, results: Path, config: Path) -> Files:
    """What a study's rows were judged from: judged.nc alone."""
    file = results / row["study"] / "judged.nc"
    with netCDF4.Dataset(file) as dataset:
        groups, named = list(dataset.groups), list(dataset["probes"].groups) if "probes" in dataset.groups else []
    probes = {name: xarray.load_dataset(file, group=f"probes/{name}") for name in named}
    cube = scores(file, "scores") if "scores" in groups else None
    traces = xarray.load_dataset(file, group="traces") if "traces" in groups else None
    return Files(cube, probes, traces, config / "published" / f"{row['paper']}.yaml")


def recomputed(row: Row, results: Path, config: Path = ROOT / "config", files: Files | None = None) -> dict[str, Any]:
    """Numbers and words of a row, from its study's files alone."""
    claim, files = claim_of(row, config), files or files_of(row, results, config)
    study, rival = designs.study_at(config / "studies" / f"{row['study']}.yaml", row["preset"]), designs.rival(claim)
    own = over_splits(measure(claim["quantity"], files), shared(study, claim["quantity"]))
    other = over_splits(measure(rival, files), shared(study, claim["quantity"])) if rival else None
    if claim["rule"] == "bound" and other is not None:
        own = apart(own, other)
    found, control = outcome(claim, own), control_word(claim, other)
    described = rivals.added(study, row, config) if claim["kind"] != "check" else []
    added = [measure(one, files) if one else None for one in described]
    added = [over_splits(one, shared(study, claim["quantity"])) if one else NOTHING for one in added]
    controls = [control, *(outcome(claim, one) for one in added)]
    at_ends = [rivals.ends(study, one, files.cube) for one in (claim["quantity"], rival, *described) if one]
    found = "undecided" if any(at_ends) and claim["kind"] != "check" else found
    ends = [getattr(one or NOTHING, end) for one in (own, other) for end in ("value", "low", "high")]
    words = {"control_verdict": control, "verdict": verdict(claim, row["regime"], found, controls)}
    return dict(zip(NUMBERS, ends, strict=True)) | words


def shared(study: dict[str, Any], quantity: dict[str, Any]) -> float:
    """Test points over all others of the finite set that the seeds of a quantity split; 0 of points without end."""
    posed = study["probes"][quantity["probe"]]["probe"] if "probe" in quantity else study["problem"]
    # A probe without a law of its own measures the study's problem.
    law = posed.get("input", study["problem"]["input"] if "probe" not in quantity else {})
    return SPLIT.get(law.get("name", ""), 0.0)


def apart(own: Found, other: Found) -> Found:
    """Cases that satisfy both the claim and its control do not count, unless all do."""
    if own.ratios is None or other.ratios is None or own.ratios.shape != other.ratios.shape:
        return own
    counting = (own.ratios > 1) | (other.ratios > 1)
    if not counting.any() or counting.all():
        return own
    found = extremes(own.ratios, counting)
    if own.ends is not None:
        low, high = own.ends[counting[:, 0]].max(axis=0)
        return Found(found.value, low, high, ratios=own.ratios)
    return Found(found.value, ratios=own.ratios) if np.isnan(own.low) else found


def outcome(claim: dict[str, Any], found: Found) -> str:
    """passes, fails or undecided: a rule compares an interval with a prediction and a slack."""
    rule, low, high = claim["rule"], found.low, found.high
    if np.isnan([found.value, low, high]).any():
        return "undecided"
    if rule == "bound" and high == found.value:
        return "passes" if high <= 1 else "fails"
    high = np.inf if found.open else high
    # An interval of a bound belongs to a mean.
    predicted, slack = (1.0, 0.0) if rule == "bound" else (claim["predicted"], claim.get("slack"))
    slack = (1.5 if rule == "published" else 0.0) if slack is None else slack
    floor, ceiling = predicted - slack, predicted + slack
    if rule == "published":
        floor, ceiling = predicted / slack, predicted * slack
    if rule in ("two-sided", "published"):
        yes, no = floor <= low and high <= ceiling, high < floor or low > ceiling
    elif rule in ("upper", "bound"):
        yes, no = high <= ceiling, low > ceiling
    elif rule == "lower":
        yes, no = low >= floor, high < floor
    elif claim.get("side", "above") == "above":
        yes, no = low > floor, high < floor
    else:
        yes, no = high < ceiling, low > ceiling
    return "passes" if yes else "fails" if no else "undecided"


def control_word(claim: dict[str, Any], other: Found | None) -> str:
    if "missing" in claim.get("control", {}):
        return "missing"
    return "" if other is None else outcome(claim, other)


def verdict(claim: dict[str, Any], regime: str, found: str, controls: list[str]) -> str:
    """The word for a result. regime: of the row, as scopes are computed from hypotheses and not recomputed here."""
    regime = {"check": "within", "open": "beyond"}.get(claim["kind"]) or regime
    yes, no = WORDS[regime]
    if found == "fails":
        return "contradicted" if regime == "limit" and "proof" in claim else no
    if found == "passes" and "passes" in controls:
        return "vacuous"
    return yes if found == "passes" and set(controls) <= {"fails", ""} else "inconclusive"


def differences(row: Row, again: dict[str, Any]) -> list[str]:
    """What a row of claims.csv says otherwise, one line each."""
    scale = max([abs(float(row[name])) for name in NUMBERS if row[name]], default=0.0)
    found = []
    for name, value in again.items():
        if name in NUMBERS:
            said = float(row[name]) if row[name] else np.nan
            same = np.isclose(said, value, rtol=DIGITS, atol=1e-9 * scale, equal_nan=True)
        else:
            said, same = row[name], row[name] == value
        if not same:
            found.append(f"{row['study']}: {row['claim']}: {name}: found {said}; recomputed {value}")
    return found


def compared(results: Path, config: Path = ROOT / "config", rank: str | None = "primary") -> tuple[int, list[str]]:
    """How many rows were recomputed, and every difference."""
    chosen, found, study, files = rows(results, config, rank), [], None, None
    for row in sorted(chosen, key=lambda row: row["study"]):
        if row["study"] != study:
            study, files = row["study"], files_of(row, results, config)
        found += differences(row, recomputed(row, results, config, files))
    return len(chosen), found


if __name__ == "__main__":
    count, lines = compared(Path(sys.argv[1]), rank=None)
    print(*lines, f"{count} rows recomputed, {len(lines)} differences", sep="\n")
    sys.exit(bool(lines))
