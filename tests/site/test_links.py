# SPDX-License-Identifier: GPL-2.0
"""No link in the documents is dead; links.py finds dead ones."""

from pathlib import Path

from bench.lab import ROOT
from tests.site import links

DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_documents():
    assert len(DOCUMENTS) > 10
    assert links.dead_in_markdown(DOCUMENTS) == []


def test_dead_links_in_markdown(tmp_path: Path):
    (tmp_path / "b.md").write_text("# B\n\n## Its `part`, 2nd\n\n## Its part\n## Its part\n")
    a = tmp_path / "a.md"
    a.write_text(
        "# A\n\n[b](b.md) [b](b.md#its-part-2nd) [b](b.md#its-part-1) [a](#a) ![no](c.png)\n"
        "`[code](d.md)` [of\nan](e.md) [b](b.md#its-part-2) [a](#b) [far](https://e.example/e.md)\n"
        "\n```\n[code](f.md)\n## code\n```\n[a](#code)\n"
    )
    assert links.dead_in_markdown([a, tmp_path / "b.md"]) == [
        "a.md:3: c.png",
        "a.md:5: e.md",
        "a.md:5: b.md#its-part-2",
        "a.md:5: #b",
        "a.md:11: #code",
    ]


def test_faults_of_pages(tmp_path: Path):
    (tmp_path / "man").mkdir()
    (tmp_path / "man/b.html").write_text('<p id="x"><a href="../a.html#top">a</a><br></p>')
    (tmp_path / "a.html").write_text(
        '<link rel="stylesheet" href="https://e.example/a.css"><script src="a.js"></script>'
        '<div id="top"><a href="man/b.html#x">b</a><a href="man/b.html#y">b</a></div>'
        '<p id="top"><a href="c.html">c</a><a href="#z">z</a><b></p><img src="a%20b.png">'
        '<a href="https://e.example/">far</a>'
    )
    (tmp_path / "a b.png").touch()
    assert links.faults_of_site(tmp_path) == [
        "a.html: two elements #top",
        "a.html: </p> closes another element",
        "a.html: <p> is not closed",
        "a.html: loads https://e.example/a.css",
        "a.html: there is no a.js",
        "a.html: no anchor: man/b.html#y",
        "a.html: there is no c.html",
        "a.html: no anchor: #z",
    ]
