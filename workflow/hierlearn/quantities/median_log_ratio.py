"""How many times more samples one learner needs than another, where a few of the seeds are censored."""

from dataclasses import dataclass

from hierlearn.quantities._log_ratios import OfLogRatio
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class MedianLogRatio(OfLogRatio):
    """Median over seeds of log(n*_above / n*_below), by the sign test, at the largest dimension at which it is known.

    For learners of which one training in a dozen finds nothing: a mean is then unknown. It needs six seeds or more, and
    suits secondary rows: the p-value of a primary one takes its interval for that of a mean.
    """

    def _ratio(self, above, below) -> estimates.Measurement:
        return estimates.median_log_ratio(above, below)
