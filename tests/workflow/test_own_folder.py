"""A folder of one's own through a whole run: its kernel is trained, its study is on the page under its paper."""

import re

from conftest import copied, snakemake
from own_folder import write


def test_a_study_of_an_own_folder_is_run_and_shown_and_a_second_run_finds_nothing_to_do(tmp_path):
    tree = copied(tmp_path / "tree")
    before = {file: file.stat().st_mtime_ns for file in tree.rglob("*") if file.is_file()}
    write(tmp_path / "mine")
    words = ["--cores", "1", "--config", "own=[../mine]"]
    done = snakemake(tree, *words)
    assert done.code == 0, done.end
    page = (tree / "results" / "quick" / "index.html").read_text()
    assert "Nobody. A cusp. 2026" in page and 'id="study-own2026-cusp"' in page
    assert (tree / "results" / "quick" / "own2026-cusp" / "all" / "mine.model.nc").is_file()
    assert "Nothing to be done" in snakemake(tree, *words).text
    after = {file: file.stat().st_mtime_ns for file in before if file.is_file()}
    assert after == before


def test_another_workflow_hands_over_folders_of_its_own_in_the_configuration_of_the_module(tree, tmp_path):
    write(tmp_path / "mine")
    module = f"""module hierarchical:
    snakefile: "{tree / "workflow" / "Snakefile"}"
    config: {{"own": ["mine"], "studies": ["own2026-cusp"]}}

use rule * from hierarchical as hierarchical_*

rule last:
    default_target: True
    input: "results/quick/own2026-cusp/figure.svg"
    output: "last.txt"
    shell: "touch {{output}}"
"""
    (tmp_path / "Snakefile").write_text(module)
    words = "--snakefile", str(tmp_path / "Snakefile"), "--dry-run"
    done = snakemake(tree, *words, folder=tmp_path)
    assert done.code == 0, done.end
    jobs = re.findall(r"hierarchical_(\w+)", done.text)
    assert sorted(jobs) == ["aggregate", "evaluate", "figure", "generate", "train"], done.text
    (tmp_path / "Snakefile").write_text(module.replace('"mine"', '"nowhere"'))
    errors = snakemake(tree, *words, folder=tmp_path).errors
    assert any("own[0]: found 'nowhere', which is not there; expected a folder" in error for error in errors)
