"""The page shows every row, and says it in HTML that holds together."""

import math
import re
from html.parser import HTMLParser

import pytest
from bs4 import BeautifulSoup

from hierlearn.pipeline.claims.asked import Asked, Records
from hierlearn.pipeline.claims.ledger import Row
from hierlearn.pipeline.claims.page import index
from hierlearn.pipeline.claims.page.findings import Finding
from hierlearn.pipeline.claims.verdicts import SCOPES
from hierlearn.pipeline.files import papers
from hierlearn.pipeline.plan.replicates import Draw

STUDY = {"title": "A <b>study</b> & more", "paper": "chen2020", "place": "Theorem 1", "summary": "s", "present": True}


def row(**changes):
    content = {
        "claim": "C1",
        "paper": "chen2020",
        "place": "Theorem 1",
        "kind": "rate",
        "rank": "primary",
        "regime": "limit",
        "statement": "slope < 1 & <script>alert(1)</script>",
        "rule": "upper",
        "side": "above" if changes.get("rule") == "ordering" else "",
        "value": 0.51234,
        "low": 0.25,
        "high": 0.75,
        "predicted": 1.0,
        "slack": 0.2,
        "rival": "another <learner>",
        "control_value": 1.9,
        "control_low": 1.8,
        "control_high": 2.0,
        "control_verdict": "fails",
        "verdict": "consistent",
        "sizes": "d = 10–28",
        "reason": "wholly at most 1.2",
        "skipped": "",
        "outside": "",
        "remark": "",
        "before": "",
        "preset": "quick",
        "draw": "",
        "revision": "",
        "digest": "",
        "seeds": 5,
        "flops": 2.5e12,
        "study": "one",
        "figure": "one/figure.svg",
        "data": "one/scores.nc",
    }
    return Row(**(content | changes))


PAPERS = papers.said() | {
    "own2026": {"name": "Own", "citation": "Nobody. A paper. 2026", "link": "", "bibtex": ""},
}


def page(rows, studies, preset, details=None, note=""):
    details = details or {row.claim: {} for row in rows}
    return index.page(rows, details, studies, preset, {"versions": "python <3>"}, PAPERS, note)


def contents(text):
    """The list of studies with their counts."""
    return text.split('<nav id="studies"')[1].split("</nav>")[0]


class Balanced(HTMLParser):
    VOID = ("meta", "img", "br", "link", "input")

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], []

    def handle_starttag(self, tag, attributes):
        self.seen.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def parsed(text):
    parser = Balanced()
    parser.feed(text)
    assert parser.open == []
    return parser


def test_a_page_says_that_it_is_a_pilot():
    told = Draw(pilot=True).note()
    assert told.startswith("A pilot") and told in page([row()], {"one": STUDY}, "quick", note=told)
    assert "pilot" not in page([row()], {"one": STUDY}, "quick", note=Draw().note()).lower()


def test_what_a_study_says_is_text_and_never_markup():
    text = page([row(), row(claim="C2", reason='"quoted" <i>')], {"one": STUDY}, "quick")
    assert parsed(text).seen.count("script") == 1
    assert "slope &lt; 1 &amp; &lt;script&gt;" in text
    assert "A &lt;b&gt;study&lt;/b&gt; &amp; more" in text
    assert "<i>" not in text


def test_the_page_says_what_made_it():
    assert '<meta name="versions" content="python &lt;3&gt;">' in page([row()], {"one": STUDY}, "quick")


def test_every_row_stands_in_the_table_of_its_study():
    rows = [row(), row(claim="C2", verdict="not seen"), row(claim="B1", study="two", verdict="inconclusive")]
    text = page(rows, {"one": STUDY, "two": STUDY | {"paper": "bai2020"}}, "quick")
    first, second = text.split('<section class="study" id="study-two"')
    assert 'id="C1"' in first
    assert 'id="C2"' in first
    assert 'id="B1"' in second
    told = " ".join(text.split())
    assert "3 rows by kind: 3 rate. Of the 3 judged rows, checks apart: 1 passes, 1 fails, 1 undecided;" in told
    assert 'src="two/figure.svg"' in second


def test_the_fitted_sizes_stand_beside_a_row_and_slopes_between_them_do_not():
    detail = {"sizes_fitted": [6, 8, 10], "local": [{"value": 1.234}, {"value": -0.5}]}
    sizes = {"numbers": {"C1": {"unit": "slope", "sizes": [6, 8, 10]}}}
    text = page([row()], {"one": STUDY | sizes}, "quick", {"C1": detail})
    assert "; fitted to 6, 8, 10</p>" in text and "1.23" not in text


def test_a_row_says_which_learners_mostly_chose_an_end_of_their_learning_rates():
    one = {"learner": "resnet", "rate": 0.2, "end": "largest", "count": 8, "of": 10}
    told = "; resnet chose 0.2, the largest of its learning rates, in 8 of 10 trainings"
    text = page([row()], {"one": STUDY}, "quick", {"C1": {"edges": [one, one | {"control": True}]}})
    assert f"{told}{told} of the rival<" in text
    assert "learning rates" not in page([row()], {"one": STUDY}, "quick", {"C1": {}})


def test_a_number_says_what_it_is():
    units = {"numbers": {"C1": {"unit": "slope"}}}
    text = page([row(), row(claim="C2")], {"one": STUDY | units}, "quick")
    assert text.count("0.512 [0.25, 0.75] slope<") == 1 and "<b>0.512</b> [0.25, 0.75] slope <span>predicted" in text
    assert text.count("0.512 [0.25, 0.75]<") == 1


def test_a_logarithm_is_shown_as_a_factor_and_stands_in_the_details():
    units = {"numbers": {"C1": {"unit": "log ratio"}}}
    said = row(value=math.log(2.3), low=math.log(1.9), high=math.log(2.8), reason="the interval is wholly above 0.693")
    rivals = [{"rival": "a kernel", "value": math.log(3), "low": None, "high": None, "result": "undecided"}]
    text = page([said], {"one": STUDY | units}, "quick", {"C1": {"rivals": rivals}})
    assert "<b>2.3 times</b> [1.9, 2.8] <span>predicted ≤ 2.72 × 1.22<" in text
    assert '<dd class="measured">2.3 times [1.9, 2.8]</dd>' in text and "<dd>≤ 2.72 × 1.22</dd>" in text
    assert "<dd>6.69 [6.05, 7.39] fails: another" in text and "<dd>3 undecided: a kernel</dd>" in text
    assert "the interval is wholly above 2<" in text and "0.693" not in text
    logarithms = "measured 0.833 [0.642, 1.03], predicted ≤ 1 + 0.2, rival 1.9 [1.8, 2]"
    assert text.count(f"<dt>logarithms</dt><dd>{logarithms}</dd>") == 1 == text.count("0.833")
    # So says the drawing: its labels, and what those hear who do not see it.
    assert (
        ">3.32</text>" in text and 'aria-label="measured 2.3 times [1.9, 2.8], predicted ≤ 2.72 × 1.22, rival' in text
    )


def test_the_page_leads_to_how_it_is_read():
    rows = [row()], {"C1": {}}, {"one": STUDY}, "quick", {}, PAPERS
    assert '<a href="../../docs/reading.md">' in index.page(*rows, reading="../../docs/reading.md")
    assert "How to read" not in index.page(*rows)


def test_a_row_shows_its_kind_its_control_and_its_verdict_with_the_sizes():
    text = page([row()], {"one": STUDY}, "quick").split('<article class="row')[1]
    assert '<span class="primary">primary</span>; rate, at these sizes' in text
    assert "1.9 [1.8, 2] fails: another &lt;learner&gt;" in text
    assert '<span aria-hidden="true">✓</span> passes</span><span class="sizes">at d = 10–28</span>' in text
    within = page([row(regime="within", verdict="supported")], {"one": STUDY}, "quick").split("<article")[1]
    assert "✓</span> passes</span>" in within and "; rate, as stated" in within and 'class="sizes"' not in within
    lacking = row(rival="", control_verdict="missing", verdict="inconclusive")
    assert "<dd>none yet</dd>" in page([lacking], {"one": STUDY}, "quick")


def test_what_was_found_before_stands_apart_from_the_reason():
    text = index.page([row()], {"C1": {}}, {"one": STUDY}, "quick", {}, PAPERS, earlier={"C1": "revision 1: not seen"})
    assert "<p>revision 1: not seen</p>" in text.split('<details class="why earlier">')[1].split("</details>")[0]


def test_a_paper_tells_how_many_of_its_primary_rows_pass_in_the_order_of_their_names():
    rows = [row(claim="C10"), row(claim="C2", verdict="not seen"), row(claim="C3", rank="secondary")]
    lines = page(rows, {"one": STUDY}, "quick").split('<section class="paper"')[1].split("</section>")[0]
    assert [line.split('"')[0] for line in lines.split('<a href="#')[1:]] == ["C2", "C10"]
    assert "<b>1</b> passes" in lines and "<b>1</b> fails" in lines and "undecided" not in lines


def test_rows_are_counted_by_their_results():
    words = ("supported", "consistent", "extends", "extends", "contradicted", "inconclusive")
    found = index.outcomes(row(claim=f"C{i}", verdict=word) for i, word in enumerate(words))
    told = ["passes", "fails", "undecided"]
    assert [(name, count) for _, name, count in found] == list(zip(told, (4, 1, 1), strict=True))


def test_secondary_rows_are_folded_under_the_primary_row_whose_name_is_most_like_theirs():
    names = {"C1": "primary", "C1-p4": "primary", "C1-p4-bare": "secondary", "C1-n": "secondary", "D1": "secondary"}
    found = index.groups([row(claim=name, rank=rank) for name, rank in names.items()])
    assert [(first and first.claim, [one.claim for one in others]) for first, others in found] == [
        ("C1", ["C1-n"]),
        ("C1-p4", ["C1-p4-bare"]),
        (None, ["D1"]),
    ]


def test_a_row_is_counted_under_its_kind_and_its_scope():
    rows = [row(), row(claim="C2", kind="open", regime="", verdict="ends"), row(claim="C3", verdict="not seen")]
    assert index.by_kind_and_scope(rows) == [
        ("rate", {name: [] for name in SCOPES} | {"at these sizes": [("✓", "passes", 1), ("✗", "fails", 1)]}),
        ("open", {name: [] for name in SCOPES} | {"ours": [("✗", "fails", 1)]}),
    ]


def test_studies_stand_in_the_order_of_their_papers_and_papers_that_are_not_known_last():
    studies = {name: STUDY | {"paper": name} for name in ("own2026", "bai2020", "chen2020")}
    text = page([row()], studies, "quick")
    places = [text.index(f'class="study" id="study-{name}"') for name in ("chen2020", "bai2020", "own2026")]
    assert places == sorted(places)


def test_a_study_tells_its_settings_its_file_its_panels_and_how_its_data_are_opened():
    told = {
        "settings": [("seeds", "5")],
        "file": "../one.yaml",
        "panels": [("a", "Risk", ["C1"])],
        "draw": "one/quick/1",
    }
    text = page([row()], {"one": STUDY | told | {"figure_size": [400, 300]}}, "quick")
    assert "<dt>seeds</dt><dd>5</dd>" in text and 'href="../one.yaml"' in text and "<b>a</b> Risk (<a" in text
    assert 'href="#figure-one">panel a</a>' in text
    assert "<dd>one/quick/1</dd>" in text and 'width="400" height="300"' in text
    assert 'xarray.open_dataset("results/quick/one/scores.nc")' in text.replace("&#34;", '"')


def test_the_page_counts_what_chance_rejects_and_what_has_no_control_and_claims_no_registration():
    rows = [row(), row(claim="C2", rule="two-sided", control_verdict="missing", verdict="inconclusive")]
    rows += [row(claim="C3", kind="check", regime="", verdict="supported")]
    rows += [row(claim="C4", rule="bound", slack=math.nan)]
    text = " ".join(page(rows, {"one": STUDY}, "quick").split())
    # One end of the upper bound and two of the two-sided rule; the check and the inequality without an interval none.
    assert "at 3 boundaries up to 0.1 false results are to be expected by chance" in text
    assert "Of the 3 judged rows" in text and "1 without a rival, which is still to be designed" in text
    assert "and none on a registered design. Of the 3 primary rows among them 2 are decided" in text
    registered = page([row(digest="ab"), row(claim="C2", rank="secondary")], {"one": STUDY}, "quick")
    assert "1 on a registered design. Of the 1 primary rows among them 1 is decided" in " ".join(registered.split())
    assert "before the run" not in text


@pytest.mark.parametrize(
    ("verdict", "shown"),
    [
        ("supported", "✓</span> passes<"),
        ("extends", "✓</span> passes<"),
        ("contradicted", "✗</span> fails<"),
        ("not seen", "✗</span> fails<"),
        ("ends", "✗</span> fails<"),
        ("vacuous", "○</span> no test<"),
        ("inconclusive", "?</span> undecided<"),
    ],
)
def test_every_word_of_the_files_has_a_result_and_counts_in_its_column(verdict, shown):
    text = page([row(verdict=verdict, sizes="")], {"one": STUDY}, "quick")
    assert shown in text and verdict not in text.split("<main>")[1].split("</main>")[0].replace(f"{verdict}=", "")
    counts = contents(text)
    assert counts.count(">1</td>") == 1


def test_checks_are_counted_apart_and_are_no_evidence():
    check = {"kind": "check", "regime": "", "control_verdict": "", "rival": "", "verdict": "supported"}
    rows = [row(), row(claim="C2", **check), row(claim="C3", **check | {"verdict": "contradicted"})]
    counts = contents(page(rows, {"one": STUDY}, "quick"))
    assert ">✓ 1 ✗ 1</td>" in counts and counts.count(">1</td>") == 1


def test_mathematics_of_a_study_and_of_a_row_is_set():
    study = STUDY | {"title": "Growth in $d$", "summary": "The ridge is $\\lambda$."}
    stated = row(statement="As $m^{-1/4}$ at $\\alpha$", rival="$W_0$", reason="at $\\sigma$")
    text = page([stated], {"one": study}, "quick")
    said = text.split("<main>")[1].split("</main>")[0].replace("Figure of Growth in $d$", "")
    said = re.sub('data-latex="[^"]*"', "", said)
    assert "$" not in said and "<msub><mi>W</mi>" in said and "<mi>σ</mi>" in said


def test_a_missing_study_is_listed_and_has_no_section():
    text = page([row()], {"one": STUDY, "two": STUDY | {"title": "The other", "present": False}}, "quick")
    assert "or of an earlier configuration or code:</strong> The other" in text
    assert 'id="study-two"' not in text


def test_a_row_without_numbers_shows_dashes():
    nothing = {name: math.nan for name in ("value", "low", "high", "predicted", "slack")}
    nothing |= {"rival": "", "control_verdict": "", "control_value": math.nan, "control_low": math.nan}
    nothing |= {"control_high": math.nan, "kind": "description", "regime": ""}
    empty = row(**nothing, verdict="", rule="descriptive", seeds=0, flops=0.0)
    text = page([empty], {"one": STUDY}, "quick")
    parsed(text)
    assert "nan" not in text.split("<main>")[1].split("</main>")[0]
    assert "no rule" in text


def test_a_study_without_claims_says_so_in_place_of_a_table():
    text = page([row()], {"one": STUDY, "two": STUDY}, "quick")
    parsed(text)
    first, second = text.split('<section class="study" id="study-two"')
    assert "Data: <a" in first and "no claims" not in first
    assert "This study makes no claims." in second and "Data:" not in second and second.count("<article") == 0


def test_a_page_without_any_claim_says_so():
    text = page([], {}, "smoke")
    parsed(text)
    assert "0 rows. Of the 0 judged rows, checks apart: none;" in " ".join(text.split())


def test_a_secondary_row_without_a_panel_names_that_of_the_primary_row_that_it_is_folded_under():
    rows = [row(), row(claim="C1-more", rank="secondary"), row(claim="D1", rank="secondary")]
    text = page(rows, {"one": STUDY | {"panels": [("b", "T", ["C1"])]}}, "quick")
    links = [part.split("</a>")[0] for part in text.split('href="#figure-one">')[1:]]
    assert links == ["panel b", "figure, beside panel b", "figure"]


def test_scope_and_broken_hypotheses_of_a_row_stand_without_a_click_in_the_list_of_its_paper_too():
    said = {"regime": "beyond", "verdict": "extends", "outside": "squared loss, no Lipschitz one", "skipped": "size 4"}
    shown = re.sub("(?s)<details.*?</details>", "", page([row(**said)], {"one": STUDY}, "quick"))
    line = shown.split('<li class="line">')[1].split("</li>")[0]
    assert "Theorem 1</a> <b>outside</b>" in line and "<b>broken</b>: squared loss, no Lipschitz one</p>" in line
    assert shown.count("no Lipschitz one") == 2 and "size 4" not in shown
    plain = page([row()], {"one": STUDY}, "quick").split('<li class="line">')[1].split("</li>")[0]
    assert "Theorem 1</a> <b>at these sizes</b>" in plain and "broken" not in plain


def test_under_the_headline_stands_a_sentence_of_each_paper_with_its_figure_and_where_its_rows_stand():
    found = Finding("chen2020", "Representations", "A *power* of 0.51 < 1", ("C1",), "one", "chen2020", "A line")
    given = [row(), row(claim="C2")], {"C1": {}, "C2": {}}, {"one": STUDY}, "quick", {}, PAPERS
    text = index.page(*given, findings=[(found, "small.svg", "one/figure.svg")], stored={"C1": "holds"})
    parsed(text)
    (item,) = text.split('<ul class="findings">')[1].split("</ul>")[0].split("<li>")[1:]
    assert '<a class="zoom" href="one/figure.svg"><img src="small.svg" alt="A line">' in item
    assert '<a href="#paper-chen2020">Representations</a> A <em>power</em> of 0.51 &lt; 1</p>' in item
    assert 'href="#C1"' in item and 'href="#C2"' not in item
    assert "passes</span>" in item and "stored: <b" in item
    assert text.index("primary rows, what each") < text.index('class="findings"') < text.index('id="read"')
    assert 'class="findings"' not in index.page(*given)


def test_counts_of_the_headline_and_of_papers_lead_to_their_rows():
    rows = [row(), row(claim="C2", verdict="not seen"), row(claim="C3", verdict="ends", regime="beyond")]
    text = page(rows, {"one": STUDY}, "quick")
    headline, of_paper = (part.split("</p>")[0] for part in text.split('<p class="count')[1:])
    asked = 'class="against" href="?{}rank=primary&amp;standing=fails#all"><b>2</b> fail</a>'
    assert asked.format("") in headline and asked.format("paper=chen2020&amp;") in of_paper
    assert 'class="for" href="?rank=primary&amp;standing=passes#all"><b>1</b> passes</a>' in headline


def test_a_primary_row_whose_limit_was_seen_is_not_among_those_that_the_headline_counts():
    known = {name: Asked((), 1, "holds", "holds") for name in ("C1", "C2")}
    records = Records(known, {}, {}, 0, 0, 0, 0, 0, frozenset(), seen=frozenset({"C2"}))
    rows, studies = [row(), row(claim="C2")], {"one": STUDY | {"seen": ["C2"]}}
    text = index.page(rows, {"C1": {}, "C2": {}}, studies, "quick", {}, PAPERS, records=records)
    assert "<b>1</b> holds</a>" in text.split('<p class="count')[1]
    ranks = dict(re.findall(r'<article [^>]*id="(C.)"[^>]*data-rank="(\w+)"', text))
    assert ranks == {"C1": "primary", "C2": "apart"}


def test_every_row_carries_its_line_in_latex_and_the_page_the_rest_of_the_table_and_the_papers():
    slope = {"numbers": {"C1": {"unit": "slope"}}}
    text = page([row(statement="At most $d^2$ & 5 %")], {"one": STUDY | slope}, "quick")
    soup = BeautifulSoup(text, "html.parser")
    line = soup.find(id="C1")["data-latex"]
    limit = r"$\le 1 + 0.2$"
    assert line == rf"C1 & At most $d^2$ \& 5 \% & $0.512$ [0.25, 0.75] slope & {limit} & passes \\"
    citations = soup.find(id="citations")
    assert "tabular" in citations["data-head"] and "tabular" in citations["data-foot"]
    assert [one["data-paper"] for one in citations.find_all("span")] == ["chen2020"]
    assert citations.span["data-entry"].startswith("@inproceedings{chen2020,")
    # No script, no use for buttons; a paper of one's own may have no entry.
    assert [button.text for button in soup.select(".copy[hidden] button")] == ["Copy as LaTeX", "BibTeX"]
    unknown = page([row(paper="own2026")], {"one": STUDY | {"paper": "own2026"}}, "quick")
    assert [button.text for button in BeautifulSoup(unknown, "html.parser").select(".copy button")] == ["Copy as LaTeX"]


def test_the_legend_speaks_of_every_rival_and_not_of_a_control():
    text = re.sub("<[^>]*>", "", page([row()], {"one": STUDY}, "quick").split("<main>")[1].split("</main>")[0])
    assert "every rival" in text and "control" not in text


def test_a_draw_has_a_light_mark_beside_the_stored_outcome_and_outcomes_have_none():
    rows = [row(claim="C1", verdict="extends"), row(claim="C2", verdict="extends")]
    details, said = {one.claim: {} for one in rows}, ({"one": STUDY}, "quick", {}, PAPERS)
    text = index.page(rows, details, *said, stored={"C1": "fails"})
    assert text.count('class="chip for draw" title="of one draw"') == 4
    # Among the rows of its paper and in its study.
    assert text.count('stored: <b class="against">✗ fails</b>') == 2
    known = Records({"C1": Asked((), 1, "holds", "holds")}, {}, {}, 0, 0, 0, 0, 0, frozenset())
    judged = index.page(rows, details, *said, records=known)
    assert judged.count('class="chip for"') == judged.count('class="chip open"') == 2
    assert "chip for draw" not in judged
    assert "stored:" not in judged


def test_every_rival_that_was_added_stands_in_its_row():
    rivals = [
        {"rival": "a kernel", "value": 1.5, "low": 1.25, "high": 1.75, "result": "fails"},
        {"rival": "a longer run", "value": 1.5, "low": None, "high": None, "result": "undecided"},
        {"rival": "two rounds", "value": None, "low": None, "high": None, "result": "undecided"},
    ]
    text = index.page([row()], {"C1": {"rivals": rivals}}, {"one": STUDY}, "quick", {}, PAPERS)
    for told in ("1.5 [1.25, 1.75] fails: a kernel", "1.5 undecided: a longer run", "not measured: two rounds"):
        assert f"<dd>{told}</dd>" in text


def test_a_description_has_neither_a_prediction_nor_a_rival():
    nothing = {"rule": "descriptive", "predicted": math.nan, "slack": math.nan, "rival": "", "control_verdict": ""}
    text = page([row(kind="description", regime="", verdict="", **nothing)], {"one": STUDY}, "quick")
    assert "<dt>measured</dt>" in text and "<dt>predicted</dt>" not in text and "<dt>rival</dt>" not in text
