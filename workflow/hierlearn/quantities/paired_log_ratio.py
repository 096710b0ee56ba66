"""How many times more samples one learner needs than another."""

from dataclasses import dataclass

from hierlearn.quantities._log_ratios import OfLogRatio
from hierlearn.statistics import estimates


@dataclass(frozen=True, kw_only=True)
class PairedLogRatio(OfLogRatio):
    """Mean over seeds of log(n*_above / n*_below) at the largest dimension that is uncensored for both."""

    def _ratio(self, above, below) -> estimates.Measurement:
        return estimates.paired_log_ratio(above, below)
