"""The site, built by Sphinx: `make site`. Pages are Markdown; generated.py writes what comes from declarations, and the
programs of gallery/ are run for their pictures."""

import re
import shutil
import sys
import tomllib
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import component_pages
import generated

ROOT = Path(__file__).parents[1]
project = "The executable theory of hierarchical learning"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx_gallery.gen_gallery", "mathml"]
html_math_renderer = "mathml"
# Docstrings are numpydoc's: words of a type are no names that a page defines, and single backticks are code.
napoleon_google_docstring, napoleon_use_param, napoleon_use_rtype = False, False, False
napoleon_custom_sections = [("Attributes", "params_style")]
autodoc_typehints, autodoc_member_order, default_role = "none", "bysource", "literal"
html_theme = "furo"
html_show_copyright = False
html_static_path, html_css_files = ["style"], ["mathematics.css"]
# Primes of formulas are no quotation marks.
smartquotes = False
html_title = "Hierarchical learning, executable"
# The pages ask no other machine for anything: no fonts, no scripts, no mathematics but MathML.
html_theme_options = {"footer_icons": []}
exclude_patterns = ["ledger", "records", "gallery"]
# Where the site is published: one field of pyproject.toml.
html_baseurl = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"]["Documentation"]
sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "tutorials",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "write_computation_times": False,
    "remove_config_comments": True,
}
# What a model says of its fit belongs to who fits it; `make site` shows errors.
warnings.filterwarnings("ignore", module=r"hierlearn\.|sklearn\.")
myst_heading_anchors = 3
myst_enable_extensions = ["attrs_inline", "dollarmath"]
# Prices and shells have dollars too.
myst_dmath_allow_space, myst_dmath_allow_digits = False, False
nitpicky = True


def fill(app, name: str, source: list[str]) -> None:
    """Puts what is generated in the place of the lines that ask for it, and of the line that says so before them."""
    asked = r"^(?:> `make manual` fills .*\n\n)?\{(\w+)(?: (\w+))?\}$"
    made = {**vars(generated), **vars(component_pages)}
    source[0] = re.sub(asked, lambda found: made[found[1]](*filter(None, [found[2]])), source[0], flags=re.MULTILINE)


def escape(app, what: str, name: str, thing, options, lines: list[str]) -> None:
    """Keeps the mathematics of docstrings as it stands: bars, stars and underscores that mark up nothing."""
    for i, line in enumerate(lines):
        if line.lstrip().startswith((">>>", "...")):
            continue
        parts = re.split(r"(`[^`]*`)", line)
        lines[i] = "".join(part if part.startswith("`") else re.sub(r"([|*]|_(?!\w))", r"\\\1", part) for part in parts)


def with_ledger(app, exception: Exception | None) -> None:
    """The stored ledger beside the pages that speak of it."""
    if exception is None:
        page = Path(app.outdir) / "ledger" / "index.html"
        for folder in ("ledger", "pictures"):
            shutil.copytree(ROOT / "docs" / folder, Path(app.outdir) / folder, dirs_exist_ok=True)
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace('href="../reading.md"', 'href="../reading.html"'), encoding="utf-8")


def setup(app) -> None:
    app.connect("source-read", fill)
    # Before napoleon reads them.
    app.connect("autodoc-process-docstring", escape, priority=400)
    app.connect("build-finished", with_ledger)
