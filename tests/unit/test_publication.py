"""Runs that are stored with the code: study by study, with their commit, a page and the README's table."""

import csv
import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from small_study import STUDY, put, study_of
from test_page import row
from test_rules import rules

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.claims import asked, history
from hierlearn.pipeline.claims.ledger import from_json, to_json
from hierlearn.pipeline.claims.page import findings
from hierlearn.pipeline.command import publication, recording, records
from hierlearn.pipeline.files import checksums, papers, results
from hierlearn.pipeline.plan import registration
from hierlearn.pipeline.plan.configuration import configure

ROOT = PACKAGE.parents[1]
SVG = '<svg viewBox="0 0 400 300" xmlns="http://www.w3.org/2000/svg"></svg>'


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # What these tests leave in the place of judged.nc is its study's name.
    monkeypatch.setattr(publication.rejudging, "current", lambda folder: {})
    Path("README.md").write_text(f"before {findings.BEGIN} old {findings.END} after\n")
    return replace(rules(pilot=False, replicate=0), config=tmp_path / "config")


def run(plan, study, *rows):
    """Leaves what a run of a study leaves."""
    told = [to_json(one) | {"detail": {"sizes_fitted": [1, 2], "bounds": [1] * 999}} for one in rows]
    for name, content in (("claims.json", json.dumps({"rows": told})), ("figure.svg", SVG), ("judged.nc", study)):
        file = Path(plan.targets.file(study, name))
        checksums.write(file, content.encode(), plan.inputs.identity(file))


def mine(claim="C1", study="small", **changes):
    return row(claim=claim, study=study, figure=f"{study}/figure.svg", data=f"{study}/scores.nc", **changes)


def ledger():
    with open("docs/ledger/claims.csv", newline="", encoding="utf-8") as file:
        return {line["claim"]: line for line in csv.DictReader(file)}


def test_what_the_stored_draws_come_to_is_the_outcome_that_pages_and_runs_show(plan, monkeypatch):
    run(plan, "small", mine())
    records.publish(plan)
    monkeypatch.setattr(publication.rejudging, "current", lambda folder: {"C1": "holds"})
    publication.together(Path())
    folder = Path("docs/records")
    folder.mkdir()
    (folder / asked.AGAIN).write_text("row,rank,now\nC1,primary,undecided\nC2,primary,fails\n")
    assert asked.outcomes(folder) == {"C1": "holds", "C2": "fails"}


def test_a_finished_study_is_stored_with_its_rows_its_figure_and_its_page(plan):
    run(plan, "small", mine(), mine("C2", rank="secondary", verdict="not seen"))
    told, broken = records.publish(plan)
    assert (
        not broken
        and told[0] == "small: 2 rows stored"
        and told[1].startswith("probing: not stored: results/quick/probing/claims.json: found no file")
    )
    assert set(ledger()) == {"C1", "C2"}
    assert Path("docs/ledger/small/figure.svg").read_text() == SVG
    assert Path("docs/ledger/small/judged.nc").read_text() == "small"
    page = Path("docs/ledger/index.html").read_text()
    assert 'id="C2"' in page and "Run at commit unknown, preset quick" in page
    # No data are stored, so none are linked.
    assert 'href="small/scores.nc"' not in page and 'href="claims.nc"' not in page
    stored = json.loads(Path("docs/ledger/small/claims.json").read_text())["rows"]
    assert [one["detail"] for one in stored] == [{"sizes_fitted": [1, 2]}] * 2


def test_a_stored_second_draw_stays_until_there_is_another(plan):
    file = Path("docs/ledger/small/claims.json")
    run(plan, "small", mine(), mine("C2"))
    records.publish(plan)
    earlier = [{"claim": "C2", "digest": "abc"}, {"claim": "gone", "digest": "abd"}]
    file.write_text(json.dumps(json.loads(file.read_text()) | {"second": earlier}))
    records.publish(plan)
    assert json.loads(file.read_text())["second"] == earlier[:1]


def test_a_second_draw_is_stored_beside_rows_whose_own_run_is_gone_and_only_of_their_design(plan):
    run(plan, "small", mine(digest="abc"), mine("C2", digest="abd"), mine("C3", digest="abe"))
    records.publish(plan)
    Path(plan.targets.file("small", "claims.json")).unlink()
    drawn = Path(plan.settings["results"], "quick-replicate-1", "small", "claims.json")
    rows = mine(digest="abc", draw="second"), mine("C2", digest="other", draw="second")
    results.write_claims(drawn, [to_json(one) | {"detail": {}} for one in rows], {})
    drawn.with_name("judged.nc").write_text("of the second")
    told = records.publish(plan)[0][0]
    assert Path("docs/ledger/small/judged-2.nc").read_text() == "of the second"
    assert told.startswith("small: not stored: results/quick/small/claims.json: found no file")
    second = json.loads(Path("docs/ledger/small/claims.json").read_text())["second"]
    assert [(row["claim"], row["draw"]) for row in second] == [("C1", "second")]
    # What it shares with the first draw is stored once.
    assert {"value", "verdict"} <= second[0].keys() and not {"statement", "reason", "rule"} & second[0].keys()


@pytest.fixture
def at(tmp_path, monkeypatch):
    """A function: a preset and a seed count -> the plan of one study in a file."""
    monkeypatch.chdir(tmp_path)
    # What these tests leave in the place of judged.nc is its study's name.
    monkeypatch.setattr(publication.rejudging, "current", lambda folder: {})
    Path("README.md").write_text(f"before {findings.BEGIN} old {findings.END} after\n")
    folder = tmp_path / "config" / "studies"
    folder.mkdir(parents=True)

    def configured(preset, **changes):
        (folder / "small.yaml").write_text(yaml.safe_dump(yaml.safe_load(STUDY) | changes))
        return configure({"preset": preset}, tmp_path / "none", folder)

    return configured


def is_older():
    return "older" in json.loads(Path("docs/ledger/small/claims.json").read_text())["study"]


def publish(plan):
    return records.publish(plan)[0][0]


def test_a_study_that_is_stored_at_a_larger_preset_stays(at):
    run(at("full"), "small", mine())
    publish(at("full"))
    before = Path("docs/ledger/small/claims.json").read_text()
    run(at("quick"), "small", mine(verdict="not seen"))
    assert publish(at("quick")) == "small: not stored: docs/ledger has it at full, which is larger than quick"
    assert Path("docs/ledger/small/claims.json").read_text() == before


@pytest.mark.parametrize("asked", ["smoke", "full"])
def test_a_study_stored_at_another_preset_is_older_once_its_design_there_has_changed(at, asked):
    run(at("quick"), "small", mine())
    publish(at("quick"))
    assert "small/claims.json: found no file" in publish(at(asked)) and not is_older()
    # Of the preset that is asked for alone.
    other = yaml.safe_load(STUDY)["presets"]
    other["smoke"]["seeds"] = other["full"]["seeds"] = 4
    publish(at(asked, presets=other))
    assert not is_older()
    publish(at(asked, seeds=5))
    assert is_older()
    run(at("quick", seeds=5), "small", mine())
    publish(at("quick", seeds=5))
    assert not is_older()


def test_a_study_whose_design_is_what_it_was_is_marked_no_more(at):
    run(at("quick"), "small", mine())
    publish(at("quick"))
    shutil.rmtree("results")
    publish(at("quick", seeds=5))
    assert is_older()
    publish(at("quick"))
    assert not is_older()


@pytest.mark.parametrize(
    ("part", "said"), [("code_hash", "the code that judges has"), ("parameters_hash", "code or design has")]
)
def test_the_mark_tells_what_judges_from_what_is_judged(at, part, said):
    run(at("quick"), "small", mine())
    publish(at("quick"))
    file = Path("docs/ledger/small/claims.json")
    stored = json.loads(file.read_text())
    stored["identity"][part] = "of before"
    file.write_text(json.dumps(stored))
    publish(at("full"))
    assert json.loads(file.read_text())["study"]["older"].startswith(said)


def test_a_larger_one_that_stays_is_marked_too(at):
    run(at("full"), "small", mine())
    publish(at("full"))
    changed = {"split_jobs_by": ["dimension", "degree"]}
    run(at("quick", **changed), "small", mine())
    assert "larger than quick" in publish(at("quick", **changed)) and is_older()


SAID = """
cover: {study: small, box: [0, 0, 400, 300]}
papers:
  chen2020:
    study: small
    box: [0, 0, 200, 300]
    shows: A line
    sentences:
    - The slope is {C1} [{C1 interval}], its rival's {C1 control}.
    - That of a row that is not stored is {C7}.
"""


def test_the_readme_has_sentences_with_the_numbers_of_stored_rows_between_its_marks_and_pictures(plan):
    Path("config").mkdir()
    Path(findings.FILE).write_text(SAID)
    run(plan, "small", mine(), mine("C2", rank="secondary"))
    records.publish(plan)
    text = Path("README.md").read_text()
    assert (
        text.startswith(f"before {findings.BEGIN}\n") and text.endswith(f"{findings.END} after\n") and "old" not in text
    )
    assert "\nThe slope is 0.51 [0.25 to 0.75], its rival's 1.9.\n" in text and "C7" not in text
    assert "![A line](docs/pictures/chen2020.svg)" in text
    assert 'viewBox="0 0 200 300"' in Path("docs/pictures/chen2020.svg").read_text()
    page = Path("docs/ledger/index.html").read_text()
    (found,) = page.split('<ul class="findings">')[1].split("</ul>")[0].split("<li>")[1:]
    assert '<img src="../pictures/chen2020.svg" alt="A line">' in found and "The slope is 0.51" in found
    assert 'viewBox="0 0 400 300"' in Path("docs/pictures/cover.svg").read_text()
    records.publish(plan)
    assert Path("README.md").read_text() == text


@pytest.mark.parametrize(
    ("sentence", "told"),
    [
        ("{C1 times} times", "1.7 times"),
        ("{C1 times-interval}", "1.3 to 2.1"),
        ("{C1 percent} %, {C1 inverse}", "51 %, 2.0"),
        ("≤ {C1 predicted} + {C1 slack}, {C1 predicted-percent} %", "≤ 1.0 + 0.2, 100 %"),
        ("{C2 times} times, {C2 times-interval}", "15,000 times, 12,000 to 20,000"),
    ],
)
def test_numbers_stand_in_the_readers_units(sentence, told):
    rows = {"C1": row(), "C2": row(value=-9.6445, low=-9.92, high=-9.36)}
    assert findings.told(sentence, rows) == told


@pytest.mark.parametrize(
    ("sentence", "message"), [("{C7}", "found C7 in a sentence"), ("{C1 log}", "found the form 'log' of C1")]
)
def test_a_sentence_on_what_there_is_not_is_named(sentence, message):
    with pytest.raises(ValueError, match=f"{findings.FILE}: {message}"):
        findings.told(sentence, {"C1": row()})


def test_a_study_that_is_stored_stays_when_another_one_is(plan):
    run(plan, "small", mine())
    records.publish(plan)
    Path(plan.targets.file("small", "claims.json")).unlink()
    run(plan, "probing", mine("P1", "probing"))
    records.publish(plan)
    assert set(ledger()) == {"C1", "P1"}
    assert "Older" not in Path("docs/ledger/index.html").read_text()


def test_a_stored_study_of_another_design_is_marked_until_it_is_run_again(plan):
    run(plan, "small", mine())
    records.publish(plan)
    content = yaml.safe_load(STUDY)
    content["seeds"] = 3
    changed = replace(rules(content, pilot=False, replicate=0), config=plan.config)
    told, _ = records.publish(changed)
    assert told[0].startswith("small: not stored:")
    assert "Older: code or design has changed since commit" in Path("docs/ledger/index.html").read_text()
    run(changed, "small", mine())
    records.publish(changed)
    assert "Older" not in Path("docs/ledger/index.html").read_text()


@pytest.mark.parametrize("settings", [{"pilot": True, "replicate": 0}, {"pilot": False, "replicate": 1}])
def test_pilots_and_replicates_are_not_stored(settings):
    with pytest.raises(ValueError, match="publish: found a pilot or a replicate"):
        records.publish(rules(**settings))


def test_where_nothing_is_finished_nothing_is_written(plan):
    with pytest.raises(ValueError, match="found no study to store"):
        records.publish(plan)
    assert not Path("docs").exists()


@pytest.mark.parametrize("text", ["none", f"{findings.END}{findings.BEGIN}", findings.BEGIN])
def test_a_readme_without_its_marks_is_named(text):
    with pytest.raises(ValueError, match=r"README.md: found no <!--"):
        findings.put(text, "table")


def stored():
    files = sorted((ROOT / publication.FOLDER).glob("*/claims.json"))
    return {file.parent.name: json.loads(file.read_text()) for file in files}


def test_the_readme_and_the_pictures_of_the_project_are_what_the_stored_ledger_gives():
    rows = [from_json({k: v for k, v in one.items() if k != "detail"}) for one in stored_rows()]
    said = findings.read(ROOT / findings.FILE)
    known = asked.read(ROOT / asked.FOLDER, history.read(ROOT / history.FILE)[0])
    text = (ROOT / publication.README).read_text()
    assert findings.put(text, findings.sections(said, rows, papers.said(), known)) == text
    for name, picture in findings.pictures(said, ROOT / publication.FOLDER).items():
        assert (ROOT / findings.PICTURES / f"{name}.svg").read_text() == picture, name


def stored_rows():
    return [row for content in stored().values() for row in content["rows"]]


def test_every_paper_has_five_sentences_and_no_number_of_a_run_in_them_that_is_not_a_rows():
    claims = {one["claim"] for one in stored_rows()}
    for key, found in findings.read(ROOT / findings.FILE)["papers"].items():
        assert len(found["sentences"]) == 5, key
        for sentence in found["sentences"]:
            assert findings.claims(sentence) <= claims, sentence
            # Degrees, dimensions and names of theorems are whole numbers.
            assert not re.search(r"\d[.,]\d", findings.PLACEHOLDER.sub("", sentence).replace("N(d,2)", "")), sentence


def test_the_readme_is_short_and_its_other_parts_have_no_number_of_a_run():
    text = (ROOT / publication.README).read_text()
    assert len(text.split()) <= 900
    before, _, rest = text.partition(findings.BEGIN)
    other = before + rest.partition(findings.END)[2]
    prose = re.sub(r"(?s)```.*?```|`[^`]*`|<[^>]*>", "", other)
    assert set(re.findall(r"\d[\d.,]*\d", prose)) == {"3.11", "95"}
    assert len(before.partition("```")[0].split()) <= 60


def test_what_is_stored_is_small():
    assert sum(file.stat().st_size for file in (ROOT / publication.FOLDER).rglob("*") if file.is_file()) < 8_000_000


def test_what_takes_more_room_than_is_meant_is_said(plan, monkeypatch):
    run(plan, "small", mine())
    assert not any("MB" in line for line in records.publish(plan)[0])
    monkeypatch.setattr(publication, "MOST", 10)
    assert records.publish(plan)[0][-1] == "docs/ledger: figures and judged.nc take 0.0 MB; expected at most 1e-05"


def test_the_stored_page_is_small_and_has_no_tex_left():
    text = (ROOT / publication.FOLDER / "index.html").read_text()
    assert len(text.encode()) < 3_000_000
    seen = re.sub(r"(?s)<(script|style|pre)\b.*?</\1>|<[^>]*>", " ", text)
    assert re.findall(r"[^\n]{0,40}(?:\\[A-Za-z]+|\$[^$\n]+\$)[^\n]{0,20}", seen) == [] and "<math>" in text
    assert 'class="tex"' not in text


def test_every_stored_study_of_another_design_than_the_registered_one_is_marked():
    content = stored()
    presets = {one["study"]["preset"] for one in content.values()}
    unmarked = []
    for preset in presets:
        plan = configure({"preset": preset}, Path("none"), ROOT / "config" / "studies")
        for name in content.keys() & plan.studies.keys():
            designs = registration.of(plan.studies[name], plan.registered)
            of_rows = {one["claim"]: one["digest"] for one in content[name]["rows"] if one["digest"]}
            if content[name]["study"]["preset"] == preset and any(designs.get(k) != v for k, v in of_rows.items()):
                unmarked += [name] * (not content[name]["study"].get("older"))
    assert unmarked == []


def test_what_recording_and_publishing_write_is_no_change_of_a_commit(tmp_path):
    def git(*words):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True, capture_output=True)

    assert recording.commit(tmp_path) == "unknown"
    files = [tmp_path / name for name in ("docs/ledger/claims.csv", "README.md", "config/verdicts.csv", "code.py")]
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("before")
    git("init", "--quiet")
    git("add", ".")
    git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "--quiet", "--message", "first")
    clean = recording.commit(tmp_path)
    assert re.fullmatch("[0-9a-f]{12}", clean)
    for file in files[:3]:
        file.write_text("after")
    (tmp_path / "new.log").write_text("untracked")
    assert recording.commit(tmp_path) == clean
    files[3].write_text("after")
    assert recording.commit(tmp_path) == f"{clean} with uncommitted changes"


def test_stored_rows_of_the_present_design_have_the_present_words(content):
    study = study_of(put(content, "claims.C1-kernel.statement", "In {width} words"), "small", "small.yaml", "quick")
    digest = registration.digests(study)["C1-kernel"]
    row = {"claim": "C1-kernel", "digest": digest, "statement": "old", "outside": "", "remark": "old", "rival": "old"}
    (found,) = publication.reworded([row], study)
    assert (found["statement"], found["remark"], found["rival"]) == ("In 4 words", "", "")
    for other in (row | {"digest": "of another design"}, row | {"claim": "C0"}):
        assert publication.reworded([other], study) == [other]
