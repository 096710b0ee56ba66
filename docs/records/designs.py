"""Write the designs at `standard` of all studies, which later ones must contain, to `designs.json` beside this file.

    python docs/records/designs.py

`hierlearn register` keeps the file from then on.
"""

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "workflow"))

from hierlearn.pipeline.command import design_sizes  # noqa: E402
from hierlearn.pipeline.plan import checking  # noqa: E402


def main() -> None:
    files = sorted((ROOT / "config" / "studies").glob("*.yaml"))
    studies = [checking.load_study(file, design_sizes.PRESET) for file in files]
    design_sizes.write(HERE / design_sizes.FILE, {study.name: design_sizes.held(study) for study in studies})
    print(f"{len(studies)} designs")


if __name__ == "__main__":
    main()
