"""A question and a study without claims have pages of their own, which hold an answer and nothing of a ledger."""

import json

import yaml
from bs4 import BeautifulSoup
from conftest import HERE, snakemake


def read(page):
    """The page and its words, on one line."""
    found = BeautifulSoup(page.read_text(), "html.parser")
    return found, " ".join(found.main.get_text(" ").split())


def test_a_question_is_answered_on_a_page_of_its_own(tree, tmp_path):
    question = {
        "teacher": {"name": "ridge_polynomial", "degree": 1},
        "learners": [{"name": "linear", "label": "<b>Least</b> & squares"}, {"name": "polynomial", "degree": 2}],
        "dimension": [3, 4, 5],
        "seeds": 2,
        "cap": 100,
    }
    done = snakemake(tree, "--cores", "1", "--config", f"question={json.dumps(question)}", folder=tmp_path)
    assert done.code == 0, done.end
    results = tmp_path / "results" / "question" / "quick"
    assert done.text.splitlines()[-1] == "The page is results/question/quick/my-question/index.html"
    assert not [name for name in ("index.html", "claims.csv", "claims.nc") if (results / name).exists()]
    page, text = read(results / "my-question" / "index.html")
    assert page.h1.get_text() == "How many samples do <b>Least</b> & squares and polynomial need?"
    assert text.count("To reach a test risk of 0.5 at") == 1
    assert [tag.get_text() for tag in page.find("table", class_="answer").select("tbody th")] == [
        "<b>Least</b> & squares",
        "polynomial",
    ]
    assert page.find("table", class_="answer").select("thead th")[-1].get_text() == "Exponent in d"
    judged = json.loads((results / "my-question" / "claims.json").read_text())["rows"]
    shown = [tag.b and tag.b.get_text() for tag in page.find_all("td", attrs={"data-size": "exponent in d"})]
    # A line through two sizes has no interval, and none is shown.
    assert shown == [f"{row['value']:.2f}" if row["low"] is not None else None for row in judged] and any(shown)
    assert "0 rows" not in text and "You. A question" not in text and not page.find("article")


def test_a_study_without_claims_and_with_an_odd_name_has_its_page(tree, tmp_path):
    content = yaml.safe_load((HERE / "tiny.yaml").read_text()) | {
        "claims": {},
        "seeds": 2,
        "title": "Odd & <i>$d^2$</i>",
    }
    content["axes"] = {"dimension": [3, 4], "degree": [1]}
    del content["learners"]["linear"], content["learners"]["failing"], content["learners"]["features"]
    content["figure"] = {"name": "sample_complexity"}
    (tmp_path / "mine" / "studies").mkdir(parents=True)
    (tmp_path / "mine" / "studies" / "0-index-1.yaml").write_text(yaml.safe_dump(content))
    words = ("--cores", "1", "0-index-1", "--config", "own=[mine]")
    done = snakemake(tree, *words, folder=tmp_path)
    assert done.code == 0, done.end
    assert done.text.splitlines()[-1] == "The page is results/quick/0-index-1/index.html"
    page, text = read(tmp_path / "results" / "quick" / "0-index-1" / "index.html")
    assert page.h1.get_text().startswith("Odd & <i>") and page.h1.math and not page.h1.i
    # Two risks are looked for, in one place.
    assert [tag.get_text() for tag in page.find_all("caption")] == [
        "Labelled samples to risk 0.5",
        "Labelled samples to risk 0.2",
        "Test risk at the most samples tried",
    ]
    assert not page.find(id="claims") and "rows" not in text and "verdict" not in text
    assert not (tmp_path / "results" / "quick" / "index.html").exists()
