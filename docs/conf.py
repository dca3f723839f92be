"""How Sphinx builds these pages: `make docs`. Nothing is fetched from the network, and every warning is an error."""

from __future__ import annotations

import base64
import importlib
import inspect
import itertools
import re
import warnings
from pathlib import Path

import nbformat

import fewlabel

ROOT = Path(__file__).resolve().parents[1]

project = "fewlabel"
version = release = fewlabel.__version__
copyright = "fewlabel developers, BSD-3-Clause"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
    "numpydoc",
    "myst_parser",
]
exclude_patterns = ["_build", "notes", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.md5"]
smartquotes = False
suppress_warnings = ["config.cache"]  # autosummary_context and sphinx_gallery_conf have functions
default_role = "py:obj"  # `name` in a docstring is a link where there is something to link to, and code elsewhere
highlight_language = "python"
nitpicky = False  # names of scikit-learn and NumPy stay plain: there is no inventory to look them up in

# ------------------------------------------------------------------ pages
myst_heading_anchors = 3  # [text](page.md#heading)
myst_enable_extensions = ["colon_fence", "deflist"]
myst_url_schemes = ("http", "https", "mailto")

# ------------------------------------------------------------------ reference
templates_path = ["templates"]
toc_object_entries_show_parents = "hide"  # names of methods fit beside the page
autosummary_generate = True


def own(module: str, class_name: str, method: str) -> bool:
    """Whether a method is ours. Those of scikit-learn's base classes are described there."""
    function = getattr(getattr(importlib.import_module(module), class_name), method)
    return not method.startswith("_") and getattr(function, "__module__", "").startswith("fewlabel")


autosummary_context = {"own": own}
autodoc_typehints = "none"  # types stand in the docstrings, in words
numpydoc_show_class_members = False  # each class page lists its methods once, below
numpydoc_xref_param_type = False

# ------------------------------------------------------------------ gallery
warnings.filterwarnings("error", message=".*fewlabel.*", category=DeprecationWarning)
ORDER = [  # as a reader meets the questions
    "plot_few_labels.py",
    "plot_class_prior.py",
    "plot_after_fit.py",
    "plot_labeling.py",
    "plot_csv.py",
    "plot_grid_search.py",
    "plot_hierarchy.py",
    "plot_sequences.py",
    "plot_history.py",
    "plot_many_machines.py",
]
sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "within_subsection_order": ORDER.index,
    "abort_on_example_error": True,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 5,
    "remove_config_comments": True,
    "backreferences_dir": "generated/examples",
    "doc_module": ("fewlabel",),
    "reference_url": {"fewlabel": None},
    "write_computation_times": False,
    "run_stale_examples": True,  # the library may have changed where the example has not
    "capture_repr": (),
}

# ------------------------------------------------------------------ appearance
html_theme = "pydata_sphinx_theme"
html_title = "fewlabel"
html_static_path = ["static"]
html_css_files = ["fewlabel.css"]
html_sidebars = {name: [] for name in ("start", "generated/changelog")}  # they have no pages below them
html_show_sourcelink = False
html_copy_source = False
html_favicon = "static/logo.svg"
html_theme_options = {
    "logo": {"image_light": "static/logo.svg", "image_dark": "static/logo.svg", "text": f"fewlabel {version}"},
    "icon_links": [
        {"name": "Repository", "url": "https://github.com/fewlabel/fewlabel", "icon": "fa-brands fa-github"},
    ],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": False,
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
    "secondary_sidebar_items": ["page-toc"],
}


# ------------------------------------------------------------------ the pages of the reference
REFERENCE = """API reference
=============

Every public name, by task. Importing ``fewlabel`` is cheap: a name loads what it needs when it is first used, the
native library is loaded at the first ``fit`` or file operation, and ``predict`` never needs it.

.. toctree::
   :maxdepth: 2

"""
TASKS = {  # names of `fewlabel` itself, and modules for all of their names
    "Classifiers": [
        "TransductiveSVC",
        "SemiSupervisedLogisticRegression",
        "KernelFeatures",
    ],
    "Methods": ["methods"],
    "Preparation": ["preprocessing"],
    "Did it help?": ["inspection"],
    "Labeling": ["labeling", "labels"],
    "Scores and splits": ["metrics", "model_selection"],
    "Plots": ["plotting"],
    "Sequences": ["SequenceSVC", "sequences"],
    "Structure": ["ASOTransformer"],
    "Data": ["datasets"],
    "Files": ["save_model", "load_model"],
    "Many machines": ["dask", "spmd"],
    "Warnings, versions": ["FewlabelWarning", "ClassPriorWarning", "DataWarning", "show_versions"],
}


def table(module: str, names: list[str]) -> str:
    """A table of names of a module."""
    listed = "\n   ".join(names)
    return f".. currentmodule:: {module}\n\n.. autosummary::\n   :toctree: .\n   :nosignatures:\n\n   {listed}\n"


def task_page(title: str, names: list[str]) -> str:
    """The page of a task: a table of names of the package, and one for each module."""
    own = [name for name in names if not inspect.ismodule(getattr(fewlabel, name))]
    modules = [getattr(fewlabel, name) for name in names if name not in own]
    parts = [title, "=" * len(title), "", *([table("fewlabel", own)] if own else [])]
    for module in modules:
        parts += [
            f"``{module.__name__}``: {inspect.getdoc(module).splitlines()[0]}",
            "",
            table(module.__name__, module.__all__),
        ]
    return "\n".join(parts)


def write(name: str, text: str) -> None:
    """A page in generated/, written only if it is new: Sphinx builds again what has changed."""
    path = ROOT / "docs" / "generated" / name
    path.parent.mkdir(exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


missing = {*fewlabel.__all__} - {"__version__", "estimate_class_prior"} ^ {*itertools.chain(*TASKS.values())}
if missing:
    raise SystemExit(f"docs/conf.py: TASKS and fewlabel.__all__ differ in {sorted(missing)}")
PAGES = {re.sub(r"\W+", "-", title.lower()).strip("-"): title for title in TASKS}
for page, title in PAGES.items():
    write(f"api-{page}.rst", task_page(title, TASKS[title]))
write("index.rst", REFERENCE + "".join(f"   api-{page}\n" for page in PAGES))
write("changelog.md", "```{include} ../../CHANGELOG.md\n:relative-docs: docs/\n```\n")


# ------------------------------------------------------------------ the notebook
def cell_page(number: int, cell: nbformat.NotebookNode) -> str:
    """A cell of the notebook with what it printed and drew."""
    if cell.cell_type == "markdown":
        return cell.source
    parts = [f"```python\n{cell.source}\n```"]
    for out in cell.outputs:
        if out.get("name") == "stdout":
            parts.append(f"```text\n{out.text}```")
        elif picture := out.get("data", {}).get("image/png"):
            (ROOT / "docs" / "generated" / f"cell-{number}.png").write_bytes(base64.b64decode(picture))
            parts.append(f"![Output of the cell above](cell-{number}.png)")
    return "\n\n".join(parts)


NOTEBOOK = ROOT / "examples" / "few_labels.ipynb"
cells = [cell_page(number, cell) for number, cell in enumerate(nbformat.read(NOTEBOOK, as_version=4).cells)]
download = "{download}`few_labels.ipynb <../../examples/few_labels.ipynb>` is this page as a notebook."
write("few_labels.md", "\n\n".join([*cells, "## Download", download]) + "\n")
