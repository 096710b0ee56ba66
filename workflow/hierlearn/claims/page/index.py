"""The front page: every claim with its verdict, and the figure of every study."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from jinja2 import Environment, StrictUndefined

from hierlearn.claims.ledger import Row
from hierlearn.claims.rules import RULES, VERDICTS

PAPERS = {
    "chen2020": (
        "Chen, Bai, Lee, Zhao, Wang, Xiong, Socher. Towards Understanding Hierarchical Learning: Benefits of Neural "
        "Representations. NeurIPS 2020"
    ),
    "bai2020": "Bai, Lee. Beyond Linearization: On Quadratic and Higher-Order Approximation of Wide Neural Networks. ICLR 2020",
    "allenzhu2019": "Allen-Zhu, Li. What Can ResNet Learn Efficiently, Going Beyond Kernels? NeurIPS 2019",
    "allenzhu2020": "Allen-Zhu, Li. Backward Feature Correction: How Deep Learning Performs Deep Learning. 2020",
}
MARKS = {"supported": "✓", "contradicted": "✗", "inconclusive": "?", "": "–"}

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
.verdict { white-space: nowrap; font-weight: 600; }
.supported { color: #00573f; } .contradicted { color: #9c1c00; } .inconclusive { color: #5a5a5a; }
.reason { color: #555; font-size: .85rem; }
.contents { width: auto; margin: 1.5rem 0; } .contents td, .contents th { padding: .15rem .8rem .15rem 0; }
img { max-width: 100%; height: auto; border: 1px solid #eee; }
code { font-size: .9em; }
</style>
</head>
<body>
<h1>Hierarchical learning: the claims ledger</h1>
<p class="lead">Theorems and figures on why neural networks learn beyond kernels, as measured claims. Preset
<code>{{ preset }}</code>: {{ total }} rows, {{ tally }}. A run judges by the rules that stand in its study files, and where a rule
was written after an earlier run had been seen, the remark of its row says so. Intervals are 95&nbsp;%.
The table is also in <a href="claims.csv">claims.csv</a> and <a href="claims.nc">claims.nc</a>.</p>
{% if note %}<p class="note"><strong>{{ note }}</strong></p>{% endif %}
{% if missing %}<p class="note"><strong>Not there, or of an earlier configuration or code:</strong> {{ missing | join(", ") }}.</p>{% endif %}
<nav><table class="contents">
<thead><tr><th>Paper</th><th>Study</th><th>✓</th><th>✗</th><th>?</th></tr></thead>
<tbody>
{% for study in studies %}<tr><td>{{ study.key }}</td><td><a href="#{{ study.name }}">{{ study.title }}</a></td>{% for verdict in verdicts %}<td class="number {{ verdict }}">{{ study.counts[verdict] or "" }}</td>{% endfor %}</tr>
{% endfor %}</tbody></table></nav>
{% for study in studies %}
<section id="{{ study.name }}">
<h2>{{ study.title }}</h2>
<p class="note">{{ study.paper }}, {{ study.place }}.</p>
<p>{{ study.summary }}</p>
<p><a href="{{ study.name }}/figure.pdf"><img src="{{ study.name }}/figure.svg" alt="Figure of {{ study.title }}"></a></p>
{% if study.rows %}<div class="scroll"><table>
<thead><tr><th>Claim</th><th>Statement</th><th>Measured [95 % interval]</th><th>Predicted</th><th>Verdict</th><th>Seeds</th><th>Work</th></tr></thead>
<tbody>
{% for row in study.rows %}<tr id="{{ row.claim }}">
<td><strong>{{ row.claim }}</strong><br><span class="reason">{{ row.place }}; {{ row.label }}</span></td>
<td>{{ row.statement }}<br><span class="reason">{{ row.reason }}{{ fit_note(details[row.claim]) }}</span></td>
<td class="number">{{ number(row.value) }} {{ interval(row) }}</td>
<td class="number">{{ prediction(row) }}</td>
<td class="verdict {{ row.verdict }}">{{ marks[row.verdict] }} {{ row.verdict or "no verdict" }}</td>
<td class="number">{{ row.seeds or "–" }}</td>
<td class="number">{{ work(row.flops) }}</td>
</tr>
{% endfor %}</tbody></table></div>
<p class="note">Data: {% for file in study.files %}<a href="{{ file }}">{{ file }}</a>{{ ", " if not loop.last }}{% endfor %}, opened by <code>xarray.open_dataset</code>.</p>
{% else %}<p class="note">This study makes no claims.</p>
{% endif %}</section>
{% endfor %}
<p class="note">Verdicts: ✓ the interval satisfies the rule, ✗ it lies wholly on the other side, ? neither; – a row that is shown without a rule.
Work is the number of floating-point operations in matrix products.</p>
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
    template = Environment(autoescape=True, undefined=StrictUndefined, keep_trailing_newline=True).from_string(TEMPLATE)
    counts = Counter(row.verdict or "without a rule" for row in rows)
    order = ("supported", "contradicted", "inconclusive", "without a rule")
    return template.render(
        preset=preset,
        note=note,
        made=made,
        total=len(rows),
        tally=", ".join(f"{counts[name]} {name}" for name in order if counts[name]) or "none judged",
        missing=[study["title"] for study in studies.values() if not study["present"]],
        studies=[
            {**study, "name": name, "key": study["paper"], "paper": PAPERS[study["paper"]]} | _of_study(name, rows)
            for name, study in studies.items()
            if study["present"]
        ],
        verdicts=VERDICTS,
        details=details,
        fit_note=fit_note,
        marks=MARKS,
        number=number,
        interval=interval,
        prediction=prediction,
        work=work,
    )


def _of_study(name: str, rows: Sequence[Row]) -> dict[str, Any]:
    """The rows of a study, how many have which verdict, and the files that they were read from."""
    own = [row for row in rows if row.study == name]
    counts = Counter(row.verdict for row in own)
    return {"rows": own, "counts": counts, "files": sorted({row.data for row in own})}


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
    """Three significant digits, or a dash."""
    return f"{value:.3g}" if math.isfinite(value) else "–"


def interval(row: Row) -> str:
    """[low, high] where there is one."""
    return f"[{number(row.low)}, {number(row.high)}]" if math.isfinite(row.low) and math.isfinite(row.high) else ""


def prediction(row: Row) -> str:
    """The prediction as its rule reads it."""
    if not math.isfinite(row.predicted):
        return "–"
    slack = 0.0 if math.isnan(row.slack) else row.slack
    sign, between = RULES[row.rule]
    text = f"{sign} {number(row.predicted)}"
    return f"{text} {between} {number(slack)}" if slack else text


def work(flops: float) -> str:
    """Counted floating-point operations with a unit."""
    if not flops > 0:
        return "–"
    exponent = min(int(math.log10(flops)) // 3, 6)
    return f"{flops / 1000**exponent:.3g} {['', 'k', 'M', 'G', 'T', 'P', 'E'][exponent]}flop"
