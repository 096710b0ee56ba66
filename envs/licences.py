"""Writes licences.csv beside this file: the licence of every pinned distribution, as the installed files state it.

    python envs/licences.py

Run by `make pins` in the environment that the pins were taken from. A licence is the SPDX expression of the metadata;
where there is none, the field License, else the classifier, else the head of the licence file, in SPDX's words. `note`
says what a reader has to know beside it: what is copyleft, or carries something that is.
"""

import csv
import re
from importlib.metadata import Distribution, distribution
from pathlib import Path

HERE = Path(__file__).parent
COLUMNS = ("distribution", "version", "licence", "stated_in", "note")
# How metadata older than SPDX's expressions say it; a bare BSD leaves open how many clauses.
SPDX = {
    "MIT": "MIT",
    "MIT License": "MIT",
    "BSD": "BSD",
    "BSD License": "BSD",
    "BSD-3-Clause": "BSD-3-Clause",
    "BSD 3-Clause License": "BSD-3-Clause",
    "3-clause BSD": "BSD-3-Clause",
    "Apache-2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "MPL-2.0": "MPL-2.0",
    "MPL-2.0 AND MIT": "MPL-2.0 AND MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
# Read by hand: classifiers do not say whether all hold or one may be chosen, nor which version of a licence.
READ = {
    "docutils": "LicenseRef-Public-Domain AND BSD-2-Clause AND BSD-3-Clause",
    "packaging": "Apache-2.0 OR BSD-2-Clause",
    "trove-classifiers": "Apache-2.0",
}
GCC = "the wheel links to GCC's runtime libraries, which it carries: GPL-3.0-or-later WITH GCC-exception-3.1"
UNCHANGED = "copyleft of single files, which are used unchanged"
NOTES = {
    "certifi": UNCHANGED,
    "docutils": "the file under the GPL that its licence names is not installed",
    "matplotlib": "its own text, modelled on that of Python",
    "numpy": f"{GCC}, and libquadmath: LGPL-2.1-or-later",
    "pathspec": UNCHANGED,
    "PuLP": "carries the program CBC: EPL-1.0; nothing here starts it",
    "scikit-learn": GCC,
    "scipy": f"{GCC}, and libquadmath: LGPL-2.1-or-later",
    "torch": GCC,
    "tqdm": UNCHANGED,
}


def pins() -> dict[str, str]:
    """Version by distribution, as all files of requirements pin them, in alphabetical order."""
    lines = {line for file in HERE.glob("requirements*.txt") for line in file.read_text(encoding="utf-8").splitlines()}
    return dict(line.split("==") for line in sorted(lines, key=str.casefold))


def licence(installed: Distribution) -> tuple[str, str]:
    """(licence, where it is stated) of an installed distribution. Raises ValueError where nothing known is stated."""
    metadata = installed.metadata
    if metadata["License-Expression"]:
        return metadata["License-Expression"], "License-Expression"
    if metadata["Name"] in READ:
        return READ[metadata["Name"]], "licence files"
    files = [file for file in installed.files or () if re.search("(LICEN[CS]E|COPYING)[^/]*$", str(file))]
    stated = {
        "License": [metadata["License"]],
        "Classifier": [line.split(" :: ")[-1] for line in metadata.get_all("Classifier") or () if "License ::" in line],
        "licence file": [file.read_text(encoding="utf-8") for file in files],
    }
    for place, texts in stated.items():
        heads = [text.strip().splitlines()[0].strip() for text in texts if text and text.strip()]
        if len(heads) == 1 and heads[0] in SPDX:
            return SPDX[heads[0]], place
    raise ValueError(f"{metadata['Name']}: found no licence that is known here, but {stated}")


def rows() -> list[dict[str, str]]:
    """The table, a row a pin. Raises ValueError where another version is installed than the pinned one."""
    found = []
    for name, version in pins().items():
        installed = distribution(name)
        # What follows a plus names a build of the same sources.
        if installed.version.split("+")[0] != version:
            raise ValueError(f"{name}: found version {installed.version}; expected {version}")
        words, place = licence(installed)
        found.append(dict(zip(COLUMNS, (name, version, words, place, NOTES.get(name, "")), strict=True)))
    return found


def main() -> None:
    """Write the table."""
    with open(HERE / "licences.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows())


if __name__ == "__main__":
    main()
