"""Settings of the documentation; `make docs` builds it."""

from lpjt import __version__

project = "lpjt"
author = "The lpjt developers"
copyright = "The lpjt developers, BSD-3-Clause"
version = release = __version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx.ext.viewcode"]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
# Attributes are in the class docstring; listing them again would need a page for each.
numpydoc_show_class_members = False

html_theme = "pydata_sphinx_theme"
html_title = f"lpjt {release}"
html_show_sourcelink = False
html_theme_options = {"show_toc_level": 2, "navigation_with_keys": False}
