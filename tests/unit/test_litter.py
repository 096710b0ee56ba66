"""What systems and editors leave in the folders that a run looks into: it is ignored, or named in one line."""

from pathlib import Path

import own_folder
import pytest

from hierlearn.core import provenance, registry
from hierlearn.pipeline.plan.configuration import configure

STUDY = "studies/own2026-cusp.yaml"
BINARY = b"\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X        \xff\xfe"
# What is hidden, or has an ending that nobody reads.
IGNORED = [
    *(".DS_Store", "Thumbs.db", "desktop.ini", "studies/.DS_Store", "kernels/Thumbs.db", "._papers.yaml"),
    *("studies/._own2026-cusp.yaml", "studies/._other.yml", "kernels/._cusp.py", "learners/._mine.py"),
    *("published/._own2026.yaml", "studies/.#own2026-cusp.yaml", "studies/#own2026-cusp.yaml#"),
    *("studies/own2026-cusp.yaml~", "studies/own2026-cusp.yaml.orig", "studies/own2026-cusp.yaml.rej"),
    *("studies/.own2026-cusp.yaml.swp", "studies/own2026-cusp.yaml:Zone.Identifier", "kernels/cusp.py:Zone.Identifier"),
    *("studies/.ipynb_checkpoints/own2026-cusp-checkpoint.yaml", "kernels/.ipynb_checkpoints/cusp-checkpoint.py"),
    *("kernels/__pycache__/cusp.cpython-311.pyc", "kernels/cusp.py.orig", "kernels/.cusp.py.swp", "kernels/cusp.py~"),
    *(".ipynb_checkpoints/papers-checkpoint.yaml", "papers.yaml~", "registered.csv:Zone.Identifier"),
]
# What may be meant.
NAMED = {
    "studies/own2026-cusp (1).yaml": "found the file name 'own2026-cusp (1)'",
    "studies/own2026-cusp copy.yaml": "found the file name 'own2026-cusp copy'",
    "kernels/cusp (1).py": "found a name that no class can have",
    "kernels/cusp copy.py": "found a name that no class can have",
}


@pytest.fixture
def mine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("config/studies").mkdir(parents=True)
    own_folder.write(Path("mine"))
    yield Path("mine")
    registry.use(())


def planned():
    return configure({"own": "mine"}, Path("config/config.yaml"), Path("config/studies"))


def put(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)


def test_litter_changes_no_plan_and_no_hash_of_code(mine):
    before = planned()
    names = {kind: registry.available(kind) for kind in registry.KINDS}
    assert "cusp" in names["kernels"]
    hashed = provenance.code_hash([(mine / "kernels" / "cusp.py").resolve()])
    for name in IGNORED:
        put(mine / name, BINARY)
        if name.startswith("studies/"):
            put(Path("config") / name, BINARY)
    Path("mine/studies/.#own2026-other.yaml").symlink_to("somebody@somewhere.1234")
    # The names of components are read again.
    registry.use([])
    provenance._read_beside.cache_clear()
    provenance._read.cache_clear()
    after = planned()
    assert list(after.studies) == list(before.studies)
    assert after.warnings == before.warnings
    assert {kind: registry.available(kind) for kind in registry.KINDS} == names
    assert provenance.code_hash([(mine / "kernels" / "cusp.py").resolve()]) == hashed


def test_what_lies_beside_the_page_changes_no_hash_of_code(tmp_path, monkeypatch):
    room = tmp_path / "page"
    for name in ("index.py", "style.css"):
        put(room / name, b"")
    monkeypatch.setattr(provenance, "_below", lambda file: file.name)
    hashed = provenance.code_hash([room / "index.py"])
    for name in ("._style.css", "style copy.css", ".style.css.swp"):
        put(room / name, BINARY)
    provenance._read_beside.cache_clear()
    provenance._read.cache_clear()
    assert provenance.code_hash([room / "index.py"]) == hashed
    put(room / "script.js", b"")
    provenance._read_beside.cache_clear()
    provenance._read.cache_clear()
    assert provenance.code_hash([room / "index.py"]) != hashed


@pytest.mark.parametrize("name", NAMED)
def test_a_copy_of_a_file_is_named_in_one_line(mine, name):
    put(mine / name, (mine / "kernels/cusp.py" if name.endswith(".py") else mine / STUDY).read_bytes())
    try:
        (line,) = [line for line in planned().warnings if "(register)" not in line]
    except SystemExit as end:
        (line,) = end.code.splitlines()
    assert f"mine/{name}: {NAMED[name]}" in line


@pytest.mark.parametrize("name", ["studies/empty.yaml", "config/studies/empty.yaml", "papers.yaml", "config.yaml"])
def test_an_empty_file_is_named_in_one_line_or_says_nothing(mine, name):
    file = Path("config/config.yaml") if name == "config.yaml" else Path(name) if "config" in name else mine / name
    put(file, b"")
    with pytest.raises(SystemExit) as end:
        planned()
    assert any(f"{file}: found nothing; expected a mapping" in line for line in end.value.code.splitlines())


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"], ids=["", "BOM"])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"], ids=["LF", "CRLF"])
def test_byte_order_marks_and_line_endings_of_other_systems_change_nothing(mine, mark, ending):
    before = planned().studies["own2026-cusp"]
    put(Path("config/config.yaml"), b"preset: quick\n")
    put(
        mine / "registered.csv",
        b"claim,study,preset,revision,digest,draw\nZ9-x,own2026-other,quick,1,0123456789abcdef,d\n",
    )
    for file in (Path("config/config.yaml"), *(file for file in mine.rglob("*") if file.is_file())):
        put(file, mark + file.read_bytes().replace(b"\n", ending))
    after = planned()
    assert after.studies["own2026-cusp"].learners == before.learners
    assert len(after.registered) == 1
