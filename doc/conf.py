"""How Sphinx builds these pages: ``python -m sphinx doc build/doc``."""

project = "theano-scan"
author = "the authors of theano-scan"
copyright = author

extensions = ["myst_parser"]
# so that a link can name a heading of a page
myst_heading_anchors = 3
exclude_patterns = ["pictures/*.py"]

html_theme = "furo"
html_title = "Theano, with fast loops"
pygments_style = "friendly"
