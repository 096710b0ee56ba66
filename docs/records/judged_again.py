"""Judge all rows by their first question, from the intervals that are stored.

    python docs/records/judged_again.py SCRATCH

SCRATCH is the folder that `rebuild_designs.py` filled. Values come from every stored version of
`docs/ledger/claims.csv` and from `config/verdicts.csv`. A row is judged here if a stored design measures its first
quantity; the others need a run. The rivals are the first one and all of `config/rivals.csv` that must fail at the row's
place: another row measures some by the same quantity (`config/measured_rivals.csv`), and the others are not measured,
which leaves a row undecided. So does a rate at the end of its list. Writes `judged_again.csv` beside this file.
"""

import csv
import io
import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "workflow"))

from first_questions import rebuilt  # noqa: E402
from rebuild_designs import git  # noqa: E402

from hierlearn.pipeline.claims import asked, history, outcomes, question_forms, rivals  # noqa: E402
from hierlearn.pipeline.command import first_questions  # noqa: E402
from hierlearn.pipeline.quantities._ends import told  # noqa: E402

LEDGER = "docs/ledger/claims.csv"
# Fields of a question that change no measurement.
LIMITS = ("place", "kind", "rank", "rule", "predicted", "slack", "side")
NUMBERS = ("value", "low", "high")
RIVAL = tuple(f"control_{number}" for number in NUMBERS)
# Quantities whose intervals are about a line or a rank, with degrees of freedom that no stored row says.
WITHOUT_FREEDOM = ("slope", "exponent", "median", "published", "order_table", "failure")
COLUMNS = (
    *("row", "study", "rank", "changed", "then", "then_value", "then_low", "then_high", "then_preset"),
    *("designs", "rule", "predicted", "slack", "side", "digest"),
    *(f"{number}_{draw}" for draw in (1, 2) for number in (*NUMBERS, "freedom")),
    *("value", "low", "high", "result", "rival", "rival_digest"),
    *(f"rival_{number}_{draw}" for draw in (1, 2) for number in (*NUMBERS, "freedom")),
    *("rival_result", "other_rivals", "not_measured", "at_ends", "now"),
)
Row = Mapping[str, str]


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def designs(scratch: Path) -> dict[tuple[str, str], dict]:
    """Every rebuilt design at `standard` by claim and digest, the earliest first."""
    found: dict[tuple[str, str], dict] = {}
    for _, line, design in rebuilt(scratch):
        if line["preset"] == "standard" and design is not None:
            # The same design at a further revision is the later one.
            found.pop((line["claim"], line["digest"]), None)
            found[line["claim"], line["digest"]] = design
    return found


def stored() -> dict[tuple[str, str], dict[str, dict[str, str]]]:
    """What is stored of every claim and digest, by draw: value and interval, of the rival too where a ledger has it."""
    found: dict[tuple[str, str], dict[str, dict[str, str]]] = {}
    for row in verdicts():
        # The first stored verdict of a draw stands.
        found.setdefault((row["claim"], row["digest"]), {}).setdefault(row["draw"], row)
    for commit in git("log", "--reverse", "--format=%H", "--", LEDGER).decode().split():
        for row in table(git("show", f"{commit}:{LEDGER}").decode()):
            if row.get("digest") and row.get("draw"):
                held = found.setdefault((row["claim"], row["digest"]), {}).setdefault(row["draw"], row)
                for column in RIVAL:
                    held.setdefault(column, row.get(column, ""))
    return found


def verdicts() -> list[dict[str, str]]:
    return table((ROOT / "config" / "verdicts.csv").read_text())


def draws(rows: Mapping[str, Row], design: dict, prefix: str = "") -> list[outcomes.Draw]:
    """The first two draws of a design that have numbers. prefix: `control_` for those of its rival."""
    quantity = design["claim"]["quantity"]["name"]
    unknown = any(word in quantity for word in WITHOUT_FREEDOM)
    freedom = math.inf if unknown else max(1, len(design["seeds"]) - 1)
    named = sorted(rows, key=lambda draw: (draw.count("/"), draw))
    numbers = [[rows[draw].get(prefix + number) or "" for number in NUMBERS] for draw in named]
    return [outcomes.Draw(*map(float, one), freedom) for one in numbers if all(one)][:2]


def measures(first: Mapping, form: Mapping, with_rival: bool) -> bool:
    """Whether a design measures the first quantity, and where asked the first rival too."""
    values = [value for field, value in first.items() if field.startswith("quantity.")]
    own = {one for value in values for one in (value if isinstance(value, list) else [value]) if isinstance(one, str)}
    for field, *_ in question_forms.changes(first, form):
        section, _, rest = field.partition(".")
        of_rival = section == "rival" or (section in ("learners", "probes") and rest.split(".")[0] not in own)
        if field not in LIMITS and (with_rival or not of_rival):
            return False
    return True


def again(scratch: Path) -> Iterator[list]:
    """The rows of the table."""
    records = first_questions.read(HERE / "first_questions.json")
    changed: dict[str, list[str]] = {}
    for row in table((HERE / "changed_questions.csv").read_text()):
        changed.setdefault(row["row"], []).append(row["field"])
    # That a question was changed once is history, which stays where it asks its first form again.
    for row in table((HERE / "judged_again.csv").read_text()):
        known_before = changed.setdefault(row["row"], [])
        known_before += [field for field in row["changed"].split() if field not in known_before]
    known, held, lines, chosen = designs(scratch), stored(), verdicts(), at_ends()
    identities = {claim for claim, _ in first_questions.identities(HERE)}
    count = asked.designs([history.Verdict(*row.values()) for row in lines], after())
    measured: dict[str, dict[str, list[outcomes.Draw]]] = {}
    for row in table((ROOT / "config" / "measured_rivals.csv").read_text()):
        if row["measured_by"] == row["row"]:
            continue
        found = of_measure(row["measured_by"], records, known, held)
        measured.setdefault(row["row"], {})[row["measured_by"]] = found
    for claim, record in sorted(records.items()):
        first, fields = record["question"], changed.get(claim, [])
        if first["rule"] == "descriptive":
            continue
        of_claim = {digest: design for (name, digest), design in known.items() if name == claim}
        forms = {digest: question_forms.question(design) for digest, design in of_claim.items()}
        own = [digest for digest, form in forms.items() if measures(first, form, with_rival=False)]
        both = [digest for digest in own if measures(first, forms[digest], with_rival=True)]
        pair = latest(claim, both, of_claim, held, ("", "control_"))
        # The claim and its rival of one design, if both have two stored draws; else of the latest that has each.
        digest = pair or latest(claim, own, of_claim, held, ("",))
        rival_digest = pair or latest(claim, both, of_claim, held, ("control_",), least=1)
        then = next((row for preset in ("standard", "quick") for row in lines if judged(row, claim, preset)), None)
        if digest and then:
            is_check = claim in identities or first["kind"] == "check"
            # A check is true whatever was chosen, and has no further rivals.
            lacking = [] if is_check else not_measured(claim, record, measured.get(claim, {}))
            found = [] if is_check else chosen.get((claim, digest), []) + chosen.get((claim, rival_digest), [])
            others = {} if is_check else measured.get(claim, {})
            beside = others, lacking, list(dict.fromkeys(found))
            yield line(claim, record, sorted(fields), then, digest, rival_digest, of_claim, held, count[claim], *beside)


def after() -> dict[str, str]:
    """By row the one that it is asked after."""
    return {row["row"]: row["was"] for row in table((HERE / asked.LATER).read_text())}


def not_measured(claim: str, record: Mapping, measured: Mapping[str, list]) -> list[str]:
    """The rivals of a row's place, beside its first one, that no stored row measures."""
    form, paper = record["question"], record["study"].partition("-")[0]
    known = rivals.beside(ROOT / "config", paper)
    quantity, overlay = part(form, "quantity."), part(form, "rival.")
    called = record["words"].get("rival", "")
    added = rivals.added(known.of_row(claim, form["place"]), called, quantity, overlay)
    by_row = known.measuring(claim)
    return [
        one.rival for one in added if by_row.get(one.rival) != claim and not measured.get(by_row.get(one.rival, ""))
    ]


def part(form: Mapping, prefix: str) -> dict:
    """The fields of a form below a prefix, but for those of places."""
    return {
        field.removeprefix(prefix): value
        for field, value in form.items()
        if field.startswith(prefix) and "." not in field.removeprefix(prefix)
    }


def at_ends() -> dict[tuple[str, str], list[str]]:
    """By claim and digest what stored rows say of rates at the end of their list, of rivals too, in words."""
    found: dict[tuple[str, str], list[str]] = {}
    listed = git("rev-list", "--objects", "HEAD", "--", "docs/ledger").decode().splitlines()
    blobs = [line.split()[0] for line in listed if re.fullmatch(r"\S+ docs/ledger/[^/]+/claims\.json", line)]
    for content in map(json.loads, contents(blobs)):
        for row in content["rows"]:
            words = [told(one) for one in row.get("detail", {}).get("edges", ())]
            if row.get("digest") and words:
                found[row["claim"], row["digest"]] = words
    return found


def contents(blobs: list[str]) -> Iterator[bytes]:
    """The contents of objects of the repository."""
    words = ["git", "-C", str(ROOT), "cat-file", "--batch"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for blob in blobs:
            process.stdin.write(f"{blob}\n".encode())
            process.stdin.flush()
            size = int(process.stdout.readline().split()[2])
            yield process.stdout.read(size + 1)[:-1]


def of_measure(claim: str, records: Mapping, known: Mapping, held: dict) -> list[outcomes.Draw]:
    """The draws of a row that measures the rival of another, of its latest design with its first quantity."""
    of_claim = {digest: design for (name, digest), design in known.items() if name == claim}
    first = records[claim]["question"]
    own = [
        digest for digest, one in of_claim.items() if measures(first, question_forms.question(one), with_rival=False)
    ]
    digest = latest(claim, own, of_claim, held, ("",)) or latest(claim, own, of_claim, held, ("",), least=1)
    return draws(held[claim, digest], of_claim[digest]) if digest else []


def judged(row: Row, claim: str, preset: str) -> bool:
    return (row["claim"], row["preset"]) == (claim, preset)


def latest(
    claim: str, digests: list[str], of_claim: dict, held: dict, prefixes: tuple[str, ...], least: int = 2
) -> str:
    """The latest of some designs with so many stored draws, "" for none; an exact one needs no second."""
    for digest in reversed(digests):
        found = [draws(held.get((claim, digest), {}), of_claim[digest], prefix) for prefix in prefixes]
        if all(len(one) >= least or (one and one[0].is_exact) for one in found):
            return digest
    return ""


def line(claim, record, fields, then, digest, rival_digest, of_claim, held, count, others, lacking, at_ends) -> list:
    """One row of the table: what was found then, and what the first question comes to now."""
    first = record["question"]
    level = outcomes.level(count)
    asked = first["rule"], first.get("predicted", math.nan), first.get("slack"), first.get("side", "above")
    rule, predicted, slack, side = asked
    own = draws(held[claim, digest], of_claim[digest])
    rival = draws(held[claim, rival_digest], of_claim[rival_digest], "control_") if rival_digest else []
    result, estimate = outcomes.result(rule, own, predicted, slack, side, level)
    rival_result = outcomes.result(rule, rival, predicted, slack, side, level)[0] if rival else outcomes.UNDECIDED
    results = {
        name: outcomes.result(rule, found, predicted, slack, side, level)[0] if found else outcomes.UNDECIDED
        for name, found in others.items()
    }
    return [
        *(claim, record["study"], first["rank"], " ".join(fields), then["verdict"]),
        *(then[number] for number in NUMBERS),
        *(then["preset"], count, rule, first.get("predicted", ""), "" if slack is None else slack, side, digest),
        *numbers(own),
        *(short(one) for one in (estimate.value, estimate.low, estimate.high)),
        *(result, record["words"].get("rival", ""), rival_digest),
        *numbers(rival),
        *(rival_result, "; ".join(f"{name} {word}" for name, word in results.items())),
        *("; ".join(lacking), "; ".join(at_ends)),
        outcome(result, [rival_result, *results.values()], lacking, at_ends),
    ]


def outcome(result: str, results: list[str], lacking: list[str], at_ends: list[str]) -> str:
    """What a row comes to now: undecided where the best of a list may lie beyond it."""
    unknown = [outcomes.UNDECIDED] * len(lacking)
    return outcomes.UNDECIDED if at_ends else outcomes.outcome(result, [*results, *unknown])


def numbers(found: list[outcomes.Draw]) -> list[str]:
    """The numbers of two draws, empty fields for those that there are not."""
    told = [[draw.value, draw.low, draw.high, draw.freedom] for draw in found]
    return [short(one) for draw in told for one in draw] + [""] * (8 - 4 * len(told))


def short(number: float) -> str:
    return "" if math.isnan(number) else f"{number:.6g}"


def main() -> None:
    rows = list(again(Path(sys.argv[1])))
    with open(HERE / "judged_again.csv", "w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows([COLUMNS, *rows])
    counts: dict[str, int] = {}
    for row in rows:
        counts[row[-1]] = counts.get(row[-1], 0) + 1
    print(f"{len(rows)} rows judged again: " + ", ".join(f"{count} {word}" for word, count in sorted(counts.items())))


if __name__ == "__main__":
    main()
