"""The page in a real browser: its filters, links, folds and figures work, at every width, in light and in dark."""

import itertools
import re
from dataclasses import replace

import pytest
from browser import chromium, executable
from test_page import row

from hierlearn.core.registry import PACKAGE
from hierlearn.pipeline.claims.ledger import csv_text
from hierlearn.pipeline.claims.page import index
from hierlearn.pipeline.claims.page.findings import Finding
from hierlearn.pipeline.claims.tally import comparison
from hierlearn.pipeline.claims.verdicts import KINDS, REGIMES
from hierlearn.pipeline.files import papers

pytestmark = pytest.mark.skipif(executable() is None, reason="no Chromium (Debian's package chromium)")

STORED = PACKAGE.parents[1] / "docs" / "ledger" / "index.html"
# As matplotlib writes it: with a size.
SIZE = 'width="400pt" height="300pt" viewBox="0 0 400 300"'
SVG = f'<svg xmlns="http://www.w3.org/2000/svg" {SIZE}><path d="M0 0L400 300" stroke="blue"/></svg>'
LONG = r"$L(\hat W)+\lambda\|\hat W\|^4\le L(W_\star)+9\lambda\|W_\star\|^4+s/2$ of a-word-" + "that-is-long" * 3


def ledger():
    """Rows of two kinds with every verdict, in three studies of two papers."""
    rows = []
    for i, (kind, word) in enumerate((kind, word) for kind in ("theorem", "rate") for word in (*index.MARKS,) if word):
        regime = next((name for name, pair in REGIMES.items() if word in pair), "limit")
        study = ("one", "two", "three")[i % 3]
        paper = "bai2020" if study == "two" else "chen2020"
        told = {"claim": f"C{i}", "kind": kind, "regime": regime, "verdict": word, "study": study, "paper": paper}
        rows.append(row(**told, statement=f"Statement {i}: {LONG}", rank="primary" if i % 2 else "secondary"))
    return rows


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    rows = ledger()
    study = {
        "title": "A study of $d$",
        "place": "Theorem 1",
        "summary": "s",
        "present": True,
        "figure_size": [400, 300],
    }
    studies = {name: study | {"paper": "bai2020" if name == "two" else "chen2020"} for name in ("one", "two", "three")}
    for name in studies:
        (folder / name).mkdir()
        (folder / name / "figure.svg").write_text(SVG)
    made, other = folder / "index.html", folder / "claims.csv"
    there = {"verdict": "inconclusive", "preset": "standard", "value": -0.123, "low": -0.1234, "high": 0.000123}
    other.write_text(csv_text([replace(row, **there) for row in rows[:5]]))
    compared = comparison(rows, str(other))
    said = {"versions": "none"}, papers.said()
    studies["one"]["numbers"] = {row.claim: {"unit": "log ratio"} for row in rows}
    sentence = "A *network* needs samples as d to the power 1.25, its kernel as d to the power 2"
    found = [
        Finding(key, f"Of {key}", sentence, ("C1", "C3"), "one", key, "Samples") for key in ("chen2020", "bai2020") * 2
    ]
    shown = [(one, "one/figure.svg", "one/figure.svg") for one in found]
    details = {row.claim: {} for row in rows}
    made.write_text(index.page(rows, details, studies, "quick", *said, compared=compared, findings=shown))
    return made


@pytest.fixture(scope="module")
def tab():
    with chromium() as tab:
        yield tab


@pytest.fixture
def page(tab, file):
    tab.complaints.clear()
    tab.show(1200)
    tab.open("about:blank")
    tab.open(file.as_uri())
    yield tab
    assert tab.complaints == []


SHOWN = "[...document.querySelectorAll('article.row:not([hidden])')]"
SETTLED = "new Promise(done => requestAnimationFrame(() => setTimeout(done)))"


def choose(page, key, value):
    page(f"(() => {{ const f = document.querySelector('#{key}'); f.value = {value!r};"
         " f.dispatchEvent(new Event('input', {bubbles: true})); })()")  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value", "data"),
    [
        ("paper", "bai2020", "paper"),
        ("kind", "rate", "kind"),
        ("scope", "outside", "scope"),
        ("standing", "fails", "standing"),
    ],
)
def test_a_filter_shows_the_rows_that_it_names_and_only_their_studies(page, key, value, data):
    choose(page, key, value)
    shown = page(f"{SHOWN}.map(row => row.dataset.{data})")
    everything = page(f"document.querySelectorAll('article.row[data-{data}={value}]').length")
    assert set(shown) == {value} and len(shown) == everything
    assert page("document.querySelector('#found').textContent") == f"{len(shown)} row{'s' * (len(shown) != 1)}"
    assert page(
        "[...document.querySelectorAll('.study:not([hidden])')].every(s => s.querySelector('article:not([hidden])'))"
    )
    assert page(f"{SHOWN}.every(row => row.getClientRects().length > 0)")


def test_words_are_looked_for_in_all_that_a_row_says(page):
    choose(page, "text", "statement 3: theorem")
    assert page(f"{SHOWN}.map(row => row.id)") == ["C3"]
    choose(page, "text", "Statement  1")
    assert page(f"{SHOWN}.map(row => row.id)") == ["C1"] and len(ledger()) > 11
    choose(page, "text", "c(a.b")
    assert page(f"{SHOWN}.length") == 0
    choose(page, "text", "nothing of the kind")
    assert page(f"{SHOWN}.length") == 0
    page("document.querySelector('.filters').reset()")
    page(SETTLED)
    assert page(f"{SHOWN}.length") == len(ledger())
    assert page("[...document.querySelectorAll('.study')].every(study => !study.hidden)")


def test_a_filter_is_kept_in_the_address_and_read_from_it(page, file):
    choose(page, "standing", "no test")
    assert page("location.search") == "?standing=no+test"
    page.open(f"{file.as_uri()}?kind=rate&rank=primary")
    assert page("document.querySelector('#kind').value") == "rate"
    assert page(f"{SHOWN}.every(row => row.dataset.kind === 'rate' && row.dataset.rank === 'primary')")


def test_folds_open_for_what_a_filter_finds_and_close_again(page):
    before = page("[...document.querySelectorAll('.fold')].map(fold => fold.open)")
    choose(page, "kind", "rate")
    assert page("[...document.querySelectorAll('.fold:not([hidden])')].every(fold => fold.open)")
    choose(page, "kind", "")
    assert page("[...document.querySelectorAll('.fold')].map(fold => fold.open)") == before


def test_every_link_of_the_page_leads_somewhere(page, file):
    links = page("[...document.querySelectorAll('a[href]')].map(link => link.getAttribute('href'))")
    inner = [link[1:] for link in links if re.fullmatch("#.+", link)]
    assert len(inner) > 20
    assert page(f"{inner!r}.filter(name => !document.getElementById(name))") == []
    beside = {link for link in links if not re.match(r"#|\?|https:|claims\.|.*/(figure.pdf|scores.nc)$", link)}
    assert [link for link in beside if not (file.parent / link).exists()] == []


def test_a_link_to_a_row_opens_the_fold_and_lifts_the_filter_that_hide_it(page):
    folded = next(one.claim for one in ledger() if one.rank == "secondary")
    page("document.querySelectorAll('.fold').forEach(fold => fold.open = false)")
    choose(page, "kind", "rate")
    page(f"location.hash = '#{folded}'")
    page(SETTLED)
    assert page(f"document.getElementById('{folded}').getClientRects().length") == 1
    assert page(f"document.querySelector(':target').id === '{folded}' && document.querySelector('#kind').value === ''")


def test_a_cell_of_the_tally_shows_its_rows(page):
    count = page(
        "(() => { const cell = document.querySelector('.tally td a'); cell.click(); return cell.textContent; })()"
    )
    assert page(f"{SHOWN}.length") == int(count.split()[1])


def test_every_count_of_the_headline_and_of_a_paper_shows_as_many_rows(page, file):
    links = page("[...document.querySelectorAll('.count a')].map(link => [link.textContent, link.href])")
    assert len(links) > 6
    for i, (told, _) in enumerate(links):
        page(f"document.querySelectorAll('.count a')[{i}].click()")
        assert page(f"{SHOWN}.length") == int(told.split()[0]), told
        assert page(f"{SHOWN}.every(row => row.dataset.rank === 'primary')")
    # So it is in another tab.
    page.open(links[0][1])
    assert page(f"{SHOWN}.length") == int(links[0][0].split()[0])


@pytest.mark.skipif(not STORED.is_file(), reason="no stored ledger")
def test_every_count_of_the_stored_page_shows_as_many_rows_and_its_pictures_are_there(page):
    page.open(STORED.as_uri())
    links = "document.querySelectorAll('.count a')"
    found = page(f"[...{links}].map(link => {{ link.click(); return [link.textContent, {SHOWN}.length]; }})")
    assert [one for one in found if int(one[0].split()[0]) != one[1]] == []
    # An image that is not there is refused.
    shown = "[...document.querySelectorAll('.findings img')].map(one => one.decode())"
    assert page(f"Promise.all({shown}).then(all => all.length)") == 4


def copied(page, kind, setting=""):
    """What a click on a button of the row C1 puts into the clipboard."""
    page.ask("Browser.grantPermissions", permissions=["clipboardReadWrite"])
    page(f"{setting}; document.querySelector('#C1 [data-copy={kind}]').focus()")
    page.ask("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    page(SETTLED)
    return page("document.querySelector('#C1 .copy output').textContent")


READ = "Clipboard.prototype.readText.call(window.clipboardOfThePage ?? navigator.clipboard)"
# From a disk some browsers have no clipboard.
WITHOUT = (
    "window.clipboardOfThePage = navigator.clipboard;"
    " Object.defineProperty(navigator, 'clipboard', {value: undefined, configurable: true})"
)


@pytest.mark.parametrize("setting", ["", WITHOUT])
def test_a_row_is_copied_as_a_table_in_latex_and_its_paper_as_bibtex(page, setting):
    assert copied(page, "latex", setting) == "copied"
    lines = page(READ).splitlines()
    assert lines[1].startswith("\\begin{tabular}") and lines[-1] == "\\end{tabular}"
    assert lines[-3].startswith("C1 & Statement 1: $L(") and lines[-3].endswith("\\\\")
    assert copied(page, "bibtex") == "copied"
    assert page(READ).startswith("@inproceedings{")
    assert page("document.querySelectorAll('.copy textarea').length") == 0


def test_where_nothing_can_be_copied_the_text_is_shown_and_chosen(page):
    assert copied(page, "bibtex", f"{WITHOUT}; document.execCommand = () => false") == "copy it by hand:"
    area = "document.querySelector('#C1 .copy textarea')"
    assert page(f"{area}.value").startswith("@inproceedings{") and page(f"document.activeElement === {area}")
    assert page(f"{area}.selectionEnd === {area}.value.length")


@pytest.mark.parametrize("width", [320, 375])
def test_on_a_telephone_sentences_and_their_figures_stack_and_a_tap_shows_a_figure_large(page, width):
    page.show(width)
    boxes = page(
        "[...document.querySelectorAll('.findings :is(img, li > div)')].map(one => one.getBoundingClientRect())"
        ".map(box => [box.left, box.right, box.top, box.bottom])"
    )
    assert len(boxes) == 8 and all(below[2] >= above[3] for above, below in itertools.pairwise(boxes))
    assert all(left > 0 and right < width and right - left > 0.8 * width for left, right, _, _ in boxes)
    page("document.querySelector('.drawn a.zoom').click()")
    page("document.querySelector('#zoom img').decode()")
    shown = "document.querySelector('#zoom img').getBoundingClientRect().width"
    assert page(shown) >= 400 and page("document.documentElement.scrollWidth") == width
    page("document.querySelector('#scale').click()")
    assert page(shown) >= 600


def test_a_figure_opens_large_by_keyboard_and_closes_with_escape(page):
    page("document.querySelector('a.zoom').focus()")
    page.ask("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r")
    page(SETTLED)
    assert page(
        "document.querySelector('#zoom').open && document.querySelector('#zoom img').src.endsWith('figure.svg')"
    )
    page.key("Escape", 27)
    page(SETTLED)
    assert not page("document.querySelector('#zoom').open")
    assert page("document.activeElement.className") == "zoom"


def test_another_run_is_compared_row_by_row(page):
    mine = ledger()
    lines = [f'{row.claim},"{"ends" if i == 0 else row.verdict}",full,"a, ""b"""' for i, row in enumerate(mine[:5])]
    text = "\n".join(["claim,verdict,preset,statement", *lines, "X1,ends,full,s"]) + "\n"
    page(
        "(() => { const given = new DataTransfer(), input = document.querySelector('#other');"
        f" given.items.add(new File([{text!r}], 'claims.csv')); input.files = given.files;"
        " input.dispatchEvent(new Event('change')); })()"
    )
    page(SETTLED)
    told = page("document.querySelector('#changes').textContent")
    assert f"1 of 5 shared rows have another result; {len(mine) - 5} are here alone, 1 there alone" in told
    assert page("[...document.querySelectorAll('#changes tbody td')].map(cell => cell.textContent)") == [
        mine[0].claim, "fails", "passes"
    ]  # fmt: skip


@pytest.mark.parametrize("width", [320, 375, 700, 1000, 1900])
def test_nothing_is_wider_than_the_window_and_verdicts_are_in_view(page, width):
    page.show(width)
    page("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    assert page("document.documentElement.scrollWidth") == width
    ends = page(
        "[...document.querySelectorAll('.chip')].map(chip => chip.getBoundingClientRect()).map(r => [r.left, r.right])"
    )
    assert all(left >= 0 and right <= width for left, right in ends)


# The contrast of every text with what is behind it, as WCAG 2 computes it.
CONTRAST = """
(() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const rgb = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const linear = (c) => c <= .03928 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => .2126 * linear(r / 255) + .7152 * linear(g / 255) + .0722 * linear(b / 255);
  const behind = (at) => {
    for (; at; at = at.parentElement) {
      const c = rgb(getComputedStyle(at).backgroundColor);
      if (c[3] > 250) return c;
    }
    return rgb(getComputedStyle(document.body).backgroundColor); };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const at = walk.currentNode.parentElement;
    if (!walk.currentNode.textContent.trim() || !at.getClientRects().length || at.closest("script, option")) continue;
    const style = getComputedStyle(at), svg = at.closest("svg");
    const a = light(rgb(svg ? style.fill : style.color)), b = light(behind(svg ? svg.parentElement : at));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    const told = `${at.tagName}.${at.className} ${ratio.toFixed(2)} ${walk.currentNode.textContent.slice(0, 30)}`;
    if (ratio < 4.5) found.push(told);
  }
  return [...new Set(found)];
})()
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_stands_out_from_its_ground(page, scheme):
    page.show(1200, scheme=scheme)
    page("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    assert page("getComputedStyle(document.body).backgroundColor") != (
        "rgb(255, 255, 255)" if scheme == "dark" else "rgb(0, 0, 0)"
    )
    assert page(CONTRAST) == []


def test_the_button_turns_light_to_dark_and_figures_with_it(page):
    ground = "getComputedStyle(document.body).backgroundColor"
    before = page(ground)
    page("document.querySelector('#theme').click()")
    assert page(ground) != before
    assert "invert" in page("getComputedStyle(document.querySelector('.drawn img')).filter")
    page("localStorage.clear()")


def test_nothing_above_the_rows_moves_when_they_are_filtered(page):
    where = (
        "[...document.querySelectorAll('#all-title, .filters')].map(part => part.getBoundingClientRect().top + scrollY)"
    )
    before = page(where)
    choose(page, "kind", "theorem")
    assert page(where) == before


def test_what_is_found_from_amid_the_rows_is_seen_from_its_beginning_on(page):
    page("scrollTo({top: document.body.scrollHeight, behavior: 'instant'})")
    choose(page, "kind", "theorem")
    top = page("document.querySelector('#all-title').getBoundingClientRect().top")
    first = page(f"{SHOWN}[0].closest('.study').getBoundingClientRect().top")
    assert 0 <= top < first < page("innerHeight")


def test_parts_of_the_page_have_names_for_those_who_hear_it(page):
    tree = page.ask("Accessibility.getFullAXTree")["nodes"]
    said = [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in tree if not node.get("ignored")]
    roles = {role for role, _ in said}
    assert {"main", "navigation", "search", "banner", "contentinfo", "article", "status"} <= roles
    named = ("link", "button", "textbox", "searchbox", "combobox", "checkbox", "image", "img", "region", "navigation")
    assert [one for one in said if one[0] in named and not one[1].strip()] == []
    assert [name for role, name in said if role == "image" and "measured" in name]
    levels = page("[...document.querySelectorAll('h1,h2,h3,h4')].map(head => +head.tagName[1])")
    assert levels[0] == 1 and all(b - a <= 1 for a, b in itertools.pairwise(levels))


def test_what_is_folded_is_printed(page):
    page("dispatchEvent(new Event('beforeprint'))")
    assert page("document.querySelectorAll('main details:not([open])').length") == 0
    page("dispatchEvent(new Event('afterprint'))")
    page.show(700, media="print")
    assert page("getComputedStyle(document.querySelector('.filters')).display") == "none"
    # On paper as on a wide screen the numbers stand beside what they are about.
    beside = "(() => { const row = document.querySelector('article.row'), at = (part) => row.querySelector(part)"
    beside += ".getBoundingClientRect(); return [at('.said').right, at('.numbers').left, at('.said').width]; })()"
    right, left, width = page(beside)
    assert right <= left and width > 250
    page.show(1200)


def test_every_kind_is_explained(page):
    told = page("document.querySelector('.kinds').textContent")
    assert all(text in told for text in KINDS.values())
