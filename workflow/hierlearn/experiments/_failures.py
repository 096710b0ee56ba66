"""What an experiment says of a training that failed, whose place in its cube it leaves empty."""

import logging
from collections.abc import Mapping
from typing import Any

from hierlearn.core.protocols import REMEDIES

log = logging.getLogger("hierlearn")
MESSAGES = REMEDIES | {
    "not_certified": "no second-order stationary point within the limit; allow more iterations",
    "nearly_collapsed": "hardly better than the zero predictor on training points; use a smaller ridge",
}


def report_failure(probe: str, learner: str, cell: Mapping[str, Any], status: str) -> bool:
    """Whether a training's status is one of MESSAGES; says so in one line of the log, with the remedy."""
    if status not in MESSAGES:
        return False
    place = ", ".join(f"{name} {value}" for name, value in cell.items())
    log.warning("%s: %s at %s: %s: %s", probe, learner, place, status, MESSAGES[status])
    return True
