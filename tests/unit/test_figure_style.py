"""What figures have in common: files whose bytes hang on nothing but what is drawn."""

import io
import subprocess
import sys

import matplotlib
import pytest
from matplotlib.figure import Figure

from hierlearn.pipeline.figures import _style

DRAWING = """
import hashlib, io
from hierlearn.pipeline.figures import _style
{first}
figure = _style.blank(3, 2)
place = figure.subplots()
place.semilogx([1, 10, 1000], [0.5, 2, 3], label="$n^*$ of $d^2$")
place.set(title="title", xlabel="$m_x$", ylabel="another")
place.legend()
_style.name_claims(place, ["C2"])
_style.lay_out(figure)
file = io.BytesIO()
_style.save(figure, file, "{kind}", {{}})
print(hashlib.sha256(file.getvalue()).hexdigest())
"""


def digests(script: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return done.stdout.split()


def test_a_figure_has_the_same_bytes_where_another_was_drawn_before():
    kinds = ("svg", "pdf", "png")
    first = [digests(DRAWING.format(first="", kind=kind)) for kind in kinds]
    later = digests("".join(DRAWING.format(first="_style.warm_up()", kind=kind) for kind in kinds))
    assert [one for (one,) in first] == later


# What a matplotlibrc, a style or a component may have set before.
SETTINGS = {
    "text.usetex": True,
    "axes.grid": True,
    "axes.formatter.use_locale": True,
    "axes.unicode_minus": False,
    "axes.prop_cycle": "cycler('color', ['red'])",
    "font.family": "serif",
    "font.size": 20,
    "mathtext.fontset": "cm",
    "figure.dpi": 33,
    "figure.facecolor": "black",
    "figure.constrained_layout.h_pad": 1.0,
    "savefig.bbox": "tight",
    "savefig.dpi": 33,
    "savefig.transparent": True,
    "lines.antialiased": False,
    "path.simplify": False,
    "pdf.compression": 0,
    "svg.hashsalt": "another",
    "toolbar": "None",
    "timezone": "Asia/Tokyo",
    "date.epoch": "0000-12-31",
}


def drawn(kind: str) -> bytes:
    """A figure as a component may draw one, without `blank`."""
    _style.set_look()
    figure = Figure(figsize=(3, 2), layout="constrained")
    place = figure.subplots()
    place.semilogx([1, 10, 1000], [-0.5, 2, 3], label="$n^*$ of $d^2$")
    place.set(title="title", xlabel="$m_x$", ylabel="another")
    place.legend()
    file = io.BytesIO()
    _style.save(_style.lay_out(figure), file, kind, {})
    return file.getvalue()


@pytest.fixture(scope="module")
def plain():
    """A figure in every form, where nobody has set anything."""
    return {kind: drawn(kind) for kind in ("svg", "pdf", "png")}


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
@pytest.mark.parametrize("settings", [SETTINGS, *({name: value} for name, value in list(SETTINGS.items())[:6])])
def test_no_setting_of_a_users_changes_a_byte_of_a_figure(kind, settings, plain):
    with matplotlib.rc_context():
        matplotlib.rcParams.update(settings)
        assert drawn(kind) == plain[kind]
