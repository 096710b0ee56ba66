"""Verdicts: first the rule, then the control; the word hangs on where the claim was measured.

| regime | the rule passes and the control fails | the rule fails |
| --- | --- | --- |
| within: every hypothesis, constants included, was checked at the sizes measured | supported | contradicted |
| limit: something is O(.), poly(.) or "sufficiently large" | consistent | not seen; contradicted with a `proof` |
| beyond: a hypothesis is violated | extends | ends |
| ours: a conjecture of this project at a proved statement | extends | ends |

Kinds without a regime: a `check` has the words of within, what a paper leaves `open` those of beyond, a `description`
none. Everywhere: inconclusive where the rule or the control is undecided or a control is missing, and vacuous where the
control passes too. A rule that fails is never hidden by its control.
"""

from hierlearn.pipeline.claims import rules
from hierlearn.pipeline.claims.rules import FAILS, PASSES, UNDECIDED

KINDS = {
    "theorem": "a proved inequality, constants and all",
    "rate": "a proved order: O(·), poly(·), sufficiently large",
    "assumption": "what a theorem assumes, met or not",
    "published": "what a printed figure or table shows: a number, an order or a level",
    "conjecture": "suggested by a paper, or by us",
    "open": "what a paper leaves open",
    "check": "true by construction: it tests the program and is no evidence",
    "description": "shown without a rule",
}
RANKS = ("primary", "secondary")
# What rows are counted under, apart from their kinds, whose limit a pilot or an earlier result suggested.
SEEN = "limit seen"
SEEN_TEXT = "of any kind: a pilot or an earlier result suggested the limit, and no new row of it is primary"
# The verdicts of a rule that passes while its control fails, and of a rule that fails.
REGIMES = {
    "within": ("supported", "contradicted"),
    "limit": ("consistent", "not seen"),
    "beyond": ("extends", "ends"),
    "ours": ("extends", "ends"),
}
WORDS_OF = {"check": "within", "open": "beyond"}
WITHOUT_REGIME = (*WORDS_OF, "description")
INCONCLUSIVE = "inconclusive"
VACUOUS = "vacuous"
VERDICTS = (*(word for pair in REGIMES.values() for word in pair), INCONCLUSIVE, VACUOUS)
# A verdict's mark, which is also its column where rows are counted.
MARKS = {
    **{yes: "✓" for yes, _ in REGIMES.values()},
    **{no: "✗" for _, no in REGIMES.values()},
    INCONCLUSIVE: "?",
    VACUOUS: "○",
    "": "–",
}
# The class of each mark in the page's styles, and what it is called.
CLASSES = {"✓": "for", "✗": "against", "?": "open", "○": "void", "–": "none"}
# What a draw comes to, by the mark of the word that the files have for it; and what two draws come to.
RESULTS = {"✓": "passes", "✗": "fails", "?": "undecided", "○": "no test", "–": "no rule"}
OUTCOMES = RESULTS | {"✓": "holds"}
# Whether the hypotheses of a place hold at the sizes measured, in the words that readers see; of kinds and regimes.
SCOPES = {
    "as stated": "every hypothesis of the place, constants included, holds at the sizes measured",
    "at these sizes": "the statement is asymptotic: O(·), poly(·) or “sufficiently large”; a failure refutes nothing",
    "outside": "a hypothesis, which the row names, is broken",
    "ours": "what no paper says: open questions, and conjectures of this project at proved statements",
}
SCOPE_OF = dict(zip(REGIMES, SCOPES, strict=True)) | {"check": "as stated", "open": "ours", "description": "as stated"}
# The outcome of a control that is still to be designed, and of none.
MISSING = "missing"
NO_CONTROL = ""
CONTROL_OUTCOMES = (*rules.OUTCOMES, MISSING, NO_CONTROL)


def result(word: str) -> str:
    """Return the result of a draw as readers see it, of the word that the files have for it."""
    return RESULTS[MARKS[word]]


def light(word: str, exact: bool = False) -> str:
    """Return the result of a draw behind its light mark, of the word that the files have for it: an outcome, of two
    draws, has the mark alone. exact: whether nothing in it is random, so that it needs no second draw."""
    return f"({MARKS[word]}) {result(word)}{', exact' * exact}" if word else ""


def scope(kind: str, regime: str) -> str:
    """Return in which scope a claim was measured."""
    return SCOPE_OF[regime or kind]


def verdict(kind: str, regime: str, rule: str, control: str, proof: bool = False) -> str:
    """The word for what a rule and a control made of a claim; "" for a description.

    regime: "" for kinds that have none; rule, control: outcomes, of the control also MISSING and NO_CONTROL, which is
    for checks; proof: whether a proof or a limiting theory turns *not seen* into *contradicted*. Raises ValueError on
    other words, and where only a check may go without a control.
    """
    if kind == "description":
        return ""
    if kind not in KINDS or control not in CONTROL_OUTCOMES or rule not in rules.OUTCOMES:
        raise ValueError(f"kind {kind!r}, rule {rule!r}, control {control!r}")
    if (kind in WORDS_OF) == bool(regime) or (regime or WORDS_OF[kind]) not in REGIMES:
        raise ValueError(f"kind {kind!r} in the regime {regime!r}")
    if control == NO_CONTROL and kind != "check":
        raise ValueError(f"kind {kind!r} without a control")
    yes, no = REGIMES[regime or WORDS_OF[kind]]
    if rule == FAILS:
        return REGIMES["within"][1] if regime == "limit" and proof else no
    if rule == UNDECIDED or control in (UNDECIDED, MISSING):
        return INCONCLUSIVE
    return VACUOUS if control == PASSES else yes
