"""The probes of a run in a browser: histograms of their figures, and the list that a range of one filters."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from cupel_core.domain.runs.run import Run
from tests.web.conftest import Open, check_screens, go
from tests.web.samples import sample_run
from tests.web.server import Server


def timed_run(**changes: Any) -> Run:
    """60 conversations, one of them an error; those of the second target take 1 to 1.2 s, the others 0.1 to 0.3 s."""
    return sample_run(duration_ms=lambda index: 100 + 10 * (index % 20) + (900 if 20 <= index < 40 else 0), **changes)


@pytest.fixture
def run(server: Server) -> Run:
    return timed_run()


def counts_of(page: Page) -> Locator:
    """What is said of the listed conversations."""
    return page.get_by_role("status").filter(has_text="of 60 conversations")


def drag(page: Page, start: float, end: float) -> None:
    """Over the drawing, from one share of its width to another."""
    box = page.get_by_role("img", name=re.compile("of conversations by target")).bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + start * box["width"], y)
    page.mouse.down()
    page.mouse.move(box["x"] + end * box["width"], y, steps=4)
    page.mouse.up()


def test_a_dragged_range_filters_the_list_and_is_in_the_address(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}/probes?by=time")
    counts = counts_of(page)
    expect(counts).to_have_text(re.compile("^60 of 60 conversations, 40 of 59 judged passed, 1 errored$"))
    drag(page, 0.6, 0.98)
    expect(page).to_have_url(re.compile(r"time=[\d.]+(~|%7E)"))
    expect(counts).to_have_text(re.compile("^20 of 60 conversations"))
    rows = page.get_by_role("grid", name="Conversations").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("sim/bold")
    # Another figure keeps the filter, and the histogram has what the filter leaves.
    page.get_by_label("Distribution of").select_option("score")
    expect(counts).to_have_text(re.compile("^20 of 60 conversations"))
    expect(page.get_by_role("img", name=re.compile("^Score of conversations"))).to_have_accessible_name(
        re.compile(r"sim/steady: n = 0\. sim/bold: n = 20, median 1.00")
    )
    address = page.url
    again = open_page(address.partition("$default")[2].replace("&", "%26"))
    expect(counts_of(again)).to_have_text(re.compile("^20 of 60"))
    again.get_by_role("button", name=re.compile("^time from .*, remove this filter")).click()
    expect(counts_of(again)).to_have_text(re.compile("^60 of 60"))


def test_a_range_is_chosen_with_the_keyboard_alone(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}/probes?by=score")
    lower = page.get_by_role("slider", name="Lower bound")
    expect(lower).to_have_attribute("aria-valuetext", "none")
    lower.focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    expect(lower).to_have_attribute("aria-valuetext", "from 0.3")
    counts = counts_of(page)
    expect(counts).to_have_text(re.compile("^40 of 60 conversations, 40 of 40 judged passed$"))
    page.keyboard.press("Home")
    expect(counts).to_have_text(re.compile("^60 of 60"))
    expect(page).not_to_have_url(re.compile("score=0"))


def test_the_figures_are_asked_for_once_with_each_visit(open_page: Open, run: Run) -> None:
    page = open_page("/runs")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url) if "probe-columns" in request.url else None)
    go(page, f"/runs/{run.id}/probes?by=time")
    counts = counts_of(page)
    expect(counts).to_have_text(re.compile("^60 of 60 conversations"))
    page.get_by_role("combobox", name="Result").select_option("errored")
    expect(counts).to_have_text(re.compile("^1 of 60 conversations"))
    assert len(asked) == 1
    go(page, f"/runs/{run.id}/settings")
    with page.expect_request(re.compile("probe-columns")):  # What was read before is shown meanwhile.
        page.go_back()
    expect(counts).to_have_text(re.compile("^1 of 60 conversations"))
    assert len(asked) == 2


def test_the_list_is_sorted_walked_and_opened_with_the_keyboard(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}/probes?by=time")
    page.get_by_role("button", name="Time", exact=True).click()
    expect(page.get_by_role("columnheader", name="Time")).to_have_attribute("aria-sort", "descending")
    grid = page.get_by_role("grid", name="Conversations")
    expect(grid.get_by_role("row").nth(1)).to_contain_text("1.2 s")
    grid.get_by_role("row").nth(1).focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("j")
    expect(page.locator("[role=row]:focus")).to_have_attribute("aria-rowindex", "4")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"[?&]t=37"))
    expect(page.get_by_role("article")).to_contain_text("conversation 37")
    page.keyboard.press("Escape")
    expect(page.get_by_role("article")).to_have_count(0)
    expect(page.locator("[role=row]:focus")).to_have_attribute("aria-rowindex", "4")
    page.get_by_role("combobox", name="Result").focus()
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("n")
    expect(page.get_by_role("article")).to_contain_text("failed")


def test_a_histogram_has_its_figures_as_a_table_and_files(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}/probes?by=tokens%26column=0")
    page.get_by_text("Figures as a table").click()
    expect(page.get_by_role("table").get_by_role("columnheader")).to_have_text(["Tokens", "sim/steady"])
    expect(page.get_by_role("table").get_by_role("row").nth(1)).to_contain_text("719")
    for kind, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"{kind} of").click()
        assert download.value.path().read_bytes().startswith(start)
        assert download.value.suggested_filename == f"{run.id}-tokens.{kind.lower()}"


def test_what_no_conversation_has_is_said(open_page: Open, server: Server) -> None:
    unscored = timed_run(scoring=lambda _: None)
    page = open_page(f"/runs/{unscored.id}/probes?by=score%26outcome=errored")
    expect(page.get_by_text("No conversation has a score.")).to_be_visible()
    expect(counts_of(page)).to_have_text(re.compile("^1 of 60"))
    page.get_by_role("row").nth(1).click()
    expect(page.get_by_text("The provider did not answer in time. A retry may succeed.")).to_be_visible()


def test_tags_errors_and_decisions_filter_the_list_and_its_columns_are_chosen(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}/probes")
    counts = counts_of(page)
    page.get_by_role("combobox", name="Tag", exact=True).select_option("REFUSAL")
    expect(page).to_have_url(re.compile("tag=REFUSAL"))
    expect(counts).not_to_have_text(re.compile("^60 of 60"))
    expect(counts).to_have_text(re.compile("0 of .* judged passed"))
    drawing = page.get_by_role("img", name=re.compile("of conversations by target"))
    expect(drawing).not_to_have_accessible_name(re.compile("n = (19|20)"))
    page.get_by_text("Columns", exact=True).click()
    for name in ("Cost", "Tokens", "Turns"):
        page.get_by_label(name, exact=True).uncheck()
    page.get_by_label("Tags", exact=True).check()
    grid = page.get_by_role("grid", name="Conversations")
    headers = ["Scenario", "Target", "Result", "Decision", "Score", "Time", "Tags"]
    expect(grid.get_by_role("columnheader")).to_have_text(headers)
    expect(grid.get_by_role("row").nth(1)).to_contain_text("REFUSAL")
    page.reload()
    expect(grid.get_by_role("columnheader")).to_have_text(headers)
    expect(grid.get_by_role("row").nth(1)).to_contain_text("REFUSAL")
    page.get_by_role("combobox", name="Tag", exact=True).select_option("all")
    page.get_by_role("combobox", name="Error").select_option(index=1)
    expect(counts).to_have_text(re.compile("^1 of 60 conversations"))


def test_messages_are_searched_by_the_api(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}/probes")
    page.get_by_label("Messages contain").fill("answer 12,")
    page.get_by_role("button", name="Search messages").click()
    expect(page).to_have_url(re.compile(r"said=answer(\+|%20)12"))
    found = page.get_by_role("status").filter(has_text="Messages searched")
    expect(found).to_have_text("Messages searched for “answer 12,”: 1 conversation found among 60 of 60 read.")
    expect(counts_of(page)).to_have_text(re.compile("^1 of 60"))
    page.get_by_role("grid", name="Conversations").get_by_role("row").nth(1).click()
    expect(page).to_have_url(re.compile(r"[?&]t=12(&|$)"))
    page.get_by_label("Messages contain").fill("")
    page.get_by_label("Messages contain").press("Enter")
    expect(counts_of(page)).to_have_text(re.compile("^60 of 60"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screens_are_accessible_and_safe(open_page: Open, run: Run, theme: str) -> None:
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    paths = {
        "probes": f"/runs/{run.id}/probes",
        "probes-range": f"/runs/{run.id}/probes?by=time&time=1~&t=21",
        "probes-said": f"/runs/{run.id}/probes?said=answer&tag=GOAL_MISS&cols=target.tags.checks.error",
        "probes-none": f"/runs/{run.id}/probes?score=0.5~0.6",
    }
    check_screens(page, paths)
