"""`make bench-web`: measure how quick the page is with a run of 100,000 probes, and fail where a limit is missed.

It uses the Chromium of the page's tests, without a window, and so without a GPU.
"""

import argparse
import gzip
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from typing import Any, NamedTuple

import psutil
from rich.console import Console
from rich.table import Table

from bench.local_server import ROOT
from bench.web_server import LARGE, LIVE, LONG, MESSAGES, page_server
from tests.web.tools import PLAYWRIGHT_FOLDER, find_browser

sys.path.append(str(PLAYWRIGHT_FOLDER))
from playwright.sync_api import sync_playwright  # type: ignore[import-not-found]

BUILT = ROOT / ".cupel" / "page"
WATCHED_SECONDS = 20
HIDDEN_SECONDS = 10
SCROLL_SECONDS = 3
FILTERS = ("Failed", "Passed", "Errored", "All")
ROWS = '[role="grid"] [role="row"][aria-rowindex="2"]'


class Figure(NamedTuple):
    name: str
    value: float
    limit: float
    unit: str
    is_minimum: bool = False

    @property
    def is_met(self) -> bool:
        return self.value >= self.limit if self.is_minimum else self.value <= self.limit


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--probes", type=int, default=100_000)
    probes = parser.parse_args().probes
    notes: list[str] = []
    # The function logs each request.
    with page_server(BUILT, probes) as (address, requests), _browser() as browser, redirect_stdout(StringIO()):
        figures = list(_measure(browser, address, requests, probes, notes))
    table = Table("figure", "measured", "limit", "")
    for each in figures:
        sign = "≥" if each.is_minimum else "≤"
        shown = f"{each.value:,.2f}" if each.limit < 10 else f"{each.value:,.0f}"
        table.add_row(
            each.name, f"{shown} {each.unit}", f"{sign} {each.limit:,.0f} {each.unit}", "" if each.is_met else "MISSED"
        )
    console = Console(width=110)
    console.print(table)
    for note in notes:
        console.print(note)
    console.print(f"load of the machine: {psutil.getloadavg()[0]:.1f} on {psutil.cpu_count()} processors")
    sys.exit(0 if all(each.is_met for each in figures) else 1)


def _measure(browser: Any, address: str, requests: list[str], probes: int, notes: list[str]) -> Iterator[Figure]:
    yield Figure("initial JavaScript, gzipped", _initial_bytes(browser, address) / 1000, 175, "kB")
    page = _open(browser, f"{address}/runs/{LARGE}")
    yield Figure(f"first rows of {probes:,} probes", _seconds_until(page, ROWS), 1, "s")
    yield Figure("all columns", _seconds_until_loaded(page), 5, "s")
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    before = _processor_ms(session)
    yield Figure("filter, the slowest of four", max(_filter_ms(page, each) for each in FILTERS), 50, "ms")
    notes.append(f"processor time of a filter: {(_processor_ms(session) - before) / len(FILTERS):.0f} ms on average")
    notes.append(f"frames without scrolling: {_frames_per_second(page, pixels=0):.0f} a second")
    yield Figure("scrolling", _frames_per_second(page, pixels=300), 55, "frames/s", is_minimum=True)
    yield Figure("heap", _heap_mb(page), 100, "MB")
    page.context.close()
    page = _open(browser, f"{address}/runs/{LONG}")
    page.wait_for_selector(ROWS)
    yield Figure(f"conversation of {MESSAGES:,} messages", _opening_ms(page), 500, "ms")
    page.context.close()
    page = _open(browser, f"{address}/runs/{LIVE}")
    page.wait_for_load_state("networkidle")
    yield Figure("requests while watching", _rate(requests, WATCHED_SECONDS), 1, "per s")
    page.evaluate(HIDE)
    time.sleep(1)
    yield Figure("requests while hidden", _rate(requests, HIDDEN_SECONDS), 0, "per s")
    page.context.close()


@contextmanager
def _browser() -> Iterator[Any]:
    program, variables = find_browser()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"], env=os.environ | variables)
        yield browser
        browser.close()


def _open(browser: Any, address: str) -> Any:
    context = browser.new_context(viewport={"width": 1440, "height": 900})
    context.add_init_script("sessionStorage.setItem('cupel.token', 'cupel_bench')")
    page = context.new_page()
    page.goto(address, wait_until="commit")
    return page


def _initial_bytes(browser: Any, address: str) -> int:
    """Return the bytes of the scripts that the list of runs loads, as `gzip -9` makes them."""
    page = _open(browser, f"{address}/runs")
    page.wait_for_load_state("networkidle")
    names = page.evaluate("performance.getEntriesByType('resource').map(each => each.name)")
    page.context.close()
    scripts = {name.rpartition("/")[2] for name in names if name.endswith(".js")}
    return sum(len(gzip.compress((BUILT / "assets" / name).read_bytes(), 9)) for name in scripts)


def _now(page: Any) -> float:
    return float(page.evaluate("performance.now()"))


def _seconds_until(page: Any, selector: str) -> float:
    page.wait_for_selector(selector)
    return _now(page) / 1000


def _seconds_until_loaded(page: Any) -> float:
    page.get_by_text("loaded so far").wait_for(state="detached")
    return _now(page) / 1000


_FILTER = """name => new Promise(done => {
  const find = (selector, text) =>
    [...document.querySelectorAll(selector)].find(each => each.textContent.includes(text));
  const chip = find('fieldset button', name);
  const counts = find('[role=status]', 'conversations');
  const before = counts.textContent;
  const started = performance.now();
  new MutationObserver((_, observer) => {
    if (counts.textContent === before) return;
    observer.disconnect();
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now() - started);
    requestAnimationFrame(() => channel.port2.postMessage(null));
  }).observe(counts, { subtree: true, childList: true, characterData: true });
  chip.click();
})"""


def _filter_ms(page: Any, name: str) -> float:
    page.wait_for_timeout(300)
    return float(page.evaluate(_FILTER, name))


def _processor_ms(session: Any) -> float:
    """Return the processor time of the page's thread so far, which hardly depends on the load of the machine."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(1000 * next(each["value"] for each in metrics if each["name"] == "TaskDuration"))


_SCROLL = """([seconds, pixels]) => new Promise(done => {
  const list = document.querySelector('[role=grid]');
  const started = performance.now();
  let frames = 0;
  const step = now => {
    frames += 1;
    list.scrollTop += pixels;
    if (now - started < 1000 * seconds) requestAnimationFrame(step);
    else done(frames / ((performance.now() - started) / 1000));
  };
  requestAnimationFrame(step);
})"""


def _frames_per_second(page: Any, pixels: int) -> float:
    """Measure frames while each scrolls by so many pixels; rows are 32 pixels high."""
    return float(page.evaluate(_SCROLL, [SCROLL_SECONDS, pixels]))


def _heap_mb(page: Any) -> float:
    """Measure objects, nodes and the typed arrays with the figures."""
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    usage = session.send("Runtime.getHeapUsage")
    parts = ("usedSize", "embedderHeapUsedSize", "backingStorageSize")
    return float(sum(usage.get(part, 0) for part in parts) / 1e6)


_OPEN = """count => new Promise(done => {
  const started = performance.now();
  const check = () => {
    const first = document.querySelector('article ol > li');
    if (Number(first?.getAttribute('aria-setsize')) < count) return requestAnimationFrame(check);
    const channel = new MessageChannel();
    channel.port1.onmessage = () => done(performance.now() - started);
    requestAnimationFrame(() => channel.port2.postMessage(null));
  };
  document.querySelector('[role=grid] [role=row][aria-rowindex="2"]').click();
  requestAnimationFrame(check);
})"""


def _opening_ms(page: Any) -> float:
    return float(page.evaluate(_OPEN, MESSAGES))


HIDE = """() => {
  Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
  Object.defineProperty(document, 'hidden', { get: () => true });
  document.dispatchEvent(new Event('visibilitychange'));
}"""


def _rate(requests: list[str], seconds: float) -> float:
    before = len(requests)
    time.sleep(seconds)
    return (len(requests) - before) / seconds


if __name__ == "__main__":
    main()
