"""Settings of the documentation; `make docs` builds it. Nothing in the pages needs a network."""

import sys
from pathlib import Path

from lpjt import __version__

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

from borrowed import borrowed_methods

project = "lpjt"
author = "The lpjt developers"
copyright = "The lpjt developers, BSD-3-Clause"
version = release = __version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "mathml",
]
html_math_renderer = "mathml"
exclude_patterns = ["_build", "_templates", "examples/*.ipynb", "examples/*.py"]
templates_path = ["_templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
nitpicky = True  # a reference that leads nowhere is an error

myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_context = {"borrowed": borrowed_methods()}
autodoc_typehints = "none"  # the docstrings say it in words
numpydoc_show_class_members = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "examples",
    "filename_pattern": "/",  # all of them are run
    "ignore_pattern": "__init__",
    "within_subsection_order": "gallery_order.by_topic",
    "backreferences_dir": "examples/backreferences",
    "doc_module": ("lpjt",),
    "reference_url": {"lpjt": None},
    "abort_on_example_error": True,
    "download_all_examples": False,
    "default_thumb_file": str(Path(__file__).parent / "figures" / "fig-embedding.png"),
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,  # its page would load scripts from elsewhere
    "nested_sections": False,
}

html_theme = "pydata_sphinx_theme"
html_title = f"lpjt {release}"
html_show_sourcelink = False
html_show_search_summary = False  # a page that is opened from a file cannot read the others
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_context = {"default_mode": "auto"}
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "compared": []},  # its tables need the room
}
