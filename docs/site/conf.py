# SPDX-License-Identifier: GPL-2.0
"""How Sphinx makes the site: tools/site calls it."""

import re
from pathlib import Path

HERE = Path(__file__).resolve().parent

project = "mts"
author = "the mts authors"
version = release = re.search(
    r'MTS_VERSION "(.*)"', (HERE.parents[1] / "module/version.h").read_text()
)[1]

extensions = ["myst_parser"]
# Tables of bench/report have headings of the third level below a title.
suppress_warnings = ["myst.header"]
# Anchors as in Markdown elsewhere: the words of the heading.
myst_heading_anchors = 6
# Indented code has no language.
highlight_language = "none"
pygments_style = "friendly"
pygments_dark_style = "native"

html_theme = "furo"
html_title = f"mts {version}"
html_favicon = "static/icon.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_theme_options = {
    "light_css_variables": {
        "code-font-size": "75%",  # 95 columns fit
        "color-brand-primary": "#0b4f7a",
        "color-brand-content": "#0b5f94",
    },
    "dark_css_variables": {
        "color-brand-primary": "#8ac4ee",
        "color-brand-content": "#7db9e8",
    },
}
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_use_index = False
html_domain_indices = False
