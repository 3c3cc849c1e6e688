"""The report in a real browser: drawn, silent, closed to the world, light and dark."""

import json
import shutil
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hostile import HOSTILE
from kernelm.app.report import write

BROWSER = next(filter(None, map(shutil.which, ("chromium", "google-chrome", "chrome"))), None)
DRIVER = shutil.which("chromedriver")
SIZES = {"desktop": (1280, 900), "phone": (390, 844)}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    if BROWSER is None or DRIVER is None:
        pytest.skip("no chromium or no chromedriver on PATH")
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage"):
        options.add_argument(f"--{flag}")
    options.add_argument("--host-resolver-rules=MAP * ~NOTFOUND")  # nothing outside is reached
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=DRIVER)
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


@pytest.fixture(scope="module", params=["regression", "classification"])
def report(request, tmp_path_factory) -> Path:
    found = request.getfixturevalue(request.param)
    path = tmp_path_factory.mktemp("report") / f"{request.param}.html"
    return write(found, path, title=f"{HOSTILE[0]} {HOSTILE[2]}")


def opened(browser: Any, path: Path, size: str = "desktop", scheme: str = "light") -> Any:
    width, height = SIZES[size]
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    for kind in ("browser", "performance"):
        browser.get_log(kind)  # of the page before
    browser.get(path.as_uri())
    return browser


def requested(browser: Any, *, with_blocked: bool = True) -> list[str]:
    """Every address that the page asked for; with those that its policy stopped, or without."""
    messages = [json.loads(e["message"])["message"] for e in browser.get_log("performance")]
    failed = [m["params"] for m in messages if m["method"] == "Network.loadingFailed"]
    blocked = {p["requestId"] for p in failed if p.get("blockedReason") == "csp"}
    sent = [m["params"] for m in messages if m["method"] == "Network.requestWillBeSent"]
    return [p["request"]["url"] for p in sent if with_blocked or p["requestId"] not in blocked]


def test_the_page_says_nothing_on_the_console_and_asks_for_nothing(browser, report):
    opened(browser, report)
    assert browser.get_log("browser") == []
    assert requested(browser) == [report.as_uri()]


def test_a_page_that_is_not_closed_would_be_caught(browser, tmp_path):
    leaky = tmp_path / "leaky.html"
    leaky.write_text(f"<!DOCTYPE html><title>leaky</title><p>{HOSTILE[1]}{HOSTILE[0]}")
    opened(browser, leaky)
    assert browser.title == "owned"
    assert browser.get_log("browser") != []
    assert "http://evil.invalid/x.png" in requested(browser, with_blocked=False)


def test_the_policy_stops_script_and_pictures_even_if_they_got_in(browser, report, tmp_path):
    injected = tmp_path / "injected.html"
    html = report.read_text(encoding="utf-8")
    injected.write_text(html.replace("<main>", f"<main><p>{HOSTILE[1]}{HOSTILE[0]}"), "utf-8")
    opened(browser, injected)
    assert browser.title != "owned"
    assert requested(browser, with_blocked=False) == [injected.as_uri()]


def test_hostile_names_are_inert_and_readable(browser, report):
    opened(browser, report)
    assert browser.title.startswith(HOSTILE[0])
    assert browser.execute_script("return document.querySelectorAll('#owned, img, a').length") == 0
    assert browser.execute_script("return document.scripts.length") == 1
    assert HOSTILE[0] in browser.execute_script("return document.body.innerText")


@pytest.mark.parametrize("size", SIZES)
def test_charts_are_drawn_and_nothing_sticks_out(browser, report, size):
    opened(browser, report, size)
    boxes = browser.execute_script(
        "return [...document.querySelectorAll('svg')].map(s => s.getBoundingClientRect())"
        ".filter(b => b.width > 0).map(b => [b.left, b.right, b.height])"
    )
    assert len(boxes) >= 6  # one of the wide and the narrow picture, and five or more others
    assert all(left >= 0 and right <= SIZES[size][0] and high > 60 for left, right, high in boxes)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= SIZES[size][0]


@pytest.mark.parametrize("size", SIZES)
def test_labels_can_be_read_and_stay_in_their_pictures(browser, report, size):
    opened(browser, report, size)
    found = browser.execute_script(
        """
        const shown = [...document.querySelectorAll('svg')].filter(s => s.clientWidth);
        return shown.flatMap(s => [...s.querySelectorAll('text')].map(t => {
          const [a, b] = [s.getBoundingClientRect(), t.getBoundingClientRect()];
          const across = Math.max(a.left - b.left, b.right - a.right);
          const over = Math.max(across, a.top - b.top, b.bottom - a.bottom);
          const pixels = s.clientWidth / s.viewBox.baseVal.width;
          const size = parseFloat(getComputedStyle(t).fontSize) * pixels;
          return [t.textContent, over, size];
        }))
        """
    )
    assert [words for words, over, _ in found if over > 3] == []
    assert min(size for _, _, size in found) >= 7.5


def test_a_click_sorts_the_table(browser, report):
    opened(browser, report)
    rows = "[...document.querySelectorAll('.sortable tbody tr')]"
    read = f"return {rows}.map(r => Number(r.cells[1].dataset.value))"
    press = "document.querySelectorAll('.sortable th button')[1].click()"
    browser.execute_script(press)
    rising = browser.execute_script(read)
    assert rising == sorted(rising)
    browser.execute_script(press)
    assert browser.execute_script(read) == rising[::-1]
    head = "return document.querySelectorAll('.sortable thead th')[1].ariaSort"
    assert browser.execute_script(head) == "descending"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_its_ground(browser, report, scheme):
    opened(browser, report, scheme=scheme)
    style = "const s = getComputedStyle(document.documentElement);"
    names = ["page", "card", "ink", "soft", "accent", "wrong"]
    code = f"{style} return {names}.map(n => s.getPropertyValue('--' + n).trim())"
    colour = dict(zip(names, browser.execute_script(code), strict=True))
    for ground in ("page", "card"):
        for words in ("ink", "soft", "accent", "wrong"):
            assert contrast(colour[words], colour[ground]) >= 4.5, (words, ground)


def test_light_and_dark_pictures_differ(browser, report, tmp_path):
    pixels = {}
    for scheme in ("light", "dark"):
        opened(browser, report, scheme=scheme)
        pixels[scheme] = first_pixel(browser.get_screenshot_as_png())
    assert min(pixels["light"]) > 200
    assert max(pixels["dark"]) < 60


def contrast(a: str, b: str) -> float:
    """Contrast ratio of two colours, as in the accessibility guidelines."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    low, high = sorted(map(luminance, (a, b)))
    return (high + 0.05) / (low + 0.05)


def first_pixel(png: bytes) -> bytes:
    """Red, green and blue of the upper left corner: its bytes are the same for every filter."""
    data, at = b"", 8
    while at < len(png):
        (size,) = struct.unpack(">I", png[at : at + 4])
        if png[at + 4 : at + 8] == b"IDAT":
            data += png[at + 8 : at + 8 + size]
        at += 12 + size
    return zlib.decompress(data)[1:4]
