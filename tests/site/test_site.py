# SPDX-License-Identifier: GPL-2.0
"""tools/site: its links, its pages, what it refuses; and the site in a browser, with its search."""

import functools
import http.server
import os
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.lab import ROOT
from tests.site import links

VENV = ROOT / "build/site-venv"
DESKTOP, PHONE = (1400, 900), (390, 844)

pytestmark = pytest.mark.skipif(
    not (VENV / "bin/sphinx-build").exists() or not shutil.which("mandoc"),
    reason="no Sphinx, or no mandoc: tools/setup site",
)


def run(tool: Path, *words: object) -> subprocess.CompletedProcess:
    """One that hangs says where: it, and Sphinx, write their stacks to stderr."""
    return subprocess.run(
        ["timeout", "-s", "ABRT", "300", tool, *map(str, words)],
        capture_output=True, text=True, env={**os.environ, "PYTHONFAULTHANDLER": "1"},
    )  # fmt: skip


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The folder of its pages."""
    out = tmp_path_factory.mktemp("site")
    done = run(ROOT / "tools/site", out)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{out}/html/index.html\n"
    return out / "html"


# ---- its pages -------------------------------------------------------------------


def test_no_dead_links_and_nothing_from_elsewhere(site):
    assert links.faults_of_site(site) == []
    # Style sheets load files that are there; some have pictures in themselves.
    sheets = [*site.rglob("*.css")]
    assert len(sheets) > 3
    for sheet in sheets:
        text = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL)
        assert "@import" not in text
        for name in re.findall(r"""url\(\s*["']?([^"')]*)""", text):
            assert name.startswith("data:") or (sheet.parent / name).is_file(), (sheet.name, name)


def test_each_document_and_manual_is_listed(site):
    manuals = [path.name for path in (ROOT / "userspace").glob("*/*.[1-9]")]
    documents = [path.stem for path in (ROOT / "docs").glob("*.md")]
    assert len(manuals) > 5
    assert len(documents) > 10
    listed = links.Page((site / "index.html").read_text()).links
    for name in (*documents, "changelog", *(f"man/{name}" for name in manuals)):
        assert f"{name}.html" in listed


def test_manuals_lead_to_each_other(site):
    page = (site / "man/mtsctl.8.html").read_text()
    assert '<a href="mtsd.8.html"><b>mtsd</b>(8)</a>' in page
    assert '<h3>mtsctl doctor<a class="headerlink" href="#mtsctl-doctor"' in page
    assert "<b>systemd</b>(1)" in page  # not one of ours


def test_files_of_the_source_are_pages(site):
    assert 'href="source/userspace/libmts/mts.h.html"' in (site / "howto.html").read_text()
    assert "mts_connect" in (site / "source/userspace/libmts/mts.h.html").read_text()


# ---- what is refused -------------------------------------------------------------


@pytest.fixture
def small(tmp_path) -> Path:
    """A checkout with two documents and a manual."""
    for name in ("tools/site", "docs/site", "module/version.h", "userspace/mtsd/mtsd.8"):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        copy(ROOT / name, tmp_path / name)
    (tmp_path / "build").mkdir()
    (tmp_path / "build/site-venv").symlink_to(VENV)
    (tmp_path / "README.md").write_text("# It\n\n[a](docs/a.md#its-part) [b](CHANGELOG.md)\n")
    (tmp_path / "CHANGELOG.md").write_text("# Changes\n\n*Kind: reference.*\n")
    (tmp_path / "docs/a.md").write_text("# A\n\n*Kind: tutorial.*\n\n## Its part\n")
    return tmp_path


def test_a_good_one(small):
    done = run(small / "tools/site")
    assert (done.stdout, done.stderr) == ("build/site/html/index.html\n", "")
    assert not done.returncode


def test_a_dead_anchor(small):
    (small / "README.md").write_text("# It\n\n[a](docs/a.md#no-such-part)\n")
    done = run(small / "tools/site")
    assert done.returncode == 1
    assert "index.md:3: WARNING" in done.stderr
    assert "no-such-part" in done.stderr


@pytest.mark.parametrize("target", ["b.md", "../module/none.h", "../../etc", "picture.png"])
def test_a_dead_link(small, target):
    (small / "docs/a.md").write_text(f"# A\n\n*Kind: tutorial.*\n\n[b]({target})\n")
    done = run(small / "tools/site")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"site: docs/a.md: there is no {target}\n"


def test_a_document_without_a_kind(small):
    (small / "docs/a.md").write_text("# A\n")
    done = run(small / "tools/site")
    assert done.returncode == 1
    assert done.stderr.startswith("site: docs/a.md: no *Kind: tutorial | ")


@pytest.mark.parametrize("name", ["html", "pages"])
def test_a_folder_that_it_did_not_make(small, tmp_path, name):
    """Nothing is deleted there, nor beside it; nothing is written."""
    out = tmp_path / "public"
    (out / name).mkdir(parents=True)
    (out / name / "mine").write_text("mine")
    done = run(small / "tools/site", out)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"site: {out}/{name} was not made by tools/site: remove it, or name another FOLDER\n"
    )
    assert [path.name for path in out.rglob("*")] == [name, "mine"]


def test_a_link_to_a_folder(small, tmp_path):
    """Even to a site that it has made: where that lies it was not asked to write."""
    assert not run(small / "tools/site", tmp_path / "one").returncode
    (tmp_path / "two").mkdir()
    (tmp_path / "two/html").symlink_to(tmp_path / "one/html")
    done = run(small / "tools/site", tmp_path / "two")
    assert (done.returncode, "was not made by tools/site" in done.stderr) == (1, True)
    assert (tmp_path / "one/html/index.html").exists()


def test_again(small, tmp_path):
    """Into the folder of the last time: pages that are no more go, what lies beside them stays."""
    out = tmp_path / "public"
    (out / "html").mkdir(parents=True)  # empty: there is nothing to lose
    (out / "doctrees").mkdir()
    (out / "doctrees/mine").write_text("mine")
    for _ in range(2):
        done = run(small / "tools/site", out)
        assert (done.returncode, done.stderr) == (0, "")
        assert not (out / "html/old.html").exists()
        (out / "html/old.html").write_text("old")
    assert sorted(path.name for path in out.iterdir()) == ["doctrees", "html", "pages"]
    assert (out / "doctrees/mine").exists()


def test_a_site_in_build_is_replaced(small):
    """Also one of a version that did not mark it."""
    (small / "build/site/html").mkdir(parents=True)
    (small / "build/site/html/old.html").write_text("old")
    assert not run(small / "tools/site").returncode
    assert not (small / "build/site/html/old.html").exists()


# ---- in a browser ----------------------------------------------------------------


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def address(site) -> Iterator[str]:
    handler = functools.partial(Quiet, directory=site)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser():
    if not shutil.which("chromium") or not shutil.which("chromedriver"):
        pytest.skip("no chromium, or no chromedriver: tools/setup browser")
    webdriver = pytest.importorskip("selenium.webdriver", reason="tools/setup browser")
    from selenium.webdriver.chrome.service import Service  # noqa: PLC0415 # it may be missing

    options = webdriver.ChromeOptions()
    for word in ("headless=new", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{word}")
    if not os.geteuid():
        options.add_argument("--no-sandbox")
    driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)
    driver.implicitly_wait(20)
    yield driver
    driver.quit()


def show(browser, address: str, size=DESKTOP, scheme: str = "light") -> None:
    """Load a page, and have no complaint of the browser."""
    width, height = size
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == PHONE}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    browser.get_log("browser")  # of the page before
    browser.get(address)
    said = [entry["message"] for entry in browser.get_log("browser") if entry["level"] != "INFO"]
    assert said == []


def loaded(browser) -> list[str]:
    """Addresses of what the page has loaded."""
    return browser.execute_script(
        "return performance.getEntriesByType('resource').map(r => r.name)"
    )


@pytest.mark.parametrize("size", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_pages_fit_the_window(browser, address, site, size):
    """Wide tables and examples scroll by themselves. Nothing is loaded from elsewhere."""
    wide = []
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 20
    for page in pages:
        show(browser, f"{address}/{page.relative_to(site)}", size)
        assert len(loaded(browser)) > 5
        assert [it for it in loaded(browser) if not it.startswith((address, "data:"))] == []
        by = browser.execute_script("return document.documentElement.scrollWidth - innerWidth")
        if by > 0:
            wide.append(f"{page.name}: {by}")
    assert wide == []


def test_light_and_dark(browser, address):
    """As the system has it, and by the button."""

    def brightness() -> int:
        colour = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        return sum(map(int, re.findall(r"\d+", colour)[:3]))

    show(browser, f"{address}/index.html")
    assert brightness() > 700
    show(browser, f"{address}/index.html", scheme="dark")
    assert brightness() < 150
    show(browser, f"{address}/index.html")
    for _ in range(3):  # as the system, light, dark: in some order
        browser.execute_script("document.querySelector('.content-icon-container button').click()")
        if brightness() < 150:
            break
    assert brightness() < 150
    browser.execute_script("localStorage.clear()")


def search(browser, words: str) -> list:
    """Type them into the field of the page, and wait for all links, which come one by one."""
    field = browser.find_element("css selector", ".sidebar-search")
    field.send_keys(words)
    field.submit()
    title = "return document.querySelector('#search-results h2')?.innerText"
    end = time.monotonic() + 30
    while browser.execute_script(title) != "Search Results":
        assert time.monotonic() < end, "it still searches"
        time.sleep(0.1)
    return browser.find_elements("css selector", "#search-results ul.search li a")


@pytest.mark.parametrize(
    ("words", "page", "text"),
    [
        ("workingset", "mechanisms.html", "workingset_refault_anon"),  # of a document
        ("watchdogsec", "man/mtsctl.8.html", "WatchdogSec"),  # of a manual
    ],
)
def test_search(browser, address, words, page, text):
    show(browser, f"{address}/index.html")
    found = {re.split("[?#]", it.get_attribute("href"))[0]: it for it in search(browser, words)}
    assert f"{address}/{page}" in found
    found[f"{address}/{page}"].click()
    assert text in browser.find_element("css selector", "article").text


def test_search_in_files(browser, site):
    """Without a server: a page opened from the disk."""
    show(browser, f"file://{site}/index.html")
    leads = [link.get_attribute("href") for link in search(browser, "workingset")]
    assert any(lead.startswith(f"file://{site}/mechanisms.html") for lead in leads), leads


def test_nothing_is_found_for_nonsense(browser, address):
    show(browser, f"{address}/search.html?q=xyzzyplugh")
    said = browser.find_element("css selector", "#search-results p.search-summary").text
    assert "did not match" in said
    count = "return document.querySelectorAll('#search-results a').length"
    assert browser.execute_script(count) == 0
