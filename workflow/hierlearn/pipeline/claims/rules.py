"""Rules, which a study file states for each claim: one quantity, one interval, one prediction.

| rule | passes | fails | otherwise |
| --- | --- | --- | --- |
| upper | high <= predicted + slack | low > predicted + slack | undecided |
| lower | low >= predicted - slack | high < predicted - slack | undecided |
| two-sided | interval inside predicted +- slack | wholly outside | undecided |
| ordering | interval wholly on the predicted side, give or take slack | wholly on the other | undecided |
| bound | the largest ratio of a side to its bound, the value, is at most 1 | it is more | no case, or failed training |
| bound, of a mean | the interval of the largest ratio lies up to 1 | wholly above | undecided |
| published | interval / predicted inside [1/slack, slack] | wholly outside | undecided |
| descriptive | never asked | | |

`hierlearn.pipeline.claims.verdicts` says what passing and failing are called.
"""

import math

PASSES = "passes"
FAILS = "fails"
UNDECIDED = "undecided"
OUTCOMES = (PASSES, FAILS, UNDECIDED)
# What the page writes before the prediction, and before the slack.
RULES = {
    "upper": ("≤", "+"),
    "lower": ("≥", "−"),
    "two-sided": ("=", "±"),
    "ordering": ("beyond", "±"),
    "bound": ("≤", "+"),
    "published": ("≈", "× or ÷"),
    "descriptive": ("", "±"),
}
# By the sign that a study's `test` begins with: the rule, what stands before the slack, and an example.
SIGNS = {
    "<=": ("upper", "+", '"<= 1 + 0.1"'),
    ">=": ("lower", "-", '">= 1 - 0.1"'),
    "=": ("two-sided", "+-", '"= 1 +- 0.1"'),
    ">": ("ordering", "-", '"> 0"'),
    "<": ("ordering", "+", '"< 0"'),
    "~": ("published", "*/", '"~ 1 */ 1.5"'),
}
# At how many ends of its interval a rule may fall to a false verdict by chance.
BOUNDARIES = {"upper": 1, "lower": 1, "ordering": 1, "two-sided": 2, "published": 2, "bound": 0, "descriptive": 0}
SIDES = ("above", "below")

PUBLISHED_FACTOR = 1.5
# Where the interval lies that passes, and that fails.
UP_TO, FROM, ABOVE, BELOW = ("at most", "above"), ("at least", "below"), ("above", "below"), ("below", "above")


def outcome(
    rule: str,
    value: float,
    low: float,
    high: float,
    predicted: float,
    slack: float | None = None,
    side: str = "above",
    reason: str = "",
) -> tuple[str, str]:
    """Whether a measurement passes `rule`, and one line that says why.

    value, low, high, predicted: in the units of the quantity. slack: in the same units, 0 if None; for
    `published` the factor that a ratio to the printed number may reach, 1.5 if None. side: where `ordering`
    predicts the interval, seen from `predicted`; other rules do not look at it. For `bound`, value is the largest
    ratio of a side to its bound over the cases; high is no larger, but where the bound is one on a mean, whose interval
    decides. As NaN, low and high say that a case is not to be trusted.
    An end that is infinite is open: what hangs on it is undecided. reason: what the measurement has to say, kept in
    the line; it stands alone where there is no interval, which is undecided. Raises ValueError on a rule that decides
    nothing, an ordering with an unknown side, a negative slack, a factor below 1, a prediction that is missing (or,
    for `published`, not positive), a negative ratio and an interval that is upside down."""
    slack = _checked(rule, value, low, high, predicted, slack, side)
    if not math.isfinite(value) or math.isnan(low) or math.isnan(high):
        found, why = UNDECIDED, "" if reason else "no case was measured" if rule == "bound" else "no interval"
    elif rule == "bound":
        found, why = _bound(value, low, high)
    else:
        found, why = _compare(rule, low, high, predicted, slack, side)
    return found, "; ".join(part for part in (why, reason) if part)


def region(rule: str, predicted: float, slack: float, side: str = "above") -> tuple[float, float]:
    """The two ends between which an interval has to lie, infinite where there is none; NaN without a rule.

    slack: NaN for the usual one; side: as `outcome` has it.
    """
    if rule == "published":
        factor = PUBLISHED_FACTOR if math.isnan(slack) else slack
        return predicted / factor, predicted * factor
    slack = 0.0 if math.isnan(slack) else slack
    if rule == "two-sided":
        return predicted - slack, predicted + slack
    if rule == "upper" or (rule == "ordering" and side == "below"):
        return -math.inf, predicted + slack
    if rule in ("lower", "ordering"):
        return predicted - slack, math.inf
    return (-math.inf, 1.0) if rule == "bound" else (math.nan, math.nan)


def limit(rule: str, predicted: float, slack: float, side: str = "above") -> str:
    """Return the number that an interval is compared with, in six digits; two, with a space between, under a rule that
    has two; "" without a rule. slack: NaN for the usual one."""
    return " ".join(f"{end:.6g}" for end in region(rule, predicted, slack, side) if math.isfinite(end))


def _compare(rule: str, low: float, high: float, predicted: float, slack: float, side: str) -> tuple[str, str]:
    if rule == "published":
        return _inside(low / predicted, high / predicted, 1 / slack, slack, "the ratio to the printed number")
    if rule == "two-sided":
        return _inside(low, high, predicted - slack, predicted + slack, "the interval")
    if rule == "upper":
        limit, yes, no, words = predicted + slack, high <= predicted + slack, low > predicted + slack, UP_TO
    elif rule == "lower":
        limit, yes, no, words = predicted - slack, low >= predicted - slack, high < predicted - slack, FROM
    elif side == "above":
        limit, yes, no, words = predicted - slack, low > predicted - slack, high < predicted - slack, ABOVE
    else:
        limit, yes, no, words = predicted + slack, high < predicted + slack, low > predicted + slack, BELOW
    found = f"wholly {words[0]}" if yes else f"wholly {words[1]}" if no else "on both sides of"
    return _outcome(yes, no), f"the interval is {found} {limit:.4g}"


def _inside(low: float, high: float, floor: float, ceiling: float, what: str) -> tuple[str, str]:
    yes, no = floor <= low and high <= ceiling, high < floor or low > ceiling
    found = "inside" if yes else "wholly outside" if no else "partly outside"
    return _outcome(yes, no), f"{what} is {found} [{floor:.4g}, {ceiling:.4g}]"


def _bound(ratio: float, low: float, high: float) -> tuple[str, str]:
    if bounds_a_mean(ratio, high):
        return _compare("upper", low, high, 1.0, 0.0, "above")
    words = f"the largest ratio to the bound is {ratio:.4g}"
    return (PASSES, words) if ratio <= 1 else (FAILS, words)


def bounds_a_mean(value: float, high: float) -> bool:
    """Return whether the largest ratio to a bound is one of a mean: of cases alone none lies above the value."""
    return high > value


def _outcome(yes: bool, no: bool) -> str:
    return PASSES if yes else FAILS if no else UNDECIDED


def _checked(rule, value, low, high, predicted, slack, side) -> float:
    """The slack to use; raises ValueError where the arguments make no sense."""
    if rule not in RULES or rule == "descriptive":
        deciding = ", ".join(name for name in RULES if name != "descriptive")
        raise ValueError(f"rule {rule!r}; expected one of {deciding}")
    if rule == "ordering" and side not in SIDES:
        raise ValueError(f"side {side!r}; expected one of {', '.join(SIDES)}")
    if low > high:
        raise ValueError(f"interval [{low}, {high}] is upside down")
    if rule == "bound":
        if value < 0:
            raise ValueError(f"largest ratio to the bound {value}; expected none that is negative")
        return 0.0
    if not math.isfinite(predicted) or (rule == "published" and predicted <= 0):
        raise ValueError(f"predicted {predicted} under rule {rule!r}; expected a finite number, positive if published")
    if slack is None:
        return PUBLISHED_FACTOR if rule == "published" else 0.0
    if not (math.isfinite(slack) and slack >= (1 if rule == "published" else 0)):
        raise ValueError(f"slack {slack} under rule {rule!r}; expected at least 0, a factor of at least 1 if published")
    return float(slack)
