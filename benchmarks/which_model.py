"""Which model to use: learners on the tables of scikit-learn, on Fashion-MNIST and on a target of chen2020.

    PYTHONPATH=workflow python benchmarks/which_model.py [--only iris --only wine ...] [--again]

Every piece is measured by `hierlearn.compare`, stored as docs/which_model/<piece>.csv, and left alone where that is
there already, unless --again asks for it. Then the tables of docs/which_model.md are written from the stored files.
About nine minutes of one processor; a piece takes at most five, but for rbf-all, the support vector machine on all of
Fashion-MNIST. `fashion`, `landmarks` and `rbf-all` need Debian's package dataset-fashion-mnist or its files in data/.
"""

import argparse
import csv
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.pipeline import make_pipeline

from hierlearn.comparison import Comparison, compare
from hierlearn.comparison.result import COLUMNS
from hierlearn.datasets import make_ridge_polynomial, read_table
from hierlearn.estimators import NeuralRepresentation, NTKClassifier, TaylorRegressor

ROOT = Path(__file__).parents[1]
STORED, PAGE = ROOT / "docs" / "which_model", ROOT / "docs" / "which_model.md"
BEGIN, END = "<!-- tables: written by benchmarks/which_model.py -->", "<!-- end of the tables -->"
ALL = ["ntk", "quad-neural", "quad", "rbf", "ridge", "forest", "boosting"]
# Rows of the page's tables; the words of the library, and how a reader calls them.
NAMES = {
    "ntk": "tangent kernel (`ntk`)",
    "quad-neural": "Quad-Neural (`quad-neural`)",
    "quad": "quadratic Taylor model (`quad`)",
    "rbf": "Gaussian kernel (`rbf`)",
    "ridge": "linear, ridge (`ridge`)",
    "logistic": "logistic regression (`logistic`)",
    "forest": "random forest (`forest`)",
    "boosting": "boosted trees (`boosting`)",
}
TABLES = ("diabetes", "breast_cancer", "digits", "iris", "wine", "linnerud")
Records = list[dict[str, object]]


def shipped(name: str, learners: Sequence[str], **given: object) -> Callable[[], Records]:
    """A table that scikit-learn ships."""

    def measure() -> Records:
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        return told(compare(X, y, learners, name=name, verbose=1, **given))

    return measure


def told(found: Comparison) -> Records:
    """Print a comparison, and return its records."""
    print(found, flush=True)
    return found.records()


def control() -> Records:
    """A ridge polynomial of degree 4 in 10 dimensions, where chen2020 promises Quad-Neural an advantage.

    The quadratic models have the sizes that the paper's theorem asks for, as the study of its sample complexity has.
    """
    X, y = make_ridge_polynomial(2048, n_features=10, degree=4, random_state=0)
    test = make_ridge_polynomial(4000, n_features=10, degree=4, random_state=0, role="test")
    given = {"fit_intercept": False, "scale": None}
    representation = NeuralRepresentation(110, n_directions=55)
    neural = make_pipeline(representation, TaylorRegressor(width=100, tol=3e-4, **given))
    raw = TaylorRegressor(width=220, activation="relu3", **given)
    learners = [
        ("quad-neural", neural, {"taylorregressor__alphas": [1e-1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4]}),
        ("quad", raw, {"alphas": [1e-2, 1e-3, 1e-4, 3e-5, 1e-5, 3e-6]}),
        *("ntk", "rbf", "forest", "boosting"),
    ]
    sizes = {"sizes": [256, 512, 1024], "splits": 3}
    return told(compare(X, y, learners, test=test, name="control", verbose=1, **sizes))


def _fashion() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Pixels from 0 to 1 and classes: 60 000 to train on, 10 000 to test on."""
    table = read_table("fashion-mnist", test=True)
    x, y, count = table.x / np.float32(255), table.y, len(table.x) - table.test
    return x[:count], y[:count], x[count:], y[count:]


def fashion() -> Records:
    """A few thousand pictures, tested on 2000 others."""
    x, y, z, aim = _fashion()
    learners = ["ntk", "quad-neural", "rbf", "ridge", "forest"]
    given = {"test": (z[:2000], aim[:2000]), "sizes": [500, 1000], "splits": 2, "name": "fashion"}
    return told(compare(x, y, learners, verbose=1, **given))


def _alone(name: str, model: object, settings: int) -> Records:
    """One model on all of Fashion-MNIST, its error on the 10 000 test pictures."""
    x, y, z, aim = _fashion()
    mean = x.mean(axis=0)
    began = time.process_time()
    model.fit(x - mean, y)
    fitted = time.process_time() - began
    error = float(np.mean(model.predict(z - mean) != aim))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{name}: error {error:.4f}, {fitted:.0f} s to fit, {memory:.1f} GiB", flush=True)
    row: dict[str, object] = dict.fromkeys(COLUMNS, "")
    row |= {"data": name, "learner": name, "settings": settings, "rows": len(x), "error": f"{error:.6f}"}
    return [row | {"cpu_seconds": f"{fitted:.1f}", "splits": 1, "failed": 0}]


def landmarks() -> Records:
    """The tangent kernel of three hidden layers with 8000 landmarks, its ridge from 5 % of the pictures."""
    ridges = (1e-5, 1e-6, 1e-7)
    given = {"depth": 3, "n_landmarks": 8000, "alphas": ridges, "validation_fraction": 1 / 12, "random_state": 0}
    return _alone("landmarks", NTKClassifier(**given), len(ridges))


def rbf_all() -> Records:
    """A support vector machine on all pictures, with scikit-learn's bandwidth and C = 10, which others have found."""
    from sklearn.svm import SVC

    return _alone("rbf-all", SVC(C=10.0, cache_size=2000), 1)


PIECES: Mapping[str, Callable[[], Records]] = {
    "diabetes": shipped("diabetes", ALL, sizes=[166, 332], splits=3),
    "breast_cancer": shipped("breast_cancer", [*ALL, "logistic"], sizes=[214, 427], splits=3),
    # Boosted trees take too long for ten classes, and have one output.
    "digits": shipped(
        "digits", [*(word for word in ALL if word != "boosting"), "logistic"], sizes=[337, 1347], splits=3
    ),
    "iris": shipped("iris", [*ALL, "logistic"], sizes=[56, 112], splits=3),
    "wine": shipped("wine", [*ALL, "logistic"], sizes=[67, 134], splits=3),
    "linnerud": shipped("linnerud", [word for word in ALL if word != "boosting"], splits=5),
    "control": control,
    "fashion": fashion,
    "landmarks": landmarks,
    "rbf-all": rbf_all,
}


def stored(piece: str) -> list[dict[str, str]]:
    """The records of a piece, none where it was not measured."""
    file = STORED / f"{piece}.csv"
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def store(piece: str, records: Records) -> None:
    STORED.mkdir(exist_ok=True)
    with (STORED / f"{piece}.csv").open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)


# --- The page ---


def tables() -> str:
    """The tables of the page, as Markdown, from what is stored."""
    missing = [piece for piece in PIECES if not stored(piece)]
    lacking = f"Not measured yet: {', '.join(f'`--only {piece}`' for piece in missing)}." if missing else ""
    parts = [_of_tables(), _needed(), _control(), _fashion_table(), lacking]
    return "\n\n".join(part for part in parts if part)


def _last(records: list[dict[str, str]], word: str) -> dict[str, str] | None:
    """The record of a learner at the most rows."""
    own = [record for record in records if record["learner"] == word]
    return max(own, key=lambda record: int(record["rows"])) if own else None


def _cell(record: dict[str, str] | None, best: bool = False, close: bool = False) -> str:
    if record is None:
        return "–"
    if not record["error"]:
        return "failed"
    half = f" ± {(float(record['high']) - float(record['low'])) / 2:.3f}" if record["high"] else ""
    number = f"**{float(record['error']):.3f}**" if best else f"{float(record['error']):.3f}"
    return f"{number}{half}{' =' if close and not best else ''}"


def _grid(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"| {' | '.join('---' for _ in head)} |"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def _of_tables() -> str:
    """Errors at the most rows: a line for each learner, a column for each table."""
    found = {name: stored(name) for name in TABLES if stored(name)}
    head = ["error with all training rows", *(_title(name, records) for name, records in found.items())]
    rows = []
    for word, label in NAMES.items():
        cells = []
        for records in found.values():
            record = _last(records, word)
            best = record is not None and record["behind"] != "" and float(record["behind"]) == 0
            close = record is not None and record["behind_low"] != "" and float(record["behind_low"]) <= 0
            cells.append(_cell(record, best, close))
        rows.append([label, *cells])
    return _grid(head, rows)


def _title(name: str, records: list[dict[str, str]]) -> str:
    return f"{name.replace('_', ' ')}, {max(int(record['rows']) for record in records)} rows"


def _needed() -> str:
    """Rows for the error that the best learner reaches with half of the rows."""
    found = {name: stored(name) for name in TABLES if any(record["asked_error"] for record in stored(name))}
    head = ["training rows that suffice", *(_asked(name, records[0]) for name, records in found.items())]
    rows = [[label, *(_rows(records, word) for records in found.values())] for word, label in NAMES.items()]
    return _grid(head, rows)


def _asked(name: str, record: dict[str, str]) -> str:
    return f"{name.replace('_', ' ')}, error {float(record['asked_error']):.3f}"


def _rows(records: list[dict[str, str]], word: str) -> str:
    own = [record for record in records if record["learner"] == word]
    if not own:
        return "–"
    sizes, status = [int(record["rows"]) for record in own], own[0]["rows_needed_status"]
    bounds = {"right_censored": f"> {max(sizes)}", "left_censored": f"< {min(sizes)}"}
    if status != "observed":
        return bounds.get(status, "failed")
    return f"{float(own[0]['rows_needed']):.0f}" if own[0]["rows_needed"] else "not in every split"


def _curve(piece: str, first: str) -> str:
    """Errors of one piece: a line for each learner, a column for each size; the least of each is bold."""
    records = stored(piece)
    if not records:
        return ""
    sizes = sorted({int(record["rows"]) for record in records})
    at = {(record["learner"], int(record["rows"])): record for record in records}
    least = {size: min(float(at[key]["error"]) for key in at if key[1] == size and at[key]["error"]) for size in sizes}
    rows = []
    for word in dict.fromkeys(record["learner"] for record in records):
        cells = [_cell(at[word, size], float(at[word, size]["error"]) == least[size]) for size in sizes]
        rows.append([NAMES[word], *cells])
    return _grid([first, *map(str, sizes)], rows)


def _control() -> str:
    return _curve("control", "degree 4 in 10 dimensions: error at training rows")


def _fashion_table() -> str:
    parts = [_curve("fashion", "Fashion-MNIST: error at training rows")]
    labels = {"landmarks": "`NTKClassifier(depth=3, n_landmarks=8000)`", "rbf-all": "`SVC(C=10)`"}
    whole = [record for piece in labels for record in stored(piece)]
    rows = [
        [labels[record["learner"]], f"{1 - float(record['error']):.4f}", f"{float(record['cpu_seconds']):.0f} s"]
        for record in whole
    ]
    if len(rows) == len(labels):
        parts.append(_whole_told(*whole))
    if rows:
        parts.append(_grid(["all 60 000 pictures of Fashion-MNIST", "accuracy", "processor time to fit"], rows))
    return "\n\n".join(part for part in parts if part)


def _whole_told(landmarks: dict[str, str], vectors: dict[str, str]) -> str:
    """What the two models of all pictures are beside each other, in words."""
    ours, theirs = (1 - float(one["error"]) for one in (landmarks, vectors))
    share = float(landmarks["cpu_seconds"]) / float(vectors["cpu_seconds"])
    better, worse = ("a support vector machine", "the tangent kernel")[:: 1 if theirs > ours else -1]
    high, low = max(ours, theirs), min(ours, theirs)
    lines = [
        f"On all pictures {better} is more accurate than {worse}: {high:.3f} against {low:.3f}.",
        f"The tangent kernel takes {share:.0%} of the time of the other.",
        "The vector machine's `C` is one that others found, not chosen here.",
    ]
    return "\n".join(lines)


def page(text: str) -> str:
    """The page with its tables as they are stored."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{tables()}\n\n{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=PIECES, help="this piece alone")
    parser.add_argument("--again", action="store_true", help="measure what is stored, too")
    given = parser.parse_args()
    for piece in given.only or PIECES:
        if given.again or not stored(piece):
            began = time.process_time()
            store(piece, PIECES[piece]())
            print(f"{piece}: {time.process_time() - began:.0f} s", flush=True)
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
