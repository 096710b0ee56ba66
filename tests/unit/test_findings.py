"""What was found of each paper in one sentence, with a picture that is cut out of a figure."""

import base64
import io
import math
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import pytest
from test_page import PAPERS, row
from test_publication import run
from test_rules import rules

from hierlearn.pipeline.claims.page import contents, findings
from hierlearn.pipeline.figures._style import blank
from hierlearn.pipeline.files import figures
from hierlearn.pipeline.plan import page_context

BOX = [0, 0, 200, 216]
SAID = {
    "cover": {"study": "all", "box": BOX, "shows": "Everything"},
    "papers": {
        "chen2020": {
            "study": "one",
            "box": BOX,
            "shows": "A line",
            "alone": {"picture": "cover", "sentence": "By itself {C1 times}."},
            "sentences": ["Words.", "First {C2} [{C2 interval}].", "Second {C2}."],
        }
    },
}


def told(*rows, said=SAID):
    return [(one.sentence, one.claims, one.study, one.picture) for one in findings.in_one_sentence(said, rows, PAPERS)]


def test_a_paper_is_told_in_the_sentence_that_stands_by_itself_or_else_in_its_first_one_with_numbers():
    assert told(row(), row(claim="C2")) == [("By itself 1.7.", ("C1",), "all", "cover")]
    assert told(row(claim="C2")) == [("First 0.51 [0.25 to 0.75].", ("C2",), "one", "chen2020")]
    assert told(row(claim="C3")) == told() == []


def test_a_number_that_was_not_measured_is_not_told():
    nothing = {"value": math.nan, "low": math.nan, "high": math.nan}
    assert told(row(**nothing), row(claim="C2"))[0][1] == ("C2",)
    assert told(row(claim="C2", low=math.nan, high=math.nan))[0][0] == "Second 0.51."
    assert told(row(claim="C2", **nothing)) == []


def test_every_paper_of_the_project_has_a_sentence_that_stands_by_itself():
    said = page_context.findings_of_papers()
    alone = {key: one["alone"] for key, one in said["papers"].items()}
    assert list(alone) == ["chen2020", "bai2020", "allenzhu2019", "allenzhu2020"]
    for key, one in alone.items():
        assert findings.claims(one["sentence"]), key
        assert one.get("picture", key) in (findings.COVER, key)
        # An actor or an aim comes first, no word for what an earlier sentence said.
        assert one["sentence"].split()[0] not in ("It", "Its", "Such", "They", "Their"), key
        assert len(one["sentence"].split()) <= 35, key
    assert said[findings.COVER]["shows"] and all(one["shows"] for one in said["papers"].values())


def drawn(width, columns=2):
    """A figure of two panels side by side and two below them, as SVG, with a legend in the first."""
    figure = blank(width, 6)
    for i, axes in enumerate(figure.subplots(2, columns).flat):
        axes.plot([1, 2], [i, i + 1], label="a learner")
        axes.set(title=f"Panel {i}", xlabel="d", ylabel="risk")
    figure.axes[0].legend()
    file = io.StringIO()
    with mpl.rc_context({"svg.fonttype": "none"}):
        figure.savefig(file, format="svg")
    return file.getvalue()


def panels(text):
    """The titles of the panels in a picture, and its size."""
    root = ElementTree.fromstring(text)  # noqa: S314  drawn above
    words = {"".join(one.itertext()) for one in root.iter(f"{figures.SVG}text")}
    return {word for word in words if word.startswith("Panel")}, [float(one) for one in root.get("viewBox").split()]


@pytest.mark.parametrize("width", [6, 8, 12])
def test_the_same_panel_is_found_in_figures_of_several_widths(width):
    text = drawn(width)
    box = figures.around(text, [0, 0, 36 * width, 216])
    titles, (left, top, across, down) = panels(figures.part(text, box))
    assert titles == {"Panel 0"}
    assert (left, top) == (0, 0)
    # Up to the panel beside it and to that below.
    assert 30 * width < across < 40 * width and 180 < down < 230


def test_a_panel_in_the_middle_has_its_labels_and_no_other_panel():
    text = drawn(12, 3)
    box = figures.around(text, [300, 216, 260, 216])
    titles, (left, top, across, _) = panels(figures.part(text, box))
    assert titles == {"Panel 4"} and 200 < left < 330 and top > 200 and across < 330


def test_of_a_figure_without_such_a_panel_the_whole_is_shown():
    assert figures.around(drawn(6), [0, 0, 1, 1]) == [0.0, 0.0, 432.0, 432.0]


def test_a_picture_of_a_run_holds_what_is_cut_out_of_its_figure_with_the_lines_of_its_legend_that_are_there():
    (found,) = findings.in_one_sentence(SAID, [row()], PAPERS)
    said = SAID | {"cover": SAID["cover"] | {"legend": ["a learner", "one of standard"], "at": [40, 30]}}
    address = findings.inline(said, found, drawn(6))
    kind, _, content = address.partition(",")
    assert kind == "data:image/svg+xml;base64"
    text = base64.b64decode(content).decode()
    assert panels(text)[0] == {"Panel 0"} and "a learner" in text and "one of standard" not in text


@pytest.fixture
def plan(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return rules()


def test_the_page_of_a_run_has_the_sentences_whose_studies_it_has(plan):
    run(plan, "small", row(claim="C2", study="small", figure="small/figure.svg", data="small/scores.nc"))
    files = [plan.targets.file("small", name) for name in ("claims.json", "figure.svg")]
    parameters = plan.inputs.job("ledger")[0]
    assert parameters["findings"] == page_context.findings_of_papers()
    said = {"papers": {"chen2020": SAID["papers"]["chen2020"] | {"study": "small"}}}
    parameters |= {"findings": said, "studies": {"small": parameters["studies"]["small"] | {"present": True}}}
    made_from = contents.contents(files[:1], parameters)
    text = contents.html(made_from, parameters, {}, files[1:]).decode()
    (item,) = text.split('<ul class="findings">')[1].split("</ul>")[0].split("<li>")[1:]
    assert '<a class="zoom" href="small/figure.svg"><img src="data:image/svg+xml;base64,' in item
    assert "First 0.51 [0.25 to 0.75]." in item and Path(files[1]).is_file()
    assert 'class="findings"' not in contents.html(made_from, parameters, {}, []).decode()
