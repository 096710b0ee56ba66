"""The manual: it builds without a warning, its links lead somewhere, its code is code, and it asks no other machine."""

import ast
import importlib
import posixpath
import re
import subprocess
import sys

import pytest
import yaml
from bs4 import BeautifulSoup
from sklearn.datasets import load_diabetes
from small_study import STUDY
from sphinx.errors import ExtensionError

from hierlearn.core import registry
from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.command.__main__ import parser
from hierlearn.pipeline.plan import checking

ROOT = PACKAGE.parents[1]
DOCS = ROOT / "docs"
PAGES = [
    *sorted(DOCS.glob("*.md")),
    *sorted(DOCS.glob("components/*.md")),
    ROOT / "config" / "README.md",
    ROOT / "README.md",
]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
BLOCKS = [(page.name, language, text) for page in PAGES for language, text in BLOCK.findall(page.read_text())]
# What an excerpt may leave out.
HEADER = """
from dataclasses import dataclass
from typing import *
from annotated_types import *
from hierlearn.core.needs import *
from hierlearn.core.parameters import *
from hierlearn.core.protocols import *
"""


def blocks(*languages: str) -> list:
    found = [(page, text) for page, language, text in BLOCKS if language in languages]
    return [pytest.param(text, id=f"{page}-{i}") for i, (page, text) in enumerate(found)]


def build(folder, *options):
    """The site's pages, parsed, by their paths, without the ledger; and the folder."""
    words = ["--quiet", "--fail-on-warning", "--keep-going", *options, "-d", folder / "trees", DOCS, folder / "html"]
    done = subprocess.run([sys.executable, "-m", "sphinx", *words], text=True, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    found = {file.relative_to(folder / "html").as_posix(): file for file in (folder / "html").rglob("*.html")}
    pages = {name: file for name, file in found.items() if not name.startswith(("ledger/", "_static/"))}
    return {name: BeautifulSoup(file.read_text(), "html.parser") for name, file in pages.items()}, folder / "html"


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    return build(tmp_path_factory.mktemp("manual"), "-D", "plot_gallery=0")


def lost(pages, folder):
    """Links that lead nowhere."""
    places = {name: {one["id"] for one in page.find_all(id=True)} for name, page in pages.items()}
    places["ledger/index.html"] = set(re.findall(r' id="([^"]+)"', (folder / "ledger" / "index.html").read_text()))
    for name, page in pages.items():
        for link in page.find_all("a", href=True):
            target, _, anchor = link["href"].partition("#")
            if re.match(r"[a-z]+:", target):
                continue
            at = posixpath.normpath(posixpath.join(posixpath.dirname(name), target)) if target else name
            there = places.get(at)
            if not (folder / at).is_file() or (anchor and there and anchor not in there):
                yield f"{name}: {link['href']}"


def test_every_link_leads_to_a_page_and_a_place_on_it(built):
    assert list(lost(*built)) == []


def test_the_ledger_of_the_site_has_its_pictures(built):
    _, folder = built
    page = BeautifulSoup((folder / "ledger" / "index.html").read_text(), "html.parser")
    found = [folder / "ledger" / image["src"] for image in page.select(".findings img")]
    assert len(found) == 4 and all(file.resolve().is_file() for file in found)


@pytest.mark.slow
def test_the_site_has_nine_tutorials_with_their_pictures_and_links_that_lead_somewhere(tmp_path):
    pages, folder = build(tmp_path)
    assert list(lost(pages, folder)) == []
    tutorials = {name: page for name, page in pages.items() if name.startswith("tutorials/plot_")}
    assert len(tutorials) == 9
    for name, page in tutorials.items():
        drawn = page.select("article img.sphx-glr-single-img")
        assert drawn and all((folder / "tutorials" / one["src"]).resolve().is_file() for one in drawn), name


def test_pages_ask_no_other_machine_for_anything(built):
    pages, _ = built
    asked = {
        found
        for page in pages.values()
        for tag, key in (("script", "src"), ("link", "href"), ("img", "src"), ("iframe", "src"))
        for one in page.find_all(tag, **{key: True})
        # A canonical address says where the page is; nobody fetches it.
        if re.match(r"(https?:)?//", found := one[key]) and one.get("rel") != ["canonical"]
    }
    assert asked == set()


def test_every_component_and_study_is_in_the_manual(built):
    pages, _ = built
    for kind in registry.KINDS:
        anchors = {tag["id"] for tag in pages[f"components/{kind}.html"].find_all(id=True)}
        wanted = [f"component-{kind}-{name}".replace("_", "-") for name in registry.available(kind)]
        assert [one for one in wanted if one not in anchors] == []
    studies = {file.stem for file in (ROOT / "config" / "studies").glob("*.yaml")}
    assert studies <= {heading.get_text().rstrip("#¶") for heading in pages["studies.html"].find_all("h3")}


@pytest.mark.parametrize("kind", registry.KINDS)
def test_a_page_of_a_kind_shows_a_file_that_passes_the_check_as_the_page_says(kind, built, tmp_path):
    page = built[0][f"components/{kind}.html"]
    told = [
        line for line in page.select_one("pre").find_parent("article").get_text().splitlines() if " questions " in line
    ]
    written = [one.get_text() for one in page.select("pre") if "class Mine(" in one.get_text()]
    assert len(told) == len(written) == len(registry.rooms(kind))
    for room, text, line in zip(registry.rooms(kind), written, told, strict=True):
        file = tmp_path / room / room / "mine.py"
        file.parent.mkdir(parents=True)
        file.write_text(text)
        words = [f"name={file.stem}", f"folder={file.parents[1]}"]
        done = subprocess.run([sys.executable, ROOT / "tests" / "check.py", *words], text=True, capture_output=True)
        assert done.stdout.strip() == line, done.stderr


@pytest.mark.parametrize("tex", [r"\begin{aligned} a &= b \end{aligned}", r"\nosuchcommand x"])
def test_a_formula_that_browsers_would_not_set_ends_the_build(tex, monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    mathml = importlib.import_module("mathml")
    with pytest.raises(ExtensionError, match="found a command that is not set"):
        mathml.mathml(tex, "inline")


def test_formulas_of_the_models_are_set_as_mathematics(built):
    page = built[0]["models.html"]
    assert len(page.find_all("math")) > 40
    assert "$" not in page.select_one("article").get_text()


def test_every_key_of_the_settings_has_its_line(built):
    pages, _ = built
    settings = yaml.safe_load((PACKAGE / "pipeline" / "schemas" / "config.schema.yaml").read_text())["properties"]
    told = {cell.get_text() for cell in pages["keys.html"].select("td:first-child")}
    assert set(settings) <= told
    assert {"learners.<name>.samples", "claims.<name>.rival", "problem.input"} <= told


def test_every_key_of_a_study_has_a_meaning_a_default_and_an_example(built):
    pages, _ = built
    tables = [table for table in pages["keys.html"].find_all("table") if "example" in table.get_text()]
    rows = [[cell.get_text() for cell in row.find_all("td")] for row in tables[0].find_all("tr")[1:]]
    assert [row[0] for row in rows if not (row[1] and row[3] and row[4])] == []
    every = [[cell.get_text() for cell in row.find_all("td")] for row in pages["keys.html"].select("tr:has(td)")]
    assert [row[0] for row in every if not row[1]] == []
    assert {"claims.<name>.test", "learners.<name>.only", "rivals.<name>.is", "revisions.quick"} <= {
        row[0] for row in rows
    }


def test_functions_that_the_manual_names_are_there(built):
    pages, _ = built
    named = [cell.get_text() for cell in pages["mathematics.html"].select("td:last-child code")]
    assert len(named) > 80
    for name in named:
        module = PACKAGE.joinpath(*name.split(".")).with_suffix(".py")
        if not module.is_file():
            owner, _, last = name.rpartition(".")
            file = PACKAGE.joinpath(*owner.split(".")).with_suffix(".py")
            assert re.search(rf"^\s*(?:def|class) {last}\b", file.read_text(), re.MULTILINE), name


@pytest.mark.parametrize("text", blocks("python"))
def test_python_of_the_pages_runs(text, tmp_path):
    ast.parse(text)
    # Results are there after a run only.
    if "results/" not in text:
        words = [sys.executable, "-c", HEADER + text]
        done = subprocess.run(words, cwd=tmp_path, text=True, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr


def around(excerpt: dict) -> dict:
    """A study with the sections of an excerpt, whose learners are a kernel and another one called mine."""
    content = yaml.safe_load(STUDY) | {"axes": {"dimension": [3, 4, 5]}, "presets": {"standard": {}, "full": {}}}
    kernel = content["learners"]["kernel"]
    content["learners"] = {name: kernel | {"limits": {}} for name in ("kernel", "mine")}
    content |= {"representations": {}, "probes": {}, "claims": {}, "rivals": {}, "revisions": {}}
    for section, part in excerpt.items():
        content[section] = content[section] | part if isinstance(content[section], dict) else part
    return content


@pytest.mark.parametrize("text", [one for one in blocks("yaml") if one.values[0].startswith("title:")])
def test_a_study_on_a_page_has_no_fault(text, tmp_path, monkeypatch):
    # Its table, where it has one, is the page's own.
    monkeypatch.chdir(tmp_path)
    load_diabetes(as_frame=True).frame.to_csv("mine.csv", index=False)
    (tmp_path / "studies").mkdir()
    file = tmp_path / "studies" / "my-study.yaml"
    file.write_text(text)
    _, faults = checking.study(file, "my-study.yaml", "quick")
    assert [str(fault) for fault in faults] == []


# A whole study is checked as it stands.
@pytest.mark.parametrize("text", [one for one in blocks("yaml") if not one.values[0].startswith("title:")])
def test_yaml_of_the_pages_goes_into_a_study(text, tmp_path):
    # A page may tell how to write the component that it names.
    defined = {name.lower() for page, language, code in BLOCKS for name in re.findall(r"^class (\w+)", code, re.M)}
    (tmp_path / "studies").mkdir()
    file = tmp_path / "studies" / "mine.yaml"
    file.write_text(yaml.safe_dump(around(yaml.safe_load(text))))
    _, faults = checking.study(file, "mine.yaml", "quick")
    assert [str(fault) for fault in faults if fault.found.strip("'") not in defined] == []


@pytest.mark.parametrize("text", blocks("bash", ""))
def test_commands_of_the_pages_name_targets_that_there_are(text):
    files = [*(ROOT / "workflow" / "rules").glob("*.smk"), ROOT / "workflow" / "Snakefile"]
    rules = "".join(file.read_text() for file in files)
    targets = {*re.findall(r"^rule (\w+):", rules, re.MULTILINE), "my-study"}
    targets |= {file.stem for file in (ROOT / "config" / "studies").glob("*.yaml")}
    targets |= {name.split("-")[0] for name in targets if "-" in name}
    made = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for line in text.splitlines():
        words = line.split("#")[0].split()
        if words[:1] == ["make"]:
            assert set(words[1:2]) <= made, line
        if words[:1] == ["snakemake"] and words[1:] and not words[1].startswith("-"):
            assert words[1] in targets, line
        if words[:1] == ["hierlearn"]:
            assert parser().parse_args(words[1:]).do, line
