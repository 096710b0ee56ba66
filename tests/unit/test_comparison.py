"""Comparisons of learners on arrays and files: what is measured, what the output says, and what is refused."""

import csv
import io
import re
import subprocess
import sys
import warnings

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from threadpoolctl import threadpool_info, threadpool_limits

import hierlearn
from hierlearn.comparison import WORDS, Comparison, compare
from hierlearn.comparison.compare import THREADED_ROWS, error_of
from hierlearn.comparison.data import check
from hierlearn.comparison.learners import SETTINGS, learners_of
from hierlearn.comparison.splits import split
from hierlearn.pipeline.command.__main__ import main
from hierlearn.statistics.intervals import split_interval, t_interval


def numbers(rows: int = 80, columns: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A linear target with a little noise."""
    generator = np.random.default_rng(seed)
    X = generator.standard_normal((rows, columns))
    return X, X @ np.arange(1.0, columns + 1) + 0.3 * generator.standard_normal(rows)


def classes(rows: int = 90) -> tuple[np.ndarray, np.ndarray]:
    """Three classes by name, one of them rare."""
    generator = np.random.default_rng(0)
    y = np.repeat(["fox", "hen", "owl"], [rows // 2, rows // 2 - rows // 10, rows // 10])
    centres = {"fox": 0.0, "hen": 3.0, "owl": 6.0}
    return generator.standard_normal((len(y), 2)) + np.array([centres[name] for name in y])[:, None], y


class Recorder(RegressorMixin, BaseEstimator):
    """Predicts 0, and remembers what it was fitted on."""

    seen: list = []  # noqa: RUF012

    def fit(self, X, y):
        self.seen.append(np.asarray(X)[:, 0].astype(int).tolist())
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.zeros(len(X))


class Broken(ClassifierMixin, BaseEstimator):
    """Cannot be fitted."""

    def fit(self, X, y):
        raise RuntimeError("no gears\nand more")

    def predict(self, X):
        return X


def test_errors_are_those_of_a_fit_by_hand():
    X, y = numbers()
    found = compare(X, y, [LinearRegression()], splits=3, sizes=[10, 40])
    drawn = split(check(X, y), 3, 0.25, [10, 40], 0)
    for i in range(3):
        for k, size in enumerate((10, 40)):
            rows, test = drawn.training[i, :size], drawn.test[i]
            score = LinearRegression().fit(X[rows], y[rows]).score(X[test], y[test])
            assert found.errors[0, i, k] == pytest.approx(1 - score, rel=1e-9)


def test_a_mean_has_an_error_of_about_1_and_several_targets_count_alike():
    X, y = numbers(400)
    found = compare(X, np.column_stack([y, 100 * y]), [DummyRegressor()], splits=2)
    assert found.mean("DummyRegressor")[-1] == pytest.approx(1.0, abs=0.05)
    both = np.column_stack([y, -y])
    assert error_of(both, np.column_stack([y, np.full(400, -y.mean())]), False) == pytest.approx(0.5)


def test_training_rows_grow_from_those_before_and_never_meet_test_rows():
    X = np.arange(60.0)[:, None] * [1.0, -1.0]
    Recorder.seen.clear()
    compare(X, np.arange(60.0), ("recorder", Recorder()), splits=2, sizes=[8, 20], kind="regression")
    drawn = split(check(X, np.arange(60.0), "regression"), 2, 0.25, [8, 20], 0)
    assert len(Recorder.seen) == 4
    for i in range(2):
        small, large = Recorder.seen[2 * i : 2 * i + 2]
        assert len(set(large)) == 20 and large[:8] == small
        assert len(set(drawn.test[i].tolist())) == 15 and not set(drawn.test[i].tolist()) & set(large)


def test_every_stretch_of_a_split_has_the_shares_of_the_classes():
    X, y = classes(400)
    drawn = split(check(X, y), 4, 0.25, [50], 3)
    for rows in (*drawn.training[:, :50], *drawn.test):
        for name in np.unique(y):
            assert abs(np.sum(y[rows] == name) - len(rows) * np.mean(y == name)) <= 2


def test_every_word_has_as_many_settings_and_can_be_fitted_with_each():
    for kind, (X, y) in ((False, numbers(60)), (True, classes(60))):
        for word in WORDS:
            if word == "logistic" and not kind:
                continue
            (learner,) = learners_of(word, kind)
            grid = learner.grid(X.shape[1])
            assert len(grid) == SETTINGS and len({str(one) for one in grid}) == SETTINGS, word
            for setting in grid:
                learner.build(len(X), X.shape[1], 0).set_params(**setting)
            if word not in ("forest", "boosting", "mlp"):
                assert learner.build(len(X), X.shape[1], 0).set_params(**grid[0]).fit(X, y).predict(X).shape == y.shape


def test_the_chosen_setting_is_the_best_on_held_out_rows_not_on_test_rows():
    X, y = numbers(120)
    grid = {"n_neighbors": [1, 5, 500]}
    found = compare(X, y, ("near", KNeighborsRegressor(), grid), splits=2, sizes=[60])
    only = [compare(X, y, KNeighborsRegressor(n_neighbors=k), splits=2, sizes=[60]).errors.ravel() for k in (1, 5)]
    # Each error is one that a setting has: 500 neighbours of 60 rows fail, and are never chosen.
    assert all(np.isclose(error, [one[i] for one in only]).any() for i, error in enumerate(found.errors.ravel()))
    assert found.tuning.settings == {"near": 3}


@pytest.mark.parametrize(("rows", "limited"), [(60, True), (THREADED_ROWS, False)])
def test_small_fits_take_one_thread(rows, limited):
    class Counting(DummyRegressor):
        def fit(self, X, y):
            seen.append(max(pool["num_threads"] for pool in threadpool_info()))
            return super().fit(X, y)

    X, y = numbers(2 * THREADED_ROWS)
    for threads in (2, 3):
        seen: list[int] = []
        with threadpool_limits(threads):
            compare(X, y, Counting(), splits=2, sizes=[rows])
        assert set(seen) == {1 if limited else threads}


def test_a_learner_that_fails_leaves_the_others_and_is_told():
    X, y = classes()
    found = compare(X, y, ["ridge", Broken()], splits=2)
    assert np.isfinite(found.errors[0]).all() and np.isnan(found.errors[1]).all() and found.best == "ridge"
    text = str(found)
    assert "note: Broken: 4 of 4 fits failed: no gears" in text
    assert re.search(r"^Broken \(as given\) .*failed", text, re.MULTILINE)


def test_the_table_says_how_errors_intervals_and_tuning_came_about():
    X, y = numbers()
    text = str(compare(X, y, ["ridge", LinearRegression()], splits=3, name="mine"))
    for told in (
        "mine: 80 rows, 3 columns, a target of numbers",
        "1 - R²",
        "3 random splits with 20 test rows each",
        "Nadeau and Bengio",
        f"among {SETTINGS} settings on the same rows (3 folds below 250",
        "(as given): fitted with the parameters",
        "what the best reaches with 30 rows",
    ):
        assert told in text
    assert "\n\n\n" not in text and max(map(len, text.splitlines())) < 180


def test_a_constant_column_is_told_and_kept():
    X, y = numbers()
    X[:, 1] = 4.0
    found = compare(X, y, "ridge", splits=2)
    assert found.constant == ["column 1"] and "Constant, so of no use: column 1." in str(found)


def test_seeds_give_the_same_numbers_and_others_other_splits():
    X, y = numbers()
    first, again, other = (compare(X, y, ["quad-neural"], splits=2, random_state=seed) for seed in (1, 1, 2))
    assert np.array_equal(first.errors, again.errors)
    assert not np.array_equal(first.errors, other.errors)


def made(errors: np.ndarray, sizes: list[int], ratio: float = 1 / 3, asked: float | None = None) -> Comparison:
    """A comparison with given errors (learners, splits, sizes)."""
    X, y = numbers()
    found = compare(X, y, DummyRegressor(), splits=2, sizes=[10])
    names = [f"learner {i}" for i in range(len(errors))]
    tuning = type(found.tuning)(dict.fromkeys(names, 6), 3, 250, 0.2)
    own = {"learners": names, "errors": errors, "seconds": np.ones(errors.shape), "tuning": tuning, "notes": []}
    return Comparison(**vars(found) | own | {"sizes": sizes, "ratio": ratio, "asked": asked})


def test_rows_for_an_error_are_read_off_the_curves():
    # Errors 10/n and 20/n reach 0.1 at 100 and at 200 rows.
    sizes = np.array([50, 100, 200, 400])
    errors = np.stack([np.tile(c / sizes, (3, 1)) for c in (10.0, 20.0)])
    found = made(errors, sizes.tolist(), asked=0.1)
    assert [found.needed(name).rows.value for name in found.learners] == pytest.approx([100.0, 200.0])
    assert found.best == "learner 0" and found.behind("learner 1").value == pytest.approx(10 / 400)
    assert "100 (100 to 100)" in str(found)


@pytest.mark.parametrize(("asked", "said"), [(0.001, "> 400"), (0.9, "< 50")])
def test_an_error_beyond_the_curves_is_a_bound(asked, said):
    sizes = [50, 100, 200, 400]
    found = made(np.tile(10 / np.array(sizes), (1, 3, 1)), sizes, asked=asked)
    assert said in str(found) and np.isnan(found.needed("learner 0").rows.value)


def test_the_error_asked_by_default_is_that_of_the_best_with_half_the_rows():
    errors = np.stack([np.tile([0.4, 0.3, 0.2], (2, 1)), np.tile([0.5, 0.25, 0.22], (2, 1))])
    assert made(errors, [10, 20, 40]).threshold == pytest.approx(0.25)


def test_intervals_over_splits_are_wider_by_what_splits_share():
    values = np.array([0.1, 0.2, 0.4, 0.3])
    found, plain = split_interval(values, 1 / 3), t_interval(values)
    # Nadeau and Bengio: variance (1/J + n_test/n_train) s^2 in the place of s^2/J.
    s = values.std(ddof=1)
    half = 3.1824463052842629 * np.sqrt((1 / 4 + 1 / 3) * s**2)
    assert (found.value, found.high - found.value) == pytest.approx((0.25, half), rel=1e-9)
    assert split_interval(values, 0.0) == plain
    with pytest.raises(ValueError, match="ratio -1"):
        split_interval(values, -1.0)


def test_the_correction_covers_where_plain_intervals_do_not():
    """The error of a fixed rule: its true value is known, and splits of one table share most test rows over many."""
    generator, covered = np.random.default_rng(0), np.zeros(2)
    for _ in range(300):
        wrong = generator.random(40) < 0.3
        values = np.array([wrong[generator.permutation(40)[:20]].mean() for _ in range(15)])
        intervals = t_interval(values), split_interval(values, 1.0)
        covered += [one.low <= 0.3 <= one.high for one in intervals]
    assert covered[0] / 300 < 0.75 and covered[1] / 300 > 0.9


def test_the_csv_has_a_line_for_each_learner_and_size(tmp_path):
    X, y = numbers()
    found = compare(X, y, ["ridge", DummyRegressor()], splits=3)
    text = found.to_csv(tmp_path / "found.csv")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert (tmp_path / "found.csv").read_text() == text
    assert [(row["learner"], int(row["rows"])) for row in rows] == [
        (name, size) for name in found.learners for size in found.sizes
    ]
    for row in rows:
        name, place = row["learner"], found.sizes.index(int(row["rows"]))
        assert float(row["error"]) == pytest.approx(found.mean(name)[place], abs=1e-6)
        assert float(row["low"]) <= float(row["error"]) <= float(row["high"])


def test_the_figure_shows_every_learner_and_who_is_best(tmp_path):
    X, y = classes()
    found = compare(X, y, ["ridge", DummyClassifier()], splits=2, name="animals")
    figure = found.plot(tmp_path / "found.png")
    (axes,) = figure.axes
    assert (tmp_path / "found.png").read_bytes().startswith(b"\x89PNG")
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {"ridge", "DummyClassifier"}
    assert axes.get_title(loc="left").startswith("animals: ridge has the least error at 68 rows")


def test_a_figure_of_learners_that_all_fail_has_no_legend_and_says_nothing_of_it(tmp_path):
    found = compare(*classes(), Broken(), splits=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found.plot(tmp_path / "mine.png").axes[0].get_legend() is None


def test_test_rows_of_their_own_are_used_and_told():
    X, y = numbers(100)
    found = compare(X[:60], y[:60], LinearRegression(), test=(X[60:], y[60:]), splits=2, sizes=[60])
    score = LinearRegression().fit(X[:60], y[:60]).score(X[60:], y[60:])
    assert found.errors.ravel() == pytest.approx([1 - score] * 2)
    assert "tested on the same 40 rows; intervals are of these draws" in str(found)


class Frame:
    """What pandas and polars give: columns with names, and an array."""

    def __init__(self, values, columns):
        self.values, self.columns = values, columns

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


X, Y = numbers(20)
HOLE = X.copy()
HOLE[[3, 7], [1, 2]] = np.nan, np.inf
WORDS_TOLD = "one of boosting, forest, logistic, mlp, ntk, quad, quad-neural, rbf, ridge"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"X": HOLE}, "X: rows 3, 7, column 1, column 2: found 2 values that are missing or not finite"),
        ({"X": Frame(HOLE, ["age", "size", "price"])}, "X: rows 3, 7, size, price: found 2 values"),
        ({"X": [[1.0, "red"]] * 20}, "X: row 0, column 1: found 'red'; expected a number"),
        ({"X": Frame([[1.0, "red"]] * 20, ["a", "b"]), "y": Y}, "X: row 0, b: found 'red'"),
        ({"X": np.array([[1.0, "red"]] * 20, object)}, "X: row 0, column 1: found 'red'; expected a number"),
        ({"X": X[:, 0]}, "X: found shape (20,); expected rows and columns"),
        ({"X": np.ones((20, 2))}, "X: found column 0, column 1, all constant"),
        ({"y": Y[:10]}, "y: found shape (10,); expected a label for each of the 20 rows of X"),
        ({"y": np.where(np.arange(20) == 4, np.nan, Y)}, "y: found no label in rows 4"),
        ({"y": np.ones(20)}, "y: found one class, 1.0; expected at least 2 classes"),
        ({"y": np.ones(20), "kind": "regression"}, "y: found 1 in every row; expected a target that varies"),
        ({"y": ["a"] * 20}, "y: found one class, 'a'"),
        ({"y": ["a", *"b" * 19]}, "y: found 1 of class 'a' among 15 training rows; expected at least 2"),
        ({"y": ["a", "b"] * 10, "kind": "regression"}, "y: found labels that are no numbers"),
        (
            {"y": np.arange(20) % 19},
            "y: found 1 of class 0 among 15 training rows; expected at least 2 of every class; "
            "give larger sizes, or say kind 'regression' if these are numbers",
        ),
        ({"X": X[:4], "y": Y[:4]}, "X: found 4 rows, 3 of them to train on; expected 4 or more of these"),
        ({"kind": "clases"}, "kind: found 'clases'; expected one of auto, classes, regression (nearest: classes)"),
        ({"learners": "ntks"}, f"learners: found 'ntks'; expected {WORDS_TOLD} (nearest: ntk), or an estimator"),
        ({"learners": []}, "learners: found none"),
        ({"learners": ["ntk", "ntk"]}, "learners: found 'ntk' twice; expected names that differ"),
        ({"learners": LinearRegression}, "learners: found <class"),
        ({"learners": 3}, "learners: found 3; expected a word, an estimator or (name, estimator)"),
        ({"learners": KNeighborsClassifier()}, "learners: found KNeighborsClassifier for a target of numbers"),
        ({"learners": "logistic"}, "learners: found 'logistic' for a target of numbers"),
        (
            {"learners": ("near", KNeighborsRegressor(), {"n_neighbors": list(range(1, 9))})},
            "learners: near has 8 settings; expected at most 6, as all have",
        ),
        (
            {"learners": ("near", KNeighborsRegressor(), {"neighbors": [1, 2]})},
            "learners: near has no neighbors; expected one of algorithm",
        ),
        ({"test": 1.0}, "test: found 1.0; expected a share between 0 and 1, or a pair (X, y)"),
        ({"test": 0.001}, "test: a share of 0.001 leaves 0 of 20 rows for testing"),
        ({"test": (X[:, :2], Y)}, "test X: found shape (20, 2); expected 3 columns, as X has"),
        ({"sizes": [8, 16]}, "sizes: found 16; expected whole numbers from 4 to 15, the training rows"),
        ({"sizes": []}, "sizes: found none"),
        ({"splits": 1}, "splits: found 1; expected a whole number of at least 2"),
        ({"error": 0}, "error: found 0; expected a number above 0"),
        ({"random_state": None}, "random_state: found None; expected a whole number of at least 0"),
    ],
    # Workers have to agree on the names.
    ids=lambda part: part[:40] if isinstance(part, str) else "+".join(part),
)
def test_what_cannot_be_compared_is_one_line(changed, said):
    given = {"X": X, "y": Y, "learners": "ridge"} | changed
    with pytest.raises(ValueError, match=f"^{re.escape(said)}") as refused:
        compare(**given)
    assert "\n" not in str(refused.value)


def test_the_door_is_one():
    assert hierlearn.compare is compare


# --- The command ---


def table(folder, rows=60):
    """A csv file with a column of no use and one that is called price."""
    X, y = numbers(rows)
    lines = [",".join(f"{value:.6f}" for value in (*row, 1.0, label)) for row, label in zip(X, y, strict=True)]
    file = folder / "mine.csv"
    file.write_text("\n".join(["age,size,rooms,same,price", *lines]) + "\n")
    return file


def said_by(capsys, *words):
    with pytest.raises(SystemExit) as end:
        main(["compare", *map(str, words)])
    return end.value.code, capsys.readouterr()


def test_a_file_becomes_a_table_a_csv_and_a_figure(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, told = said_by(capsys, table(tmp_path), "--target", "price", "--learners", "ntk", "ridge", "--splits", 2)
    assert not code
    assert "mine: 60 rows, 4 columns, a target of numbers" in told.out and "Constant, so of no use: same." in told.out
    assert "split 2 of 2" in told.err and "split" not in told.out.splitlines()[0]
    rows = list(csv.DictReader((tmp_path / "mine-comparison.csv").open()))
    assert {row["learner"] for row in rows} == {"ntk", "ridge"} and {row["data"] for row in rows} == {"mine"}
    assert (tmp_path / "mine-comparison.png").is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--target", "prize"], "mine.csv: target: found no column 'prize'; expected one of age, price, rooms"),
        (["--learners", "foresst"], f"learners: found 'foresst'; expected {WORDS_TOLD} (nearest: forest)"),
        (["--test", "half"], "--test: found 'half'; expected a share between 0 and 1, or file"),
        (["--test", "file"], "mine.csv: found no mine.test.csv beside it"),
        (["--sizes", "99"], "sizes: found 99; expected whole numbers from 4 to 45, the training rows"),
        (["--out", "nowhere/x"], "--out: found no folder nowhere; expected one that is there"),
    ],
)
def test_a_wrong_word_is_one_line_and_writes_nothing(tmp_path, monkeypatch, capsys, words, said):
    monkeypatch.chdir(tmp_path)
    code, told = said_by(capsys, table(tmp_path).name, *words)
    assert code.startswith(f"error: {said}") and "\n" not in code and not told.out
    assert [file.name for file in tmp_path.iterdir()] == ["mine.csv"]


def test_the_command_does_without_the_workflow(tmp_path):
    """Neither Snakemake nor what reads studies and results is there."""
    blocked = ("snakemake", "yaml", "jsonschema", "jinja2", "xarray", "netCDF4", "matplotlib", "torch")
    words = ["compare", str(table(tmp_path)), "--learners", "ridge", "--splits", "2"]
    code = f"""
import sys
import warnings
class Blocked:
    def find_spec(self, name, *more):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Blocked())
from hierlearn.pipeline.command.__main__ import main
main({words!r})
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "note: plot: found no matplotlib" in done.stderr and (tmp_path / "mine-comparison.csv").is_file()
