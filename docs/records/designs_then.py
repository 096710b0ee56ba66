"""Print the registered designs of one source tree as that tree's own code resolves them, one JSON object.

    python docs/records/designs_then.py TREE < wanted.json

TREE holds `workflow/` and `config/` of one commit. wanted.json is a list of [study, preset]. The answer has, by
"study/preset", either `faults` or the designs by claim: the digest and everything that the digest is over.
"""

import importlib
import json
import sys
from contextlib import suppress
from pathlib import Path


def main() -> None:
    tree = Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(tree / "workflow"))
    plan = "hierlearn.pipeline.plan" if (tree / "workflow" / "hierlearn" / "pipeline").is_dir() else "hierlearn.plan"
    checking, registration = (importlib.import_module(f"{plan}.{name}") for name in ("checking", "registration"))
    for room in ("files", "plan"):
        # Earlier trees keep the names of the papers in the schema of a study.
        with suppress(ImportError, AttributeError):
            importlib.import_module(f"hierlearn.{room}.papers").use(tree / "config")
    contents: dict[str, dict] = {}
    plain = registration._hash

    def remembered(content: dict) -> str:
        digest = plain(content)
        contents[digest] = content
        return digest

    registration._hash = remembered
    answer = {}
    for name, preset in json.load(sys.stdin):
        study, faults = checking.study(tree / "config" / "studies" / f"{name}.yaml", f"{name}.yaml", preset)
        if study is None:
            answer[f"{name}/{preset}"] = {"faults": [str(fault) for fault in faults] or ["no such preset"]}
            continue
        digests = registration.digests(study)
        answer[f"{name}/{preset}"] = {
            "designs": {claim: {"digest": digest} | _whole(contents, digest) for claim, digest in digests.items()}
        }
    json.dump(answer, sys.stdout)


def _whole(contents: dict[str, dict], digest: str) -> dict:
    """The content of a design with its learners and probes in place of their digests."""
    content = dict(contents[digest])
    for section in ("learners", "probes"):
        content[section] = {name: contents[part] for name, part in content[section].items()}
    return content


if __name__ == "__main__":
    main()
