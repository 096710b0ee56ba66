"""`hierlearn figure`: one panel of a study's figure, in the width of a journal's column."""

from argparse import Namespace
from pathlib import Path
from types import SimpleNamespace

from hierlearn.core import contracts, registry
from hierlearn.core.words import nearest
from hierlearn.pipeline.command import runs
from hierlearn.pipeline.figures._style import lay_out, narrow, save, set_look
from hierlearn.pipeline.files import cubes
from hierlearn.pipeline.plan.configuration import Plan

# In millimetres, as journals give them, and what an inch is.
WIDTHS, INCH = {"single": 89.0, "double": 183.0}, 25.4
KINDS = ("pdf", "svg", "png")


def draw(asked: Namespace) -> None:
    """Write one panel of a finished study's figure. Raises ValueError, one line, for what is not there."""
    out = Path(asked.out or f"{asked.study}-{asked.panel}.pdf")
    if (kind := out.suffix.removeprefix(".")) not in KINDS:
        raise ValueError(f"--out: found {out.as_posix()!r}; expected a name that ends in {', '.join(KINDS)}")
    drawn = panel(runs.plan_of(asked, [asked.study]), asked.study, asked.panel, width(asked.width))
    with out.open("wb") as file:
        save(drawn, file, kind, {})
    print(f"{out.as_posix()}: panel {asked.panel} of {asked.study}")


def width(text: str) -> float:
    """Return a width in millimetres from a word or a number. Raises ValueError, one line."""
    try:
        found = WIDTHS[text] if text in WIDTHS else float(text)
    except ValueError:
        found = 0.0
    if not 20 <= found <= 1000:
        raise ValueError(f"--width: found {text!r}; expected {', '.join(WIDTHS)} or 20 to 1000 millimetres")
    return found


def panel(plan: Plan, study: str, letter: str, millimetres: float):
    """Return a matplotlib Figure of one panel, laid out. Raises ValueError, one line, and OSError."""
    if study not in plan.studies:
        raise ValueError(f"study: found {study!r}; expected {nearest(study, plan.studies)}")
    parameters, _ = plan.inputs.job("figure", study)
    whole = registry.build("figures", parameters["figure"])
    if letter not in whole.letters:
        allowed = nearest(letter, whole.letters) if whole.letters else "another figure: its panels belong together"
        raise ValueError(f"--panel: found {letter!r} of {study}; expected {allowed}")
    here = SimpleNamespace(study=study)
    scores, traces = (plan.inputs.of_study(kind)(here) for kind in ("scores", "traces"))
    probes = {Path(file).name.removesuffix(".probe.nc"): file for file in plan.inputs.probes(here)}
    if missing := [file for file in (*scores, *traces, *probes.values()) if not Path(file).is_file()]:
        raise ValueError(f"{missing[0]}: found no file; expected a finished run: hierlearn run {study}")
    cube, recorded = (cubes.load(files[0]) if files else None for files in (scores, traces))
    measured = {name: cubes.load(file) for name, file in probes.items()}
    set_look()
    drawn = contracts.drawing(whole.alone(letter), cube, measured, parameters, recorded)
    return lay_out(narrow(drawn, millimetres / INCH))
