"""The list of runs."""

import re
from datetime import timedelta
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Action, Run
from cupel_core.domain.scoring.scoring import Scoring
from cupel_core.store import runs
from tests.answered_runs import AnsweredRun
from tests.started_runs import NOW, ref_of
from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screen, load, settled

SCENARIOS = tuple(Scenario("", f"case {number}", (Message(MessageRole.USER, "?"),)) for number in range(8))
MAX_FILES = 10
"""The document is one of them."""
MAX_SCRIPT_BYTES = 175_000
DRAWN = "all => all.filter(each => each.width.baseVal.value > 0).map(each => getComputedStyle(each).fill)"
SHARES = {"Nothing passed": 0, "Half passed": 4, "All passed": 8}


def made(client: Client, name: str, passed: int, **fields: Any) -> Run:
    """A run of eight conversations, of which the first ones passed."""
    setup = AnsweredRun(
        SCENARIOS, scoring=lambda index: Scoring(index % 8 < passed, 0.5, "why"), workspace="acme", **fields
    )
    summarized = setup.summarizing()
    minutes = timedelta(minutes=passed + 1)
    run = runs.transition(ref_of(summarized), Action.COMPLETE, NOW, started_at=NOW, completed_at=NOW + minutes)
    assert client.patch(f"/v1/runs/{run.id}", {"name": name, "tags": ["nightly"]}).status == 200
    return run


@pytest.fixture
def three(client: Client) -> dict[str, Run]:
    return {name: made(client, name, passed, models=("sim/steady",)) for name, passed in SHARES.items()}


def names(page: Page) -> list[str]:
    return page.locator("tbody th a[href*='/runs/run_']").all_inner_texts()


def test_a_row_shows_the_rates_of_the_targets_without_a_request_of_its_own(open_page: Open, client: Client) -> None:
    made(client, "Two targets", 4)
    asked: list[str] = []
    page = open_page("/new")
    page.on("request", lambda request: asked.append(request.url))
    load(page, "/runs")
    row = page.get_by_role("row", name="Two targets")
    expect(row.get_by_role("img", name="8 passed, 8 failed")).to_be_visible()
    rates = row.get_by_role("img", name=re.compile(r"sim.steady: 50\.0% \(.*\), n = 8; sim.bold: 50\.0%"))
    expect(rates).to_be_visible()
    expect(rates.locator("circle")).to_have_count(2)
    expect(row).to_contain_text("50.0%")
    assert [each for each in asked if re.search(r"/v1/runs/run_", each)] == []


def test_runs_that_failed_and_passed_look_different(open_page: Open, three: dict[str, Run]) -> None:
    page = open_page("/runs")
    expect(page.get_by_role("img", name="8 passed")).to_be_visible()
    colors = {
        name: page.get_by_role("row", name=name)
        .get_by_role("img", name=re.compile("^8 (passed|failed)$"))
        .locator("rect")
        .evaluate_all(DRAWN)[-1]
        for name in ("Nothing passed", "All passed")
    }
    assert colors["Nothing passed"] != colors["All passed"]


def test_the_runs_that_are_shown_are_sorted(open_page: Open, three: dict[str, Run]) -> None:
    page = settled(open_page("/runs"))
    order = page.get_by_label("Order")
    for chosen, first in {
        "highest pass rate": "All passed",
        "lowest pass rate": "Nothing passed",
        "longest": "All passed",
        "name": "All passed",
    }.items():
        order.select_option(chosen)
        expect(page.locator("tbody th").first).to_contain_text(first)
        expect(page.get_by_text("sorted among the 3 runs shown")).to_be_in_viewport()
    expect(page).to_have_url(re.compile("sort=name"))
    page.reload()
    expect(page.locator("tbody th").first).to_contain_text("All passed")
    assert names(page) == ["All passed", "Half passed", "Nothing passed"]
    order.select_option("oldest first")
    expect(page.get_by_text("3 runs shown", exact=True)).to_be_visible()


def test_further_columns_are_shown_and_are_in_the_address(open_page: Open, client: Client) -> None:
    made(client, "By a person", 4)
    page = settled(open_page("/runs"))
    expect(page.get_by_role("columnheader", name="Duration")).to_have_count(0)
    page.get_by_label("Duration").check()
    page.get_by_label("Started by").check()
    expect(page).to_have_url(re.compile(r"cols=duration(%2C|,)starter"))
    row = page.get_by_role("row", name="By a person")
    expect(row).to_contain_text("5 min")
    expect(row).to_contain_text("system")
    page.reload()
    expect(page.get_by_role("columnheader", name="Started by")).to_be_visible()
    page.get_by_label("Duration").uncheck()
    expect(page.get_by_role("columnheader", name="Duration")).to_have_count(0)


def test_runs_of_some_days_are_listed(open_page: Open, three: dict[str, Run]) -> None:
    page = settled(open_page("/runs"))
    day = NOW.date()
    page.get_by_label("Created from").fill(str(day - timedelta(days=1)))
    expect(page).to_have_url(re.compile("from="))
    expect(page.get_by_role("row")).to_have_count(4)
    page.get_by_label("to", exact=True).fill(str(day - timedelta(days=1)))
    expect(page.get_by_role("heading", name="No run matches")).to_be_visible()
    page.get_by_label("to", exact=True).fill(str(day + timedelta(days=1)))
    expect(page.get_by_role("row")).to_have_count(4)
    page.reload()
    expect(page.get_by_label("Created from")).to_have_value(str(day - timedelta(days=1)))


def test_a_corrected_verdict_changes_the_rate(open_page: Open, client: Client, three: dict[str, Run]) -> None:
    page = settled(open_page("/runs"))
    row = page.get_by_role("row", name="Nothing passed")
    expect(row).to_contain_text("0.0%")
    index = f"{three['Nothing passed'].id}-0"
    assert client.patch(f"/v1/probes/{index}", {"result": {"success": True}}).status == 200
    load(page, "/runs")
    expect(row).to_contain_text("12.5%")
    expect(row.get_by_role("img", name="1 passed, 7 failed")).to_be_visible()


def test_rows_take_one_line_on_a_wide_screen(open_page: Open, three: dict[str, Run]) -> None:
    page = settled(open_page("/runs?cols=duration,starter"))
    heights = page.locator("tbody tr").evaluate_all("rows => rows.map(row => row.getBoundingClientRect().height)")
    assert len(heights) == 3
    assert max(heights) <= 45


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_list_is_accessible_and_fits_narrow_screens(open_page: Open, client: Client, theme: str) -> None:
    made(client, "Regression of the support agent", 4)
    AnsweredRun(SCENARIOS, answer=lambda _: None, workspace="acme").start()
    page = load(open_page(color_scheme=theme, bypass_csp=True), "/runs?cols=duration,starter&sort=-rate")
    check_screen(page, "runs-columns")


def test_a_first_visit_loads_at_most_ten_files(open_page: Open, three: dict[str, Run]) -> None:
    page = open_page("/new")
    load(page, "/runs")
    names_and_sizes = page.evaluate(
        "performance.getEntriesByType('resource').filter(each => each.name.includes('/assets/'))"
        ".map(each => [each.name.split('/').pop(), each.encodedBodySize])"
    )
    assert len(names_and_sizes) + 1 <= MAX_FILES, names_and_sizes
    scripts = [size for name, size in names_and_sizes if name.endswith(".js")]
    assert 50_000 < sum(scripts) <= MAX_SCRIPT_BYTES, names_and_sizes
