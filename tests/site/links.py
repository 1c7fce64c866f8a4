# SPDX-License-Identifier: GPL-2.0
"""Finds dead links: in Markdown files, as they are, and in HTML pages.

Addresses elsewhere (https:) are not asked for: there may be no network.
"""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Elements that have no end tag.
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
# What a page loads by itself.
LOADED = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src"}


# ---- Markdown --------------------------------------------------------------------


def prose(path: Path) -> list[tuple[int, str]]:
    """Numbered lines without code."""
    lines = []
    fenced = False
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            lines.append((number, line))
    return lines


def anchors(path: Path) -> set[str]:
    """Of the headings, as GitHub and GitLab make them."""
    found: dict[str, int] = {}
    for _, line in prose(path):
        if heading := re.match(r"#{1,6} +(.*)", line):
            text = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading[1])
            slug = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
            count = found[slug] = found.get(slug, -1) + 1
            if count:
                found[f"{slug}-{count}"] = 0
    return set(found)


def dead_in_markdown(paths: list[Path]) -> list[str]:
    """What links in these files lead nowhere: FILE:LINE: TARGET."""
    dead = []
    for path in paths:
        for number, line in prose(path):
            for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "``", line)):
                if re.match(r"[a-z]+:", target):
                    continue
                name, _, anchor = target.partition("#")
                to = path.parent / name if name else path
                if not to.exists() or (anchor and anchor not in anchors(to)):
                    dead.append(f"{path.name}:{number}: {target}")
    return dead


# ---- HTML ------------------------------------------------------------------------


class Page(HTMLParser):
    """What a page links to, what it loads, the anchors it has, and faults of its elements."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.ids: set[str] = set()
        self.faults: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.faults += [f"<{tag}> is not closed" for tag in self._open]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        has = dict(attrs)
        if tag not in VOID:
            self._open.append(tag)
        if name := has.get("id"):
            if name in self.ids:
                self.faults.append(f"two elements #{name}")
            self.ids.add(name)
        address = has.get(LOADED.get(tag, "href"))
        if tag in LOADED and address:
            self.loaded.append(address)
        if address:
            self.links.append(address)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self._open or self._open.pop() != tag:
            self.faults.append(f"</{tag}> closes another element")


def faults_of_site(folder: Path) -> list[str]:
    """Dead links, and what pages load from elsewhere or have wrong: PAGE: FAULT."""
    folder = folder.resolve()
    pages = {path: Page(path.read_text()) for path in sorted(folder.rglob("*.html"))}
    faults = []
    for path, page in pages.items():
        found = list(page.faults)
        found += [f"loads {one}" for one in page.loaded if urlsplit(one).netloc]
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            to = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not to.is_file():
                found.append(f"there is no {link}")
            elif parts.fragment and unquote(parts.fragment) not in pages[to].ids:
                found.append(f"no anchor: {link}")
        faults += [f"{path.relative_to(folder)}: {fault}" for fault in found]
    return faults
