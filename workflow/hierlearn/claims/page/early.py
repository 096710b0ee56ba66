"""The page of the studies that have finished, while others run: a process beside the run, `python -m` this module.

It reads from its input, as JSON, what the job of the ledger would be given, and prints how many seconds of CPU it took;
a page of a run that has ended meanwhile is not written.
"""

import json
import os
import sys
import time
from typing import Any

from hierlearn.claims.page.contents import contents, html
from hierlearn.core import provenance
from hierlearn.files import checksums


def early(given: dict[str, Any]) -> None:
    """Writes the page to given["page"]; given["parent"]: the process of the run."""
    parameters = given["parameters"]
    made = provenance.attributes(given["code"], parameters)
    found = contents(given["claims"], given["second"], parameters, given["expected"])
    text = html(found, parameters, made, given["figures"])
    if os.getppid() == given["parent"]:
        checksums.write(given["page"], text, made)


if __name__ == "__main__":
    early(json.load(sys.stdin))
    print(time.process_time())
