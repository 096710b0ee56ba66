"""The configuration: config/config.yaml with what the command line says over it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hierlearn.plan.faults import Broken, Fault, nearest, show
from hierlearn.plan.violations import SCHEMAS, fill_defaults, schema, schema_faults

# Folders of the project that no run writes into.
ROOT, OWN = SCHEMAS.parents[2], ("benchmarks", "config", "docs", "envs", "profiles", "tests", "workflow")


def configuration(given: Mapping[str, Any], name: str, known_studies: list[str]) -> tuple[dict[str, Any], list[Fault]]:
    """The configuration with defaults, and its faults. name: what messages call it.

    `studies` may be one name instead of a list.
    """
    against, broken = schema("config"), Broken()
    # Snakemake hands over true and false on the command line as words.
    words = {"true": True, "false": False}
    booleans = [key for key, part in against["properties"].items() if part.get("type") == "boolean"]
    given = {k: words.get(v, v) if k in booleans and isinstance(v, str) else v for k, v in given.items()}
    faults = list(schema_faults(name, dict(given), against, broken=broken))
    chosen = given.get("studies", [])
    if isinstance(chosen, str):
        given["studies"] = [chosen]
    for i, study in enumerate([chosen] if isinstance(chosen, str) else chosen if isinstance(chosen, list) else []):
        if isinstance(study, str) and study not in known_studies:
            path = ("studies",) if isinstance(chosen, str) else ("studies", i)
            allowed = nearest(study, known_studies) if known_studies else "a study of config/studies, which has none"
            faults.append(Fault(name, path, show(study), allowed))
    if given.get("pilot") is True and given.get("replicate") not in (None, 0):
        faults.append(Fault(name, ("replicate",), f"{show(given['replicate'])} beside pilot: true", "one of the two"))
    if "results" in given and not broken.over("results"):
        results = Path(given["results"])
        faults += _results_faults(name, results)
        # Snakemake takes x/ and x//y for names of their own.
        given["results"] = results.as_posix()
    return ({} if faults else fill_defaults(dict(given), against)), sorted(set(faults))


def _results_faults(name: str, results: Path) -> list[Fault]:
    found = show(str(results))
    if ".." in results.parts:
        return [Fault(name, ("results",), found, "a folder below the working directory")]
    if any((at.exists() or at.is_symlink()) and not at.is_dir() for at in (results, *results.parents)):
        return [Fault(name, ("results",), f"{found}, where a file is", "a folder")]
    if any(own in (results.resolve(), *results.resolve().parents) for own in (ROOT / folder for folder in OWN)):
        return [Fault(name, ("results",), f"{found}, of the project itself", "another folder")]
    return []
