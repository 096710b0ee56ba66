"""Verdict rules, which a study file states for each claim: one quantity, one interval, one prediction.

| rule | supported | contradicted | otherwise |
| --- | --- | --- | --- |
| upper | high <= predicted + slack | low > predicted + slack | inconclusive |
| lower | low >= predicted - slack | high < predicted - slack | inconclusive |
| two-sided | interval inside predicted +- slack | wholly outside | inconclusive |
| ordering | interval wholly on the predicted side, give or take slack | wholly on the other | inconclusive |
| holds | every case holds (value, the share of the cases, is 1) | any case fails | |
| published | interval / predicted inside [1/slack, slack] | wholly outside | inconclusive |
| descriptive | no verdict | | |
"""

import math

SUPPORTED = "supported"
CONTRADICTED = "contradicted"
INCONCLUSIVE = "inconclusive"
VERDICTS = (SUPPORTED, CONTRADICTED, INCONCLUSIVE)
# What the page writes before the prediction, and before the slack.
RULES = {
    "upper": ("≤", "+"),
    "lower": ("≥", "−"),
    "two-sided": ("=", "±"),
    "ordering": ("beyond", "±"),
    "holds": ("", "±"),
    "published": ("≈", "× or ÷"),
    "descriptive": ("", "±"),
}
SIDES = ("above", "below")

PUBLISHED_FACTOR = 1.5


def judge(
    rule: str,
    value: float,
    low: float,
    high: float,
    predicted: float,
    slack: float | None = None,
    side: str = "above",
    reason: str = "",
) -> tuple[str, str]:
    """The verdict by `rule` and one line that says why, ("", reason) for a descriptive row.

    value, low, high, predicted: in the units of the quantity. slack: in the same units, 0 if None; for
    `published` the factor that a ratio to the printed number may reach, 1.5 if None. side: where `ordering`
    predicts the interval, seen from `predicted`. For `holds`, value is the share of the cases in which the
    inequality holds, low and high the least and the greatest slack ratio, which do not enter the verdict.
    reason: what the measurement has to say, kept in the line; it stands alone where there is no finite
    interval, which is inconclusive. Raises ValueError on an unknown rule or side, a negative slack, a factor
    below 1, a prediction that is missing (or, for `published`, not positive), a share outside [0, 1] and an
    interval that is upside down."""
    slack = _checked(rule, value, low, high, predicted, slack, side)
    if rule == "descriptive":
        return "", reason
    if rule == "holds":
        verdict, why = _holds(value, low, high)
    elif not (math.isfinite(value) and math.isfinite(low) and math.isfinite(high)):
        verdict, why = INCONCLUSIVE, "" if reason else "no finite interval"
    else:
        verdict, why = _compare(rule, low, high, predicted, slack, side)
    return verdict, "; ".join(part for part in (why, reason) if part)


def _compare(rule: str, low: float, high: float, predicted: float, slack: float, side: str) -> tuple[str, str]:
    if rule == "published":
        return _inside(low / predicted, high / predicted, 1 / slack, slack, "the ratio to the printed number")
    if rule == "two-sided":
        return _inside(low, high, predicted - slack, predicted + slack, "the interval")
    if rule == "upper":
        limit, yes, no = predicted + slack, high <= predicted + slack, low > predicted + slack
        wanted = "at most"
    elif rule == "lower":
        limit, yes, no = predicted - slack, low >= predicted - slack, high < predicted - slack
        wanted = "at least"
    elif side == "above":
        limit, yes, no = predicted - slack, low > predicted - slack, high < predicted - slack
        wanted = "above"
    else:
        limit, yes, no = predicted + slack, high < predicted + slack, low > predicted + slack
        wanted = "below"
    found = "wholly" if yes else "wholly not" if no else "not wholly"
    return _verdict(yes, no), f"the interval is {found} {wanted} {limit:.4g}"


def _inside(low: float, high: float, floor: float, ceiling: float, what: str) -> tuple[str, str]:
    yes, no = floor <= low and high <= ceiling, high < floor or low > ceiling
    found = "inside" if yes else "wholly outside" if no else "partly outside"
    return _verdict(yes, no), f"{what} is {found} [{floor:.4g}, {ceiling:.4g}]"


def _holds(share: float, low: float, high: float) -> tuple[str, str]:
    if math.isnan(share):
        return INCONCLUSIVE, "no case was measured"
    ratios = f"; slack ratio {low:.4g} to {high:.4g}" if math.isfinite(low) and math.isfinite(high) else ""
    # The share is a count over a count: it is exactly 1 if and only if no case fails.
    if share == 1:
        return SUPPORTED, f"holds in every case{ratios}"
    return CONTRADICTED, f"fails in a share {1 - share:.4g} of the cases{ratios}"


def _verdict(yes: bool, no: bool) -> str:
    return SUPPORTED if yes else CONTRADICTED if no else INCONCLUSIVE


def _checked(rule, value, low, high, predicted, slack, side) -> float:
    """The slack to use; raises ValueError where the arguments make no sense."""
    if rule not in RULES:
        raise ValueError(f"rule {rule!r}; expected one of {', '.join(RULES)}")
    if side not in SIDES:
        raise ValueError(f"side {side!r}; expected one of {', '.join(SIDES)}")
    if low > high:
        raise ValueError(f"interval [{low}, {high}] is upside down")
    if rule == "holds" and not (math.isnan(value) or 0 <= value <= 1):
        raise ValueError(f"share of the cases {value}; expected 0 to 1")
    if rule in ("descriptive", "holds"):
        return 0.0
    if not math.isfinite(predicted) or (rule == "published" and predicted <= 0):
        raise ValueError(f"predicted {predicted} under rule {rule!r}; expected a finite number, positive if published")
    if slack is None:
        return PUBLISHED_FACTOR if rule == "published" else 0.0
    if not (math.isfinite(slack) and slack >= (1 if rule == "published" else 0)):
        raise ValueError(f"slack {slack} under rule {rule!r}; expected at least 0, a factor of at least 1 if published")
    return float(slack)
