"""Fill the later columns of `config/verdicts.csv` for lines from before there were any, and write their rivals.

    python docs/records/verdict_columns.py SCRATCH

SCRATCH is the folder that `rebuild_designs.py` filled. The first ten columns of every line stay as they are, byte for
byte. What a line was asked comes from its rebuilt design; seeds, degrees of freedom and rivals come from the stored
versions of `docs/ledger`; the commit is the one that added the line. What none of them tells stays empty. Writes
`config/verdicts.csv` and `config/verdict_rivals.csv`.
"""

import csv
import io
import json
import math
import re
import sys
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "workflow"))

from first_questions import rebuilt  # noqa: E402
from judged_again import LEDGER, contents, table  # noqa: E402
from rebuild_designs import git  # noqa: E402

from hierlearn.core import registry  # noqa: E402
from hierlearn.core.aliases import present_rule  # noqa: E402
from hierlearn.pipeline.claims import digests, history, rules  # noqa: E402
from hierlearn.pipeline.claims.verdicts import result, scope  # noqa: E402
from hierlearn.pipeline.command.recording import freedom  # noqa: E402

FILE, RIVALS = ROOT / history.FILE, ROOT / "config" / history.RIVALS
FIRST = history.COLUMNS[: history.FIRST]
# What tells the stored row of a line: later code may have judged the same draw anew.
KEY = ("claim", "preset", "draw", "digest", "value", "low", "high")
# Methods of earlier lines, where the quantity has another one now.
EARLIER = {"probe_slope": "line through sizes"}
Row = Mapping[str, str]


def asked(scratch: Path) -> dict[tuple[str, str], dict[str, str]]:
    """What the design of every claim and digest says, by column, and how many seeds it has."""
    found = {}
    for _, line, design in rebuilt(scratch):
        if design is not None:
            found[line["claim"], line["digest"]] = _of_design(design)
    return found


def _of_design(design: Mapping) -> dict[str, str]:
    claim = design["claim"]
    name, slack, side = claim["quantity"]["name"], claim.get("slack"), claim.get("side", "above")
    rule = present_rule(claim["rule"])
    predicted = 1.0 if rule == "bound" else claim.get("predicted", math.nan)
    return {
        "quantity": name,
        "method": EARLIER.get(name) or registry.implementation("quantities", name).METHOD,
        "question": digests.of_question(design),
        "design": digests.of_design(design),
        "rule": rule,
        "limit": rules.limit(rule, predicted, math.nan if slack is None else slack, side),
        "slack": "" if slack is None else f"{slack:.6g}",
        "side": side if rule == "ordering" else "",
        "scope": scope(claim["kind"], claim.get("regime", "")),
        "kind": claim["kind"],
        "seeds": str(len(design["seeds"])),
    }


def stored() -> dict[tuple[str, ...], Row]:
    """The stored rows by `KEY`, the first one of each, as texts; those of second draws too."""
    found: dict[tuple[str, ...], Row] = {}
    for commit in git("log", "--reverse", "--format=%H", "--", LEDGER).decode().split():
        for row in table(git("show", f"{commit}:{LEDGER}").decode()):
            if row.get("digest") and row.get("draw"):
                found.setdefault(tuple(row[name] for name in KEY), row)
    listed = git("rev-list", "--objects", "--reverse", "HEAD", "--", "docs/ledger").decode().splitlines()
    blobs = [line.split()[0] for line in listed if re.fullmatch(r"\S+ docs/ledger/[^/]+/claims\.json", line)]
    for content in map(json.loads, contents(blobs)):
        names = {row["claim"]: row["rival"] for row in content["rows"]}
        for row in content["rows"]:
            if row.get("digest") and "dof" in row.get("detail", {}):
                told = {name: text(value) for name, value in row.items() if name != "detail"}
                place = tuple(told[name] for name in KEY)
                found[place] = {**told, **found.get(place, {}), "dof": row["detail"]["dof"]}
        for row in content.get("second", ()):
            told = {name: text(value) for name, value in row.items()}
            told |= {"preset": content["study"]["preset"], "rival": names.get(row["claim"], "")}
            found.setdefault(tuple(told[name] for name in KEY), told)
    return found


def text(value: object) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def adding_commits() -> list[str]:
    """The commit that added each line, the header's first."""
    told = git("blame", "-s", "--abbrev=11", "HEAD", "--", history.FILE).decode().splitlines()
    return [line.split()[0].lstrip("^")[:12] for line in told]


def as_csv(values: list[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(values)
    return line.getvalue()


def main() -> None:
    lines = FILE.read_text(encoding="utf-8").splitlines()
    if lines[0] != ",".join(FIRST):
        sys.exit(f"{FILE}: found more columns than {history.FIRST}; expected lines from before there were more")
    designs, rows, commits = asked(Path(sys.argv[1])), stored(), adding_commits()
    filled, rivals = [",".join(history.COLUMNS)], {}
    for before, commit in zip(lines[1:], commits[1:], strict=True):
        line = dict(zip(FIRST, next(csv.reader([before])), strict=True))
        place = tuple(line[name] for name in KEY)
        design, row = designs.get((line["claim"], line["digest"]), {}), rows.get(place, {})
        known = {"commit": commit, "result": result(line["verdict"])} | design
        known["seeds"] = row.get("seeds") or known.get("seeds", "")
        if design:
            known["level"] = "0.95" if line["low"] and known["method"] != "largest ratio" else ""
            known["freedom"] = freedom(known["method"], int(known["seeds"] or 0), row.get("dof"))
        filled.append(f"{before},{as_csv([known.get(name, '') for name in history.COLUMNS[history.FIRST :]])}")
        if row.get("control_verdict") in rules.OUTCOMES:
            seeds = freedom(known.get("method", ""), int(known["seeds"] or 0))
            numbers = [row[f"control_{name}"] for name in ("value", "low", "high")]
            told = [*(line[name] for name in FIRST[:6]), row["rival"], "", *numbers, seeds, row["control_verdict"]]
            # The first stored verdict of a draw stands.
            rivals.setdefault(tuple(told[:6]), told)
    FILE.write_text("\n".join(filled) + "\n", encoding="utf-8")
    RIVALS.write_text("\n".join(map(as_csv, [list(history.RIVAL_COLUMNS), *rivals.values()])) + "\n", encoding="utf-8")
    print(f"{len(lines) - 1} lines, {len(rivals)} draws of them with a rival")


if __name__ == "__main__":
    main()
