"""What figures have in common: files whose bytes hang on nothing but what is drawn."""

import subprocess
import sys

import pytest

DRAWING = """
import hashlib, io
from hierlearn.figures import _style
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


@pytest.mark.parametrize("kind", ["svg", "pdf", "png"])
def test_a_figure_has_the_same_bytes_where_another_was_drawn_before(kind):
    scripts = (DRAWING.format(first=first, kind=kind) for first in ("", "_style.warm_up()"))
    runs = [subprocess.run([sys.executable, "-c", one], capture_output=True, text=True, check=True) for one in scripts]
    assert runs[0].stdout == runs[1].stdout != ""
