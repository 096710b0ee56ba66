"""A number that a page says is generated, or docs/records/measured.csv says where it comes from."""

import csv
import re
import subprocess
import sys

import pytest

from hierlearn.core.registry import PACKAGE

ROOT = PACKAGE.parents[1]
REGISTER = ROOT / "docs" / "records" / "measured.csv"
PAGES = {
    file.relative_to(ROOT).as_posix(): file.read_text(encoding="utf-8")
    for file in [
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("docs/components/*.md"),
        ROOT / "config/README.md",
        ROOT / "README.md",
    ]
}
WORDS = "two three four five six seven eight nine ten eleven twelve thirteen fifteen twenty thirty sixty hundred"
NUMBER = rf"(?:\d[\d ,.]*|\b(?:{WORDS.replace(' ', '|')}))"
UNIT = (
    r"(?:%|percent|m?s\b|min\b|h\b|seconds?\b|minutes?\b|(?:core-)?hours?\b|days?\b|CPU-\w+|[kMGT]i?B\b|times\b|-fold\b"
    r"|pictures\b|(?:rows |lines |draws )?(?:of|in)(?: a)? (?:\d|hundred|thousand))"
)
# What a run may have measured: a decimal, three digits or more, or any number before such a unit.
MEASURED = re.compile(
    rf"(?<![\w-])(?:[-−]?\d[\d ,]*\.\d+|(?!20(?:0[1-9]|[12]\d)\b)\d(?:[ ,]?\d){{2,}}|{NUMBER} ?{UNIT})", re.IGNORECASE
)
GENERATED = re.compile(
    r"<!-- findings -->.*?<!-- end of findings -->|<!-- tables: .*?<!-- end of the tables -->", re.DOTALL
)
# Code, formulas, the targets of links, pictures and comments say no number in words of the page.
OTHER = re.compile(
    r"^```.*?^```|<!--.*?-->|<[^>]*>|`[^`]*`|\$\$.*?\$\$|\$[^$\n]+\$|\]\([^)]*\)", re.DOTALL | re.MULTILINE
)


def register() -> list[dict[str, str]]:
    with open(REGISTER, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def unaccounted(page: str, text: str) -> list[str]:
    """Numbers of a page that are neither generated nor in the register, with the words around them."""
    text = " ".join(OTHER.sub(" ` ", GENERATED.sub("", text)).split())
    for row in sorted(register(), key=lambda row: -len(row["text"])):
        if row["page"] in ("*", page):
            text = text.replace(row["text"], "`")
    return [text[max(0, found.start() - 40) : found.end() + 20] for found in MEASURED.finditer(text)]


@pytest.mark.parametrize("page", PAGES)
def test_every_number_of_a_page_is_generated_or_registered(page):
    assert unaccounted(page, PAGES[page]) == []


@pytest.mark.parametrize(
    "planted",
    [
        "On diabetes it scores 0.53.",
        "A run takes 7 minutes.",
        "It is four times faster.",
        "Of 1829 draws none moved.",
        "Three rows in a thousand move.",
        "| `quick` | 4 GB |",
        "The median error falls\nby 12 %.",
    ],
)
@pytest.mark.parametrize("page", ["README.md", "docs/stability.md", "docs/cost.md", "docs/which_model.md"])
def test_a_planted_number_is_found(page, planted):
    assert unaccounted(page, f"{PAGES[page]}\n\n{planted}\n")


def test_a_changed_number_is_found():
    assert unaccounted("docs/cost.md", PAGES["docs/cost.md"].replace("4 to 13 minutes", "4 to 12 minutes"))


def test_every_registered_number_stands_on_its_page_and_says_where_it_comes_from():
    for row in register():
        pages = PAGES.values() if row["page"] == "*" else [PAGES[row["page"]]]
        assert any(row["text"] in " ".join(OTHER.sub(" ` ", text).split()) for text in pages), row
        assert row["kind"] in {"measured", "stated"} and row["source"], row
        assert bool(row["day"]) == (row["kind"] == "measured"), row
        if row["kind"] == "measured":
            assert re.fullmatch(r"\d{4}-\d\d-\d\d", row["day"]), row


PRINTED = [
    pytest.param(code, told, id=f"{page}-{i}")
    for page, text in sorted(PAGES.items())
    for i, (code, told) in enumerate(re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```", text, re.DOTALL | re.M))
]
PRINTED += [
    pytest.param(code, told, id=f"{page}-comment-{i}")
    for page, text in sorted(PAGES.items())
    for i, code in enumerate(re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.M))
    if "results/" not in code
    for told in re.findall(r"^print\(.*\)  # (.*)\Z", code.rstrip(), re.M)
]


@pytest.mark.parametrize("code, told", PRINTED)
def test_code_of_a_page_prints_what_the_page_says(code, told, tmp_path):
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, text=True, capture_output=True, check=True)
    numbers = re.compile(r"-?\d+(?:\.\d+)?")
    assert numbers.sub("#", done.stdout.strip()) == numbers.sub("#", told.strip())
    # Other processors round otherwise.
    found, asked = (list(map(float, numbers.findall(text))) for text in (done.stdout, told))
    assert found == pytest.approx(asked, rel=0.03, abs=0.03)
