"""The front page: every claim with its verdict, and the figure of every study."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jinja2 import Environment, StrictUndefined

from hierlearn.claims.ledger import Row
from hierlearn.claims.page import mathematics
from hierlearn.claims.rules import BOUNDARIES, RULES
from hierlearn.claims.verdicts import INCONCLUSIVE, KINDS, MISSING, REGIMES, VACUOUS, in_words

PAPERS = {
    "chen2020": (
        "Chen, Bai, Lee, Zhao, Wang, Xiong, Socher. Towards Understanding Hierarchical Learning: Benefits of Neural "
        "Representations. NeurIPS 2020"
    ),
    "bai2020": "Bai, Lee. Beyond Linearization: On Quadratic and Higher-Order Approximation of Wide Neural Networks. ICLR 2020",
    "allenzhu2019": "Allen-Zhu, Li. What Can ResNet Learn Efficiently, Going Beyond Kernels? NeurIPS 2019",
    "allenzhu2020": "Allen-Zhu, Li. Backward Feature Correction: How Deep Learning Performs Deep Learning. 2020",
}
# A verdict's mark, which is also its column in the table of studies.
MARKS = {
    **{yes: "✓" for yes, _ in REGIMES.values()},
    **{no: "✗" for _, no in REGIMES.values()},
    INCONCLUSIVE: "?",
    VACUOUS: "○",
    "": "–",
}
CLASSES = {"✓": "for", "✗": "against", "?": "open", "○": "open", "–": "open"}
REGIME_TEXTS = {
    "within": "every hypothesis, constants included, was checked at the sizes measured",
    "limit": "something is O(·), poly(·) or “sufficiently large”",
    "beyond": "a hypothesis is violated, which the row says; also what a paper leaves open",
}
# The share of false verdicts at one end of a 95 % interval, at most.
TAIL = 0.025

TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
{% for name, value in made.items() %}<meta name="{{ name }}" content="{{ value }}">
{% endfor %}<title>Hierarchical learning: the claims ledger</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; color: #1b1b1b; background: #fff; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem; } h2 { margin-top: 2.5rem; font-size: 1.3rem; } h3 { font-size: 1.1rem; }
.lead, .note { color: #444; max-width: 60rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .4rem .6rem; border-bottom: 1px solid #ddd; }
th { border-bottom: 2px solid #555; white-space: nowrap; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
.verdict { font-weight: 600; min-width: 8.5rem; }
.for { color: #00573f; } .against { color: #9c1c00; } .open { color: #5a5a5a; }
.reason { color: #555; font-size: .85rem; }
.tex i { font-family: Georgia, "Times New Roman", serif; } .root { border-top: 1px solid; }
sub, sup { font-size: .75em; line-height: 0; }
.claims td:nth-child(2) { min-width: 22rem; } .claims td:nth-child(5) { min-width: 11rem; }
.primary { color: #1b1b1b; font-weight: 600; }
.run { border-left: .3rem solid #9c1c00; padding: .3rem .8rem; max-width: 60rem; }
.contents { width: auto; margin: 1.5rem 0; } .contents td, .contents th { padding: .15rem .8rem .15rem 0; }
img { max-width: 100%; height: auto; border: 1px solid #eee; }
code { font-size: .9em; }
</style>
</head>
<body>
<h1>Hierarchical learning: the claims ledger</h1>
{% if note %}<p class="run"><strong>{{ note }}</strong></p>
{% endif %}<p class="lead">Theorems and figures on why neural networks learn beyond kernels, as measured claims. Preset
<code>{{ preset }}</code>: {{ total }} rows{{ " by kind: " + kinds if total }}. Of the {{ judged }} judged rows, checks
apart: {{ tally }}; {{ uncontrolled }} without a negative control, which is still to be designed, and
{{ registered or "none" }} on a registered design. Of the {{ primary }} primary rows among them {{ decided or "none" }}
{{ "is" if decided < 2 else "are" }} decided. Intervals are 95&nbsp;%: at {{ boundaries }} boundaries up to {{ expected }} false
verdicts are to be expected by chance, 2.5&nbsp;% at each. The table is also in <a href="claims.csv">claims.csv</a> and
<a href="claims.nc">claims.nc</a>.</p>
<details class="note" open><summary>How to read a row</summary>
<p>First the rule compares the interval with the prediction. Where it passes, the same rule judges a negative control: the
nearest rival, measured in the same run, for which the claim should fail. The word hangs on the regime.</p>
<table class="contents"><thead><tr><th>Regime</th><th>Meaning</th><th>✓ rule passes, control fails</th><th>✗ rule fails</th></tr></thead>
<tbody>{% for regime, words in regimes.items() %}<tr><td>{{ regime }}</td><td>{{ regime_texts[regime] }}</td><td class="for">{{ words[0] }}</td><td class="against">{{ words[1] }}</td></tr>
{% endfor %}</tbody></table>
<p>? inconclusive: the rule or the control is undecided, or there is no control yet; ○ vacuous: the control passes too; – no
rule. <em>Not seen</em> is <em>contradicted</em> where a proof, which the row names, says so.
{% for kind, text in kind_texts.items() %}<em>{{ kind }}</em>: {{ text }}{{ "; " if not loop.last else "." }}
{% endfor %}Under the rule <em>holds</em> the value is the largest ratio to the bound over the cases that the control does not
satisfy too, and the interval its range over seeds. Work is the number of floating-point operations in matrix products.</p></details>
{% if missing %}<p class="note"><strong>Not there, or of an earlier configuration or code:</strong> {{ missing | join(", ") }}.</p>{% endif %}
<nav><table class="contents">
<thead><tr><th>Paper</th><th>Study</th>{% for mark in columns %}<th>{{ mark }}</th>{% endfor %}<th>checks</th></tr></thead>
<tbody>
{% for study in studies %}<tr><td>{{ study.key }}</td><td><a href="#{{ study.name }}">{{ study.title | tex }}</a></td>{% for mark in columns %}<td class="number {{ classes[mark] }}">{{ study.counts[mark] or "" }}</td>{% endfor %}<td class="number open">{{ study.checks }}</td></tr>
{% endfor %}</tbody></table></nav>
{% for study in studies %}
<section id="{{ study.name }}">
<h2>{{ study.title | tex }}</h2>
<p class="note">{{ study.paper }}, {{ study.place }}.</p>
<p>{{ study.summary | tex }}</p>
<p><a href="{{ study.name }}/figure.pdf"><img src="{{ study.name }}/figure.svg" alt="Figure of {{ study.title }}"></a></p>
{% if study.rows %}<div class="scroll"><table class="claims">
<thead><tr><th>Claim</th><th>Statement</th><th>Measured<br>[95 % interval]</th><th>Predicted</th><th>Control<br>[interval]</th><th>Verdict</th><th>Seeds</th><th>Work</th></tr></thead>
<tbody>
{% for row in study.rows %}<tr id="{{ row.claim }}">
<td><strong>{{ row.claim }}</strong><br><span class="reason">{{ row.place | tex }}<br><span class="{{ row.rank }}">{{ row.rank }}</span>; {{ row.kind }}{{ ", " + row.regime if row.regime }}</span></td>
<td>{{ row.statement | tex }}<br><span class="reason">{{ row.reason | tex }}{{ fit_note(details[row.claim]) }}</span></td>
<td class="number">{{ number(row.value) }}<br>{{ interval(row.low, row.high) }}</td>
<td class="number">{{ prediction(row, details[row.claim].get("side", "")) }}</td>
<td>{% if row.rival %}{{ row.rival | tex }}:<br><span class="number">{{ number(row.control_value) }} {{ interval(row.control_low, row.control_high) }}</span> {{ row.control_verdict }}{% else %}{{ "none yet" if row.control_verdict == "missing" else row.control_verdict or "–" }}{% endif %}</td>
<td class="verdict {{ classes[marks[row.verdict]] }}">{{ marks[row.verdict] }} {{ in_words(row.verdict, row.sizes) }}</td>
<td class="number">{{ row.seeds or "–" }}</td>
<td class="number">{{ work(row.flops) }}</td>
</tr>
{% endfor %}</tbody></table></div>
<p class="note">Data: {% for file in study.files %}<a href="{{ file }}">{{ file }}</a>{{ ", " if not loop.last }}{% endfor %}, opened by <code>xarray.open_dataset</code>.</p>
{% else %}<p class="note">This study makes no claims.</p>
{% endif %}</section>
{% endfor %}
</body>
</html>
"""


def page(
    rows: Sequence[Row],
    details: Mapping[str, Mapping[str, Any]],
    studies: Mapping[str, Mapping[str, Any]],
    preset: str,
    made: Mapping[str, str],
    note: str = "",
) -> str:
    """The page as HTML. details: what stands behind each row, by claim; studies: title, paper, place, summary and
    present (whether its claims are there), by name; made: which code and versions; note: what the run is, where it is
    not the first draw."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True)
    environment.filters["tex"] = mathematics.html
    template = environment.from_string(TEMPLATE)
    judged = [row for row in rows if row.kind not in ("check", "description")]
    boundaries = sum(BOUNDARIES[row.rule] for row in judged)
    return template.render(
        preset=preset,
        note=note,
        made=made,
        total=len(rows),
        kinds=_counted(Counter(row.kind for row in rows), KINDS),
        judged=len(judged),
        tally=_counted(Counter(row.verdict for row in judged), MARKS) or "none",
        uncontrolled=sum(row.control_verdict == MISSING for row in judged),
        registered=sum(bool(row.digest) for row in judged),
        primary=sum(row.rank == "primary" for row in judged),
        decided=sum(row.rank == "primary" and row.verdict not in (INCONCLUSIVE, VACUOUS) for row in judged),
        boundaries=boundaries,
        expected=f"{TAIL * boundaries:.1f}",
        regimes=REGIMES,
        regime_texts=REGIME_TEXTS,
        kind_texts=KINDS,
        missing=[study["title"] for study in studies.values() if not study["present"]],
        studies=[
            {**study, "name": name, "key": study["paper"], "paper": PAPERS[study["paper"]]} | _of_study(name, rows)
            for name, study in studies.items()
            if study["present"]
        ],
        columns=list(dict.fromkeys(MARKS.values()))[:-1],
        classes=CLASSES,
        in_words=in_words,
        details=details,
        fit_note=fit_note,
        marks=MARKS,
        number=number,
        interval=interval,
        prediction=prediction,
        work=work,
    )


def _counted(counts: Counter, order: Iterable[str]) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in order if counts[name])


def _of_study(name: str, rows: Sequence[Row]) -> dict[str, Any]:
    """The rows of a study, how many have which verdict, checks apart, and the files that they were read from."""
    own = [row for row in rows if row.study == name]
    counts = Counter(MARKS[row.verdict] for row in own if row.kind != "check")
    checks = Counter(MARKS[row.verdict] for row in own if row.kind == "check")
    told = " ".join(f"{mark} {checks[mark]}" for mark in dict.fromkeys(MARKS.values()) if checks[mark])
    return {"rows": own, "counts": counts, "checks": told, "files": sorted({row.data for row in own})}


def fit_note(detail: Mapping[str, Any]) -> str:
    """The sizes on a fitted line and the slopes between neighbours, where a row has them."""
    parts = []
    if detail.get("sizes_fitted"):
        parts.append(f"fitted to {', '.join(f'{size:g}' for size in detail['sizes_fitted'])}")
    local = [one["value"] for one in detail.get("local", ())]
    if any(value is not None for value in local):
        parts.append(f"local slopes {', '.join('–' if value is None else number(value) for value in local)}")
    return f" ({'; '.join(parts)})" if parts else ""


def number(value: float) -> str:
    """Three significant digits with a minus sign as long as a plus, or a dash."""
    return f"{value:.3g}".replace("-", "−") if math.isfinite(value) else "–"


def interval(low: float, high: float) -> str:
    """[low, high] where there is one."""
    return f"[{number(low)}, {number(high)}]" if math.isfinite(low) and math.isfinite(high) else ""


def prediction(row: Row, side: str = "") -> str:
    """The prediction as its rule reads it. side: where the rule `ordering` has the interval, above or below."""
    if not math.isfinite(row.predicted):
        return "–"
    slack = 0.0 if math.isnan(row.slack) else row.slack
    sign, between = {"above": (">", "−"), "below": ("<", "+")}.get(side, RULES[row.rule])
    text = f"{sign} {number(row.predicted)}"
    return f"{text} {between} {number(slack)}" if slack else text


def work(flops: float) -> str:
    """Counted floating-point operations with a unit."""
    if not flops > 0:
        return "–"
    exponent = min(int(math.log10(flops)) // 3, 6)
    return f"{flops / 1000**exponent:.3g} {['', 'k', 'M', 'G', 'T', 'P', 'E'][exponent]}flop"
