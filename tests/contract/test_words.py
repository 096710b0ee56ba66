"""What a reader meets of every claim and study: short, in plain words, with numbers that come from fields."""

import re

import pytest
import shipped
from shipped import STUDIES

from hierlearn.pipeline.files import papers
from hierlearn.pipeline.plan import descriptions

PRESETS = ("quick", "standard", "full", "paper")
MOST_WORDS = 25
MOST_SENTENCES = 2
LONGEST = 35
# They give a translation away, or leave the noun out.
AVOIDED = re.compile(
    r"\b(that of|those of|hangs? on|whence|beside|as [^.,;]{1,40} ha(s|ve) it|speaks? of|of (one|a user)'s own"
    r"|what came of|is said to|at rest|stands or falls|words of|whole|said once)\b"
)


def spoken(text):
    """A text with every formula as one word, and names of papers without their full stop."""
    return re.sub(r"\bet al\. ", "et al ", re.sub(r"\$[^$]*\$", "X", text))


def sentences(text):
    return [part for part in re.split(r"(?<=[.!?])\s+(?=[A-Z0-9(])", spoken(text)) if part]


@pytest.fixture(scope="module")
def told():
    """(study, preset, claim, what the claim says, its statement as it is written) of every claim."""
    found = []
    for file in STUDIES:
        for preset in PRESETS:
            study, _ = shipped.checked(file, preset)
            if study:
                written = {name: claim.statement for name, claim in study.claims.items()}
                found += [
                    (file.stem, preset, name, said, written[name]) for name, said in descriptions.claims(study).items()
                ]
    return found


def test_a_statement_is_short(told):
    long = {
        (name, said["statement"]) for _, _, name, said, _ in told if len(spoken(said["statement"]).split()) > MOST_WORDS
    }
    assert len(told) > 1000 and not long


def test_a_remark_has_two_sentences_at_most(told):
    long = {
        (name, said["remark"])
        for _, _, name, said, _ in told
        if len(sentences(said.get("remark", ""))) > MOST_SENTENCES
    }
    assert not long


@pytest.mark.parametrize("key", ["statement", "remark"])
def test_no_word_gives_a_translation_away(told, key):
    found = {(name, word[0]) for _, _, name, said, _ in told if (word := AVOIDED.search(spoken(said.get(key, ""))))}
    assert not found


def test_no_word_gives_one_away_in_titles_summaries_rivals_and_hypotheses():
    texts = [hypothesis["says"] for paper in papers.known() for hypothesis in papers.hypotheses(paper).values()]
    for file in STUDIES:
        content = shipped.content(file)
        texts += [content["title"], content["summary"], *(one["is"] for one in content.get("rivals", {}).values())]
        texts += [part.get("title", "") for part in content["figure"].get("panels", [])]
        said = (claim.get("rival") for claim in content["claims"].values())
        texts += [rival.get("is", "") for rival in said if isinstance(rival, dict)]
    assert not [text for text in texts if AVOIDED.search(spoken(text))]
    assert not [text for text in texts if any(len(part.split()) > LONGEST for part in sentences(text))]


def test_a_statement_repeats_no_number_of_its_test(told):
    """Small whole numbers count layers and degrees too."""
    found = set()
    for _, preset, name, said, written in told:
        fields = {abs(said[key]) for key in ("predicted", "slack") if key in said}
        fields |= {abs(said["predicted"] + sign * said.get("slack", 0)) for sign in (1, -1) if "predicted" in said}
        numbers = {
            float(text) for text in re.findall(r"(?<![\w.])\d+\.\d+(?![\w.])", re.sub(r"\$[^$]*\$", "", written))
        }
        if any(abs(number - field) < 1e-9 for number in numbers for field in fields):
            found.add((preset, name, written))
    assert not found
