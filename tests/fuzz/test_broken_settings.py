"""Whatever stands in config.yaml or behind --config: a setting that cannot be used is refused, any other is taken."""

import itertools
import re
from pathlib import Path

import pytest
from snakemake.cli import parse_config

from hierlearn.pipeline.plan.configuration import configure

# Settings with those of the values below that they may have; Snakemake reads a tag as nothing, and words as words.
COMMAND_LINE = {
    "preset": ("quick ",),
    "studies": ("[]", "!!python/object/apply:os.getcwd []"),
    "results": ("zz", "QUICK", "null", "a-b/c", "true", "false", "quikc", "quick ", "x\n"),
    "keep_models": ("true", "True", "false"),
    "partial": ("true", "True", "false"),
    "memory_limit_mb": ("7", "1000000000000000"),
    "own": ("[]", ".", "!!python/object/apply:os.getcwd []"),
    "question": (),
}
# YAML itself reads null and truth values, and takes numbers without a point for words.
IN_A_FILE = COMMAND_LINE | {
    "studies": ("[]",),
    "own": ("[]", "."),
    "results": ("zz", "QUICK", "a-b/c", "quikc", "quick ", "1e3", "1e999", "nan"),
}
VALUES = (
    *("", "7", "0", "-7", "1.5", "1e3", "1e999", "nan", "1000000000000000", "true", "True", "false", "null", "~"),
    *("zz", "QUICK", "quikc", "quick ", "[]", "{}", "[zz]", "[[zz]]", "[zz, zz]", "[3]", "{zz: 1}", "{preset: full}"),
    *("a-b/c", "../x", "/x", ".", "..", ".x", "a/../b", "a b", "a\\b", "$HOME", "x\n", "а", "a\u200bb", "*x", "&x"),
    *("a: [", "!!python/object/apply:os.getcwd []", "!x", "<<", "x" * 300, "[" * 500, "{a: " * 40 + "1" + "}" * 40),
)
UNKNOWN = ("prezet=quick", "study=[x]", "Preset=quick", "preset_=1", "__class__=1", "keep-models=true", "seeds=3")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A working folder beside a folder of studies that is empty."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config").mkdir()
    (tmp_path / "studies").mkdir()
    return tmp_path


def refusal(given) -> list[str]:
    before = sorted(Path().rglob("*"))
    try:
        configure(given, Path("config/config.yaml"), Path("studies"))
    except SystemExit as end:
        return end.code.splitlines()
    finally:
        assert sorted(Path().rglob("*")) == before
    return []


def judged(lines: list[str], key: str, valid: bool) -> bool:
    """Whether a setting was taken or refused as it should be, in lines that all name it."""
    start = rf"error: config/config\.yaml( with --config)?: {re.escape(key)}\S*: found .+; expected .+"
    return lines == [] if valid else bool(lines) and all(re.fullmatch(start, line) for line in lines)


def test_settings_on_the_command_line(here, record_property):
    failing = []
    for key, value in itertools.product(COMMAND_LINE, VALUES):
        lines = refusal(parse_config([f"{key}={value}"]))
        if not judged(lines, key, value in COMMAND_LINE[key]):
            failing.append(f"{key}={value[:40]!r}: {lines or 'taken'}")
    for word in UNKNOWN:
        if not judged(refusal(parse_config([word])), word.split("=")[0], False):
            failing.append(word)
    count = len(COMMAND_LINE) * len(VALUES) + len(UNKNOWN)
    record_property("--config", f"{count - len(failing)} of {count} refused, or taken where they are sound")
    assert not failing, "\n".join(failing)


@pytest.mark.parametrize("key", COMMAND_LINE)
def test_several_wrong_settings_are_one_line_each(here, key):
    words = [f"{key}=[[]]", "unheard_of=1", "keep_model=true"]
    lines = refusal(parse_config(words))
    assert len(lines) == 3
    assert any("keep_model: found an unknown key" in line and "(nearest: keep_models)" in line for line in lines)


FILES = {
    "empty": b"",
    "only a comment": b"# preset: full\n",
    "a word": b"preset",
    "a list": b"- preset: quick\n",
    "two documents": b"preset: quick\n---\npreset: full\n",
    "a tab": b"preset:\n\t- quick\n",
    "not UTF-8": "preset: quick # Größe\n".encode("latin-1"),
    "UTF-16 without a mark": "preset: quick\n".encode("utf-16-le"),
    "NUL": b"preset: qu\0ick\n",
    "a control character": b"preset: qu\x07ick\n",
    "an open bracket": b"studies: [a\n",
    "an open quote": b"results: 'a\n",
    "a duplicate key": b"preset: quick\npreset: quick\n",
    "a duplicate key in braces": b"{preset: quick, preset: full}\n",
    "an unknown alias": b"preset: *size\n",
    "an object of Python": b"preset: !!python/object/apply:os.getcwd []\n",
    "a key that is a list": b"? [preset]\n: quick\n",
    "a key that is a number": b"3: quick\n",
    "a key that is a truth value": b"on: quick\n",
    "not a number": b"memory_limit_mb: .nan\n",
    "a number of too many digits": b"memory_limit_mb: " + b"9" * 10_000 + b"\n",
    "a tag that its value denies": b"preset: !!bool x\n",
    "a number of many digits": b"memory_limit_mb: " + b"9" * 400 + b"\n",
    "a date that is none": b"preset: 2026-13-45\n",
    "deep lists": b"studies: " + b"[" * 400 + b"]" * 400 + b"\n",
    "very deep lists": b"studies: " + b"[" * 100_000 + b"\n",
    "deep mappings": b"preset: " + b"{a: " * 300 + b"1" + b"}" * 300 + b"\n",
    "an alias inside its own anchor": b"studies: &x [*x]\n",
    "a key inside its own anchor": b"preset: &x {a: *x}\n",
    "aliases of aliases": b"a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    + b"".join(b"a%d: &a%d [%s]\n" % (i, i, b", ".join([b"*a%d" % (i - 1)] * 10)) for i in range(1, 12)),
    "merged aliases of aliases": b"a0: &a0 {x: 1}\n"
    + b"".join(b"a%d: &a%d {l: *a%d, r: *a%d}\n" % (i, i, i - 1, i - 1) for i in range(1, 40)),
    "a chain of aliases": b"a0: &a0 [x]\n" + b"".join(b"a%d: &a%d [*a%d]\n" % (i, i, i - 1) for i in range(1, 300)),
    "a netCDF file": b"\x89HDF\r\n\x1a\n" + bytes(200),
    "too long": b"# a comment\n" * 200_000,
}


@pytest.mark.parametrize("content", FILES.values(), ids=FILES)
def test_files_that_are_no_usable_yaml(here, content):
    Path("config/config.yaml").write_bytes(content)
    (line, *others) = refusal({})
    assert line.startswith("error: config/config.yaml: ")
    assert "; expected " in line
    assert others == []


def test_places_where_no_file_is(here):
    for make in (Path.mkdir, lambda path: path.symlink_to(path.name)):
        file = Path("config/config.yaml")
        make(file)
        (line,) = refusal({}) or [""]
        assert "cannot be read" in line
        file.rmdir() if file.is_dir() else file.unlink()


def test_results_where_a_file_is(here):
    Path("taken").write_text("")
    for results in ("taken", "taken/below"):
        (line,) = refusal({"results": results})
        assert "results: found" in line
        assert "where a file is; expected a folder" in line


def test_values_in_the_file(here, record_property):
    failing, count = [], 0
    for key, value in itertools.product(IN_A_FILE, VALUES):
        if value.isprintable() and len(value) < 500:
            Path("config/config.yaml").write_text(f"{key}: {value}\n")
            lines = refusal({})
            count += 1
            # Of what is no YAML the line is named.
            if not judged(lines, key, value in IN_A_FILE[key]) and not judged(lines, "line 1", False):
                failing.append(f"{key}: {value[:40]!r}: {lines or 'taken'}")
    record_property("config.yaml", f"{count - len(failing)} of {count} refused, or taken where they are sound")
    assert not failing, "\n".join(failing)


NAMES = (
    "Study.yaml",
    "a_b.yaml",
    "a b.yaml",
    "-a.yaml",
    "a--b.yaml",
    "all.yaml",
    "train.yaml",
    "chen2020.yaml",
    "а.yaml",
)


@pytest.mark.parametrize("name", [*NAMES, "x\n.yaml", "é.yaml", "x" * 61 + ".yaml", "x.yml", "~.yaml"])
def test_names_of_studies_that_are_no_names(here, name):
    (here / "studies" / name).write_text("title: x\n")
    (line,) = refusal({})
    assert line.startswith("error: config/studies/")
    assert "; expected " in line
