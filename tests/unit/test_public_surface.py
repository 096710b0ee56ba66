"""What `import hierlearn` offers: built, read and loaded without naming a room, and nothing heavy at import time."""

import os
import re
import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import xarray

import hierlearn
from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.command import __main__ as command
from hierlearn.pipeline.files import results
from hierlearn.pipeline.files.netcdf import Variable
from hierlearn.pipeline.run import systems

STUDY = PACKAGE.parents[1] / "config" / "studies" / "bai2020-operator-norm.yaml"


def test_a_component_is_built_by_its_name():
    assert "rbf" in hierlearn.available("kernels")
    assert hierlearn.build("kernels", {"name": "rbf"})(np.zeros((2, 3))).tolist() == [[1.0, 1.0], [1.0, 1.0]]


def test_a_study_is_loaded_at_a_preset_or_refused_with_every_fault(tmp_path):
    assert hierlearn.load_study(STUDY, preset="smoke").paper == "bai2020"
    broken = tmp_path / "broken.yaml"
    broken.write_text(STUDY.read_text().replace("\nseeds:", "\nseed:").replace("\npaper: bai2020", "\npaper: bai"))
    with pytest.raises(ValueError, match=r"(?s)paper: found 'bai'.*seeds?: found"):
        hierlearn.load_study(broken)


def test_results_are_datasets(tmp_path):
    file = tmp_path / "scores.nc"
    made = {"code_hash": "c", "parameters_hash": "p"}
    results.write(file, {"": {"risk": Variable(("seed",), np.array([1.0, 2.0]))}}, made)
    assert hierlearn.load_results(file).risk.values.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("place", [0, 2000, -20])
def test_damaged_results_are_refused_in_one_line_and_a_file_copied_alone_is_read(tmp_path, place):
    file, alone = tmp_path / "scores.nc", tmp_path / "elsewhere.nc"
    results.write(file, {"": {"risk": Variable(("seed",), np.array([1.0, 2.0]))}}, {"code_hash": "c"})
    shutil.copy(file, alone)
    assert hierlearn.load_results(alone).risk.values.tolist() == [1.0, 2.0]
    content = bytearray(file.read_bytes())
    content[place] ^= 1
    file.write_bytes(content)
    with pytest.raises(ValueError, match=rf"^{file}: content: found SHA-256 .*; delete it and run again$"):
        hierlearn.load_results(file)


@pytest.mark.parametrize("given", [3, None, True, ["scores.nc"], "", "a\0b", float("nan"), {}], ids=repr)
def test_what_is_no_path_is_one_line(given):
    for load, what in ((hierlearn.load_results, "results"), (hierlearn.load_study, "study")):
        with pytest.raises(ValueError, match=rf"^{what}: found .*; expected (a path|the name of a file)$"):
            load(given)


@pytest.mark.parametrize("name", ["nowhere", "loop", "pipe", "x" * 300, "below/study.yaml"])
def test_a_path_that_leads_nowhere_is_one_line(tmp_path, name):
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    for load in (hierlearn.load_results, hierlearn.load_study):
        with pytest.raises(ValueError, match=rf"^{tmp_path / name}: found (no|a) file .*\(.+\)[^\n]*$"):
            load(tmp_path / name)


def test_a_path_may_be_bytes_but_no_folder(tmp_path):
    file = tmp_path / "scores.nc"
    with pytest.raises(ValueError, match=rf"^{tmp_path}: found a folder; expected a file of results, such as {file}$"):
        hierlearn.load_results(tmp_path)
    with pytest.raises(ValueError, match=rf"^{file}: found no file to read"):
        hierlearn.load_results(file)
    results.write(file, {"": {"risk": Variable(("seed",), np.array([1.0, 2.0]))}}, {"code_hash": "c"})
    assert hierlearn.load_results(str(file).encode()).risk.values.tolist() == [1.0, 2.0]


@pytest.mark.parametrize("preset", [None, 3, "", "nope", ["smoke"], np.zeros(2)], ids=repr)
def test_a_preset_is_one_of_those_that_there_are(preset):
    with pytest.raises(ValueError, match=r"^preset: found .*; expected one of full, paper, quick, smoke, standard"):
        hierlearn.load_study(STUDY, preset)


def test_only_flags_have_words():
    given = xarray.DataArray([0, 1, 7], attrs={"flag_values": [0, 1], "flag_meanings": "ok diverged"})
    assert hierlearn.in_words(given).values.tolist() == ["ok", "diverged", ""]
    for other in (3, None, given.values, given.drop_attrs()):
        with pytest.raises(ValueError, match=r"^in_words: found .*; expected a variable with flag_values"):
            hierlearn.in_words(other)


def test_other_names_are_told_what_there_is():
    with pytest.raises(AttributeError, match="has no biuld; it has available, build"):
        _ = hierlearn.biuld
    assert {"build", "load_study", "load_results"} <= set(dir(hierlearn))


def test_importing_the_package_loads_nothing_heavy():
    code = "import sys, hierlearn; sys.exit(any(name in sys.modules for name in ('numpy', 'yaml', 'xarray')))"
    assert subprocess.run([sys.executable, "-c", code], cwd=PACKAGE.parent, check=False).returncode == 0


# What Python has on POSIX alone; a module that is None cannot be imported.
POSIX = "import os, sys; sys.modules.update(dict.fromkeys(('fcntl', 'grp', 'pwd', 'resource', 'termios')))"
# Paths of Windows cannot be had elsewhere, so that the rest sees the system as it is.
LIBRARY = f"""
{POSIX}
name, os.name = os.name, "nt"
import hierlearn
os.name = name
print(hierlearn.build("kernels", {{"name": "rbf"}})([[0.0], [0.0]]).tolist())
print(hierlearn.load_study({str(STUDY)!r}, preset="smoke").name)
print(*hierlearn.load_results(sys.argv[1]).risk.values)
"""


def test_without_posix_components_studies_and_results_are_there(tmp_path):
    file = tmp_path / "scores.nc"
    made = {"code_hash": "c", "parameters_hash": "p"}
    results.write(file, {"": {"risk": Variable(("seed",), np.array([1.0, 2.0]))}}, made)
    words = [sys.executable, "-c", LIBRARY, str(file)]
    done = subprocess.run(words, cwd=PACKAGE.parent, text=True, capture_output=True, check=False)
    assert done.stdout.splitlines() == ["[[1.0, 1.0], [1.0, 1.0]]", STUDY.stem, "1.0 2.0"], done.stderr


@pytest.mark.parametrize("begin", [systems.refuse_windows, lambda: command.main(["--help"])], ids=["run", "command"])
def test_the_workflow_refuses_windows_in_one_line(begin, monkeypatch):
    monkeypatch.setattr(systems, "os", SimpleNamespace(name="nt"))
    with pytest.raises(SystemExit) as end:
        begin()
    assert end.value.code == "error: system: found Windows; expected Linux or macOS, or Windows' Subsystem for Linux"


def test_the_workflow_asks_for_its_system_before_it_loads_what_only_posix_has():
    text = (PACKAGE.parent / "Snakefile").read_text()
    asked = text.index("systems.refuse_windows()")
    assert re.findall(r"^from hierlearn.*", text[:asked], re.MULTILINE) == [
        "from hierlearn.pipeline.run import systems"
    ]
    words = [sys.executable, "-c", f"{POSIX}; from hierlearn.pipeline.run import systems; systems.refuse_windows()"]
    assert subprocess.run(words, cwd=PACKAGE.parent, check=False).returncode == 0
