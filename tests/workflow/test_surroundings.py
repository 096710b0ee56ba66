"""A run among the settings, files and paths of a user's that could be in the way gives the bytes of a plain run."""

import os
import shutil
from pathlib import Path

import pytest
from conftest import snakemake

MATPLOTLIBRC = "text.usetex: True\naxes.grid: True\nfont.size: 20\nbackend: nonsense\nsavefig.dpi: 33\n"
EARLY = """
import numpy
numpy.seterr(all="raise")
numpy.set_printoptions(precision=2, legacy="1.13")
"""
LITTER = (".DS_Store", "Thumbs.db", "._tiny.yaml", "tiny.yaml~", "#tiny.yaml#", ".tiny.yaml.swp", "tiny.yaml.orig")


def spoil(tree: Path) -> dict[str, str]:
    """Put files in the way of a tree; variables that are in the way too."""
    outside = tree.parent / "outside"
    for file in (tree / "matplotlibrc", outside / "matplotlib" / "matplotlibrc"):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(MATPLOTLIBRC, encoding="utf-8")
    for name in ("site", "temporary \u00e9 {x} %s", "profile"):
        (outside / name).mkdir()
    (outside / "site" / "sitecustomize.py").write_text(EARLY, encoding="utf-8")
    (outside / "profile" / "config.yaml").write_text("printshellcmds: true\n", encoding="utf-8")
    (outside / "gitconfig").write_bytes(b"[nonsense\n\xff")
    study = tree / "config" / "studies" / "tiny.yaml"
    study.write_bytes(b"\xef\xbb\xbf" + study.read_bytes().replace(b"\n", b"\r\n"))
    rooms = [
        tree / "workflow" / "hierlearn" / room
        for room in ("learners", "kernels", "pipeline/figures", "pipeline/claims/page")
    ]
    for folder in (tree / "config" / "studies", tree / "config" / "published", *rooms):
        for name in (*LITTER, *(name.replace(".yaml", ".py") for name in LITTER)):
            (folder / name).write_bytes(b"\x00\x05\x16\x07\xff")
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    return {
        **dict.fromkeys(threads, "7"),
        **{"OMP_DYNAMIC": "true", "OMP_THREAD_LIMIT": "1"},
        **{"MPLBACKEND": "nonsense", "MPLCONFIGDIR": str(outside / "matplotlib"), "MATPLOTLIBRC": str(outside)},
        **{"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"},
        **{"PYTHONOPTIMIZE": "2", "PYTHONWARNINGS": "error", "PYTHONHASHSEED": "42", "PYTHONSAFEPATH": "1"},
        **{"PYTHONSTARTUP": str(outside / "nowhere.py"), "PYTHONPATH": str(outside / "site")},
        **{"NO_COLOR": "1", "FORCE_COLOR": "1", "TERM": "dumb", "COLUMNS": "20", "LINES": "nonsense"},
        **{"SNAKEMAKE_PROFILE": str(outside / "profile"), "TZ": "Asia/Kathmandu"},
        **{"GIT_CONFIG_GLOBAL": str(outside / "gitconfig"), "GIT_DIR": str(outside / "nowhere")},
        **{
            "TMPDIR": str(outside / "temporary \u00e9 {x} %s"),
            "HIERLEARN_OWN": "/nowhere",
            "HIERLEARN_RUN": "/nowhere",
        },
    }


def test_a_path_with_letters_that_the_users_encoding_lacks_is_refused_in_one_line(tree, tmp_path):
    spoiled = shutil.copytree(tree, tmp_path / "\u00e9" / "tree")
    done = snakemake(spoiled, "--dry-run", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    (line,) = done.errors
    assert "found letters that ascii lacks; expected PYTHONUTF8=1" in line and "Traceback" not in done.text
    assert not (spoiled / "results").exists()


def contents(tree: Path) -> dict[str, bytes]:
    """The files of the results, but for what says how long jobs took."""
    results = tree / "results" / "quick"
    files = [file for file in results.rglob("*") if file.is_file()]
    below = {file.relative_to(results): file for file in files}
    return {str(name): file.read_bytes() for name, file in below.items() if name.parts[0] not in ("logs", "benchmarks")}


@pytest.mark.slow
def test_all_that_is_in_the_way_at_once_changes_no_byte(tree, finished, tmp_path):
    spoiled = shutil.copytree(tree, tmp_path / "a b'$HOME#*[c]%s-\u00e9" / "tree")
    variables = spoil(spoiled)
    before = os.umask(0o077)
    try:
        done = snakemake(spoiled, "--cores", "2", **variables)
    finally:
        os.umask(before)
    assert done.code == 0, done.end
    assert "Traceback" not in done.text, done.text
    found, expected = contents(spoiled), contents(finished)
    assert found.keys() == expected.keys()
    assert [name for name in expected if found[name] != expected[name]] == []
    assert "Nothing to be done" in snakemake(spoiled, "--cores", "2").text
