"""Tables of a user's own: what is read of csv, npz and idx files, and the one line that is said of wrong ones."""

import csv
import gzip
import hashlib
import struct

import numpy as np
import pytest

from hierlearn.datasets import read_table
from hierlearn.inputs import _table_files
from hierlearn.inputs._table_files import UnreadableTable

TEXT = "age,town,size,price\n1,3,2.5,10.5\n2,4,0.5,11.25\n3,5,7,12\n"


def put(folder, name, content):
    content = content.encode() if isinstance(content, str) else content
    (folder / name).write_bytes(gzip.compress(content, mtime=0) if name.endswith(".gz") else content)
    return folder / name


def npz(folder, name="mine.npz", **arrays):
    np.savez(folder / name, **arrays)
    return folder / name


def idx(values):
    codes = {"uint8": 8, "int16": 11, "float32": 13}
    head = struct.pack(">BBBB", 0, 0, codes[values.dtype.name], values.ndim) + struct.pack(
        f">{values.ndim}I", *values.shape
    )
    return head + values.astype(values.dtype.newbyteorder(">")).tobytes()


def pictures(folder, ending="", rows=(5, 3), side=2):
    made = {}
    for role, count in zip(("train", "t10k"), rows, strict=True):
        x = np.arange(count * side * side, dtype=np.uint8).reshape(count, side, side)
        y = np.arange(count, dtype=np.uint8) % 2
        put(folder, f"{role}-images-idx3-ubyte{ending}", idx(x))
        put(folder, f"{role}-labels-idx1-ubyte{ending}", idx(y))
        made[role] = x, y
    return made


@pytest.mark.parametrize("name", ["mine.csv", "mine.csv.gz"])
def test_a_csv_gives_columns_by_name_and_the_last_one_as_target(tmp_path, name):
    table = read_table(put(tmp_path, name, TEXT))
    assert table.names == ("age", "town", "size")
    assert np.array_equal(table.x, [[1, 3, 2.5], [2, 4, 0.5], [3, 5, 7]])
    assert np.array_equal(table.y, [10.5, 11.25, 12]) and table.classes == ()
    assert table.sha256 == hashlib.sha256(TEXT.encode()).hexdigest()


def test_columns_and_target_are_chosen_by_name_and_in_the_order_asked(tmp_path):
    table = read_table(put(tmp_path, "mine.csv", TEXT), target="size", columns=["price", "age"])
    assert table.names == ("price", "age")
    assert np.array_equal(table.x, [[10.5, 1], [11.25, 2], [12, 3]])
    assert np.array_equal(table.y, [2.5, 0.5, 7])


def test_several_targets_are_several_outputs(tmp_path):
    table = read_table(put(tmp_path, "mine.csv", TEXT), target=["size", "price"])
    assert np.array_equal(table.y, [[2.5, 10.5], [0.5, 11.25], [7, 12]])


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_quotes_other_delimiters_byte_order_marks_and_windows_lines_are_read(tmp_path, delimiter):
    rows = [["a b", "what, where", "kind"], ["1", "2", "red; dark"], ["3", "4", "blue"], ["5", "6", "red; dark"]]
    text = "\ufeff" + "\r\n".join(delimiter.join(f'"{cell}"' for cell in row) for row in rows)
    table = read_table(put(tmp_path, "mine.csv", text))
    assert table.names == ("a b", "what, where")
    assert table.classes == ("blue", "red; dark") and table.y.tolist() == [1, 0, 1]


def test_a_file_of_numbers_alone_names_its_columns(tmp_path):
    table = read_table(put(tmp_path, "mine.csv", "1,2,0\n3,4,1\n"), target="x3")
    assert table.names == ("x1", "x2") and len(table.x) == 2


def test_numbers_written_in_any_form_agree_with_python(tmp_path):
    numbers = np.random.default_rng(0).standard_normal((50, 3)) * 10.0 ** np.arange(-150, 151, 150)
    with (tmp_path / "mine.csv").open("w") as file:
        csv.writer(file).writerows(
            [["a", "b", "c", "y"], *[[*map(repr, map(float, row)), 1.5 * row[0]] for row in numbers]]
        )
    assert np.array_equal(read_table(tmp_path / "mine.csv").x, numbers)


@pytest.mark.parametrize(
    ("labels", "kind", "classes"),
    [
        (["0", "1", "1"], "auto", (0, 1)),
        (["-1", "1", "1"], "auto", (-1, 1)),
        (["0", "1", "1"], "regression", ()),
        (["0.5", "1", "1"], "auto", ()),
        (["true", "false", "true"], "auto", ("false", "true")),
        (["2", "10", "2"], "classes", (2, 10)),
    ],
)
def test_labels_are_classes_or_numbers(tmp_path, labels, kind, classes):
    text = "a,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels))
    table = read_table(put(tmp_path, "mine.csv", text), kind=kind)
    assert table.classes == classes
    if classes:
        assert [str(table.classes[i]) for i in table.y] == labels


def test_many_whole_numbers_are_numbers(tmp_path):
    rows = "".join(f"{i},{i}\n" for i in range(21))
    assert read_table(put(tmp_path, "mine.csv", "a,y\n" + rows)).classes == ()


def test_rows_keep_their_own_labels_where_points_are_equal(tmp_path):
    assert read_table(put(tmp_path, "mine.csv", "a,b,y\n1,2,5\n1,2,-5.5\n")).y.tolist() == [5, -5.5]


def test_npz_arrays_are_read_and_pictures_have_their_shape(tmp_path):
    x, y = np.arange(24, dtype=np.uint8).reshape(3, 2, 2, 2), np.array(["a", "b", "a"])
    table = read_table(npz(tmp_path, X=x, y=y))
    assert table.shape == (2, 2, 2) and table.x.dtype == np.float32
    assert np.array_equal(table.x, x.reshape(3, 8)) and table.classes == ("a", "b")
    table = read_table(npz(tmp_path, x_train=x, y_train=y, x_test=x[:2], y_test=y[1:], other=y[:, None]), test=True)
    assert len(table.x) == 5 and table.test == 2 and table.y.tolist() == [0, 1, 0, 1, 0]
    names = np.array(["u", "v"])
    table = read_table(npz(tmp_path, data=np.eye(2) * 0.1, age=[0.5, 1.5], feature_names=names), "age", ["v"])
    assert table.names == ("v",) and table.x.tolist() == [[0], [0.1]] and table.y.tolist() == [0.5, 1.5]


def test_the_checksum_of_an_npz_is_that_of_its_arrays(tmp_path):
    x, y = np.eye(3), np.arange(3) / 2
    first = read_table(npz(tmp_path, "a.npz", x=x, y=y)).sha256
    np.savez_compressed(tmp_path / "b.npz", y=y, x=x)
    assert read_table(tmp_path / "b.npz").sha256 == first
    assert read_table(npz(tmp_path, "c.npz", x=x, y=-y)).sha256 != first


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_four_idx_files_are_found_in_a_folder_or_beside_the_first(tmp_path, ending):
    made = pictures(tmp_path, ending)
    for file in (tmp_path, tmp_path / f"train-images-idx3-ubyte{ending}"):
        table = read_table(file)
        assert table.shape == (1, 2, 2) and table.test == 0 and table.classes == (0, 1)
        assert np.array_equal(table.x, made["train"][0].reshape(5, 4))
        table = read_table(file, test=True)
        assert table.test == 3 and np.array_equal(table.x[5:], made["t10k"][0].reshape(3, 4))
        assert np.array_equal(table.y, np.concatenate([made["train"][1], made["t10k"][1]]))


def test_the_checksum_says_what_is_in_the_files_not_how_they_are_packed(tmp_path):
    (tmp_path / "plain").mkdir(), (tmp_path / "packed").mkdir()
    pictures(tmp_path / "plain"), pictures(tmp_path / "packed", ".gz")
    assert read_table(tmp_path / "plain").sha256 == read_table(tmp_path / "packed").sha256
    assert read_table(tmp_path / "plain", test=True).sha256 != read_table(tmp_path / "plain").sha256


def test_idx_numbers_of_several_bytes_are_read(tmp_path):
    x = np.array([[1, -300], [2, 4], [5, 6]], np.int16)
    put(tmp_path, "train-images-idx2-short", idx(x))
    put(tmp_path, "train-labels-idx2-short", idx(np.array([0.5, 1, 2], np.float32)))
    assert np.array_equal(read_table(tmp_path / "train-images-idx2-short").x, x)


def test_a_word_stands_for_the_folder_of_a_package(tmp_path, monkeypatch):
    made = pictures(tmp_path)
    monkeypatch.setitem(_table_files.PACKAGED, "fashion-mnist", ("dataset-fashion-mnist", tmp_path))
    assert np.array_equal(read_table("fashion-mnist").x, made["train"][0].reshape(5, 4))
    monkeypatch.setitem(_table_files.PACKAGED, "fashion-mnist", ("dataset-fashion-mnist", tmp_path / "none"))
    with pytest.raises(UnreadableTable, match="Debian's package dataset-fashion-mnist"):
        read_table("fashion-mnist")


def test_test_points_of_a_csv_lie_beside_it(tmp_path):
    put(tmp_path, "mine.csv", TEXT)
    put(tmp_path, "mine.test.csv", "age,town,size,price\n9,9,9,9.5\n")
    table = read_table(tmp_path / "mine.csv", test=True)
    assert table.test == 1 and table.x[-1].tolist() == [9, 9, 9] and table.y[-1] == 9.5


def test_constant_columns_are_named(tmp_path):
    assert read_table(put(tmp_path, "mine.csv", "a,b,c,y\n1,2,0,1.5\n1,3,0,2.5\n")).constant() == ["a", "c"]


SLIP = "a,y\n" + "".join(f"{i},{'1.5 kg' if i == 3 else i / 2}\n" for i in range(1, 30))


def test_text_among_few_numbers_is_classes(tmp_path):
    assert read_table(put(tmp_path, "mine.csv", "a,y\n1,4\n2,6\n3,rotary\n")).classes == ("4", "6", "rotary")


@pytest.mark.parametrize(
    ("text", "settings", "said"),
    [
        (TEXT, {"target": "prise"}, "target: found no column 'prise'; expected .*nearest: price"),
        (TEXT, {"columns": ["agee"]}, "columns: found no column 'agee'; expected .*nearest: age"),
        (TEXT, {"columns": ["price"]}, "columns: found the target 'price'"),
        ("a,b,y\n1,,0\n2,nan,1\n?,3,1\n", {}, r"found 3 missing or infinite values \(a in row 3; b in rows 1, 2\)"),
        ("a,y\n1,\n2,1\n", {}, "y: found 1 missing value in row 1"),
        ("a,b,y\n1,Rome,0\n2,3,1\n", {}, "column b: found text, 'Rome' in row 1; expected numbers"),
        ("a,y\n1,x\n2,x\n", {}, "y: found one class, 'x', in all 2 rows"),
        ("a,y\n1,0.5\n2,0.5\n", {}, "y: found 0.5 in all 2 rows"),
        ("a,y\n1,x\n2,z\n", {"kind": "regression"}, "y: found text, 'x' in row 1; expected numbers"),
        ("a,y\n1,0.5\n2,1.5\n", {"kind": "classes"}, "y: found 0.5; expected classes"),
        ("a,y\n1,0.5\n2,x\n", {"kind": "regression"}, "y: found text, 'x' in row 2; expected numbers"),
        (SLIP, {}, "y: found text, '1.5 kg', in row 3, and numbers in the others; expected numbers alone, or kind: c"),
        ("a,b,y\n1,2,0\n2,1\n", {}, "found 2 cells in row 2; expected 3"),
        ("a,a,y\n1,2,0\n2,1,1\n", {}, "found two columns 'a'"),
        (",a,y\n0,2,0\n1,1,1\n", {}, "found no name for column 1, an index that pandas wrote"),
        ("", {}, "found an empty file"),
        ("a,y\n", {}, "found no row below the names"),
        ("y\n1\n2\n", {}, "found no column beside the target"),
        (TEXT, {"shape": [1, 2, 2]}, "shape: found 1 x 2 x 2 = 4; expected 3 numbers with product 3"),
        (TEXT, {"test": True}, r"found no mine\.test\.csv beside it"),
    ],
)
def test_a_wrong_csv_is_said_in_one_line(tmp_path, text, settings, said):
    with pytest.raises(UnreadableTable, match=said) as error:
        read_table(put(tmp_path, "mine.csv", text), **settings)
    assert "\n" not in str(error.value) and str(tmp_path / "mine.csv") in str(error.value)


def test_a_wide_table_lists_no_thousand_names(tmp_path):
    names = [f"column{i}" for i in range(1000)]
    text = ",".join(names) + "\n" + ",".join("1" for _ in names) + "\n"
    with pytest.raises(UnreadableTable, match=r"one of its 1000 columns \(nearest: column999\)") as error:
        read_table(put(tmp_path, "mine.csv", text), target="colum999")
    assert len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("mine.csv", b"a,y\n\xff,1\n", "line 2 is not UTF-8"),
        ("mine.csv.gz", b"no gz", "damaged or cut gz"),
        ("mine.npz", b"no npz", "no archive of arrays"),
        ("mine.xlsx", b"", "found the ending '.xlsx'"),
        ("mine-idx3-ubyte", b"abc", "found no .* beside it"),
    ],
)
def test_a_file_that_is_none_is_said_in_one_line(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UnreadableTable, match=said) as error:
        read_table(tmp_path / name)
    assert "\n" not in str(error.value)


def test_absent_files_and_folders_without_pictures_are_said(tmp_path):
    with pytest.raises(UnreadableTable, match="found no such file or folder"):
        read_table(tmp_path / "none.csv")
    with pytest.raises(UnreadableTable, match="found no idx file of training pictures"):
        read_table(tmp_path)


def test_a_cut_idx_file_says_how_many_bytes_are_expected(tmp_path):
    pictures(tmp_path)
    file = tmp_path / "train-images-idx3-ubyte"
    file.write_bytes(file.read_bytes()[:-3])
    with pytest.raises(UnreadableTable, match="found 33 bytes; expected 36, for 5 x 2 x 2 numbers"):
        read_table(tmp_path)
    packed = put(tmp_path, "train-images-idx3-ubyte.gz", b"x" * 1000)
    packed.write_bytes(packed.read_bytes()[:-4])
    file.unlink()
    with pytest.raises(UnreadableTable, match=r"ubyte\.gz: found a damaged or cut gz file"):
        read_table(tmp_path)


def test_idx_files_of_different_lengths_and_heads_are_said(tmp_path):
    pictures(tmp_path)
    put(tmp_path, "train-labels-idx1-ubyte", idx(np.zeros(4, np.uint8)))
    with pytest.raises(UnreadableTable, match="expected as many labels as points"):
        read_table(tmp_path)
    put(tmp_path, "train-labels-idx1-ubyte", b"\1\0\x08\1")
    with pytest.raises(UnreadableTable, match="at its head"):
        read_table(tmp_path)


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"x": np.eye(2)}, "found no array 'y'"),
        ({"x": np.eye(2), "y": np.arange(3)}, "beside 2 points"),
        ({"x": np.array([["a", "b"]]), "y": np.arange(1)}, "expected numbers with two axes"),
        ({"x": np.array([[1, None]]), "y": np.arange(1)}, "arrays of Python objects"),
        ({"x": np.array([[1, np.inf], [1, 2]]), "y": np.arange(2)}, r"1 missing or infinite value \(x2 in row 1\)"),
    ],
)
def test_a_wrong_npz_is_said_in_one_line(tmp_path, arrays, said):
    with pytest.raises(UnreadableTable, match=said) as error:
        read_table(npz(tmp_path, **arrays))
    assert "\n" not in str(error.value)
