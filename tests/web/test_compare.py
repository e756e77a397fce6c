"""The comparison of two runs in a real browser."""

import re
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from cupel_core.base.ids import new_id
from cupel_core.domain.access import AccessRole
from cupel_core.domain.text.figures import format_interval, format_points
from tests.compared_runs import carry_out_jobs, run_of
from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screen, settled, violations
from tests.web.samples import sample_run
from tests.web.server import Server


class TwoRuns(NamedTuple):
    baseline: str
    comparison: str

    @property
    def path(self) -> str:
        return f"/compare%3Fa={self.baseline}%26b={self.comparison}"


@pytest.fixture
def runs(server: Server) -> TwoRuns:
    """Of eight scenarios with four repeats: the second run passes more often, with both models."""
    definition, models = new_id("def"), ("sim/steady", "sim/bold")
    return TwoRuns(
        run_of(definition, "+-+-++-+---", repeats=4, models=models).id,
        run_of(definition, "+++-++++-+-", repeats=4, models=models).id,
    )


def compared(open_page: Open, runs: TwoRuns, **options: Any) -> Page:
    page = open_page(runs.path, **options)
    expect(page.get_by_text("being computed")).to_be_visible()
    carry_out_jobs()
    expect(page.get_by_role("heading", name="Difference of the pass rate, by target")).to_be_visible()
    return page


def test_the_differences_are_those_of_the_api(open_page: Open, runs: TwoRuns) -> None:
    page = compared(open_page, runs)
    client = Client(None)
    client.token = client.issue()
    (listed,) = client.get("/v1/comparisons").json()["items"]
    figures = client.get(f"/v1/comparisons/{listed['id']}").json()["figures"]
    page.get_by_text("Figures as a table").first.click()
    table = page.get_by_role("region", name=re.compile("^Figures:")).get_by_role("row")
    expect(table).to_have_count(1 + 1 + len(figures["rows"]))
    for row, shown in zip([figures["overall"], *figures["rows"]], table.all()[1:], strict=True):
        expect(shown).to_contain_text(format_points(row["difference"]))
        expect(shown).to_contain_text(format_interval(row["interval"], format_points) or "–")
    expect(page.get_by_role("img", name=re.compile("Other run minus baseline"))).to_be_visible()
    expect(page.locator("main")).to_contain_text(listed["sentence"])


def test_the_differences_are_read_whole_on_a_phone(open_page: Open, runs: TwoRuns) -> None:
    page = compared(open_page, runs)
    page.set_viewport_size({"width": 390, "height": 900})
    drawing = page.get_by_role("img", name=re.compile("Other run minus baseline"))
    region = page.get_by_role("region", name=re.compile("Drawing: Other run minus"))
    expect(drawing.locator("text").first).to_be_visible()
    assert region.evaluate("each => each.scrollWidth <= each.clientWidth")
    cut = """each => [...each.querySelectorAll('text')].filter(text => {
      const [whole, part] = [each.getBoundingClientRect(), text.getBoundingClientRect()];
      return part.left < whole.left - 1 || part.right > whole.right + 1;
    }).map(text => text.textContent)"""
    assert drawing.evaluate(cut) == []


def test_a_changed_scenario_leads_to_its_answers(open_page: Open, runs: TwoRuns) -> None:
    page = compared(open_page, runs)
    page.get_by_role("combobox", name="Scenarios").select_option("increased")
    expect(page).to_have_url(re.compile("only=increased"))
    page.get_by_role("link", name=re.compile("^other run ?: case")).first.click()
    expect(page).to_have_url(re.compile(f"/runs/{runs.comparison}\\?q="))
    expect(page.get_by_role("grid").get_by_role("rowheader")).to_have_count(1)


def test_a_scenario_is_drawn_by_both_values_and_opens_its_two_conversations(open_page: Open, runs: TwoRuns) -> None:
    page = compared(open_page, runs)
    plot = page.get_by_role("group", name="Pass rate of each scenario")
    said = page.get_by_role("paragraph").filter(
        has_text=re.compile(r"^8 scenarios: \d higher in the other run, \d lower")
    )
    expect(said).to_contain_text(re.compile(r"changed from failed to passed and \d from passed to failed"))
    plot.locator("path[data-change=increased]").first.click()
    expect(page).to_have_url(re.compile("[?&]s=scn_"))
    for name in ("Baseline", "Other run"):
        expect(page.get_by_role("region", name=name, exact=True).get_by_role("heading", name=name)).to_be_visible()
    address = page.url
    page.get_by_label("Repeat").select_option("2 of 4")
    expect(page).to_have_url(re.compile("repeat=1"))
    expect(page.get_by_role("region", name="Other run", exact=True).get_by_text("repeat 2")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("region", name="Other run", exact=True)).to_have_count(0)
    page.get_by_role("button", name=re.compile("^both conversations")).last.click()
    expect(page.get_by_role("region", name="Other run", exact=True)).to_be_visible()
    assert page.url != address


def focused(page: Page) -> str:
    """The name of what has the focus."""
    name: str = page.evaluate("document.activeElement.getAttribute('aria-label') ?? document.activeElement.innerText")
    return name


def test_the_marks_of_the_drawing_are_walked_by_keyboard(open_page: Open, runs: TwoRuns) -> None:
    page = compared(open_page, runs)
    figure = page.get_by_role("figure").filter(has_text="Pass rate of each scenario")
    marks = figure.get_by_role("button", name=re.compile("→"))
    expect(marks).not_to_have_count(0)
    names = {mark.get_attribute("aria-label") for mark in marks.all()}
    assert len(names) > 2
    figure.get_by_role("button", name=re.compile("^PNG")).focus()
    page.keyboard.press("Tab")
    assert focused(page) in names
    expect(figure.locator("p", has_text=focused(page))).to_be_visible()
    page.keyboard.press("Home")
    walked = [focused(page)]
    for _ in range(len(names) - 1):
        page.keyboard.press("PageDown")
        walked.append(focused(page))
    assert set(walked) == names
    expect(figure.locator("p", has_text=walked[-1])).to_be_visible()
    page.keyboard.press("ArrowLeft")
    left = focused(page)
    assert left in names - {walked[-1]}
    page.keyboard.press("Tab")
    assert focused(page) == "Figures as a table"
    page.keyboard.press("Shift+Tab")
    assert focused(page) == left
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("[?&]s=scn_"))
    expect(page.get_by_role("region", name="Other run", exact=True)).to_be_visible()


def test_two_thousand_marks_are_walked_by_keyboard_without_delay(open_page: Open, runs: TwoRuns) -> None:
    page = compared(open_page, runs)

    def many(route: Route) -> None:
        """Pages of a hundred scenarios, each at a place of its own."""
        at = int(parse_qs(urlsplit(route.request.url).query).get("cursor", ["0"])[0])
        answer = route.fetch(url=re.sub("cursor=[^&]*&?", "", route.request.url))
        pattern = answer.json()["items"][0]
        items = [
            {**pattern, "scenarioId": f"scn_{n}", "baseline": n % 50 / 49, "comparison": n // 50 / 39}
            for n in range(at, at + 100)
        ]
        route.fulfill(response=answer, json={"items": items, "nextCursor": str(at + 100)})

    page.route(re.compile("/v1/comparisons/[^/]+/scenarios"), many)
    page.reload()
    figure = page.get_by_role("figure").filter(has_text="Pass rate of each scenario")
    expect(figure.get_by_role("button", name=re.compile("→"))).to_have_count(2_000)
    figure.get_by_role("button", name=re.compile("^PNG")).focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Home")
    assert focused(page).startswith("0.0% → 100.0%")
    begin = page.evaluate("performance.now()")
    for _ in range(49):
        page.keyboard.press("ArrowRight")
    took_ms = page.evaluate("performance.now()") - begin
    assert focused(page).startswith("100.0% → 100.0%")
    page.keyboard.press("ArrowDown")
    assert focused(page).startswith("100.0% → 97.4%")
    assert took_ms / 49 < 200
    page.keyboard.press("Tab")
    assert focused(page) == "Figures as a table"


def test_the_drawing_is_exported(open_page: Open, runs: TwoRuns) -> None:
    page = compared(open_page, runs)
    for ending, begin in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as download:
            page.get_by_role("button", name=re.compile(f"^{ending} of .Other run minus")).click()
        assert download.value.suggested_filename == f"differences.{ending.lower()}"
        assert download.value.path().read_bytes().startswith(begin)


def test_a_viewer_reads_a_comparison_and_makes_none(open_page: Open, runs: TwoRuns) -> None:
    page = open_page(runs.path, role=AccessRole.VIEWER)
    expect(page.get_by_text("needs the role member")).to_be_visible()
    compared(open_page, runs)
    page.reload()
    expect(page.get_by_role("heading", name="What changed between the runs")).to_be_visible()


def test_two_runs_are_selected_and_compared(open_page: Open, server: Server) -> None:
    first, second, third = (sample_run(repeats=1) for _ in range(3))
    client = Client(None)
    for run, name in ((first, "First"), (second, "Second"), (third, "Third")):
        client.patch(f"/v1/runs/{run.id}", {"name": name}, token=client.issue())
    page = open_page("/runs")
    page.get_by_role("checkbox", name="Select First to compare").check()
    expect(page.get_by_role("status").filter(has_text="Select another run")).to_be_visible()
    page.get_by_role("checkbox", name="Select Third to compare").focus()
    page.keyboard.press("Space")
    expect(page.get_by_role("checkbox", name="Select Second to compare")).to_be_disabled()
    page.get_by_role("link", name="Compare with “First”").click()
    expect(page).to_have_url(re.compile(f"a={first.id}&b={third.id}"))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_a_comparison(open_page: Open, runs: TwoRuns, theme: str) -> None:
    compared(open_page, runs)
    page = settled(open_page(runs.path, color_scheme=theme, bypass_csp=True))
    expect(page.get_by_role("heading", name="What changed between the runs")).to_be_visible()
    page.get_by_role("button", name=re.compile("^both conversations")).first.click()
    expect(page.get_by_role("region", name="Other run", exact=True)).to_be_visible()
    page.get_by_role("group", name="Pass rate of each scenario").get_by_role("button").first.focus()
    assert violations(page) == []
    check_screen(page, "compare")


def test_two_selected_runs_are_compared_without_another_question(open_page: Open, runs: TwoRuns) -> None:
    page = open_page("/runs")
    for number in (1, 2):
        page.get_by_role("row").nth(number).get_by_role("checkbox").check()
    page.get_by_role("link", name=re.compile("^Compare with")).click()
    expect(page.get_by_text("being computed")).to_be_in_viewport()
    client = Client(None)
    client.token = client.issue()
    assert len(client.get("/v1/comparisons").json()["items"]) == 1
    carry_out_jobs()
    expect(page.get_by_role("heading", name="Difference of the pass rate, by target")).to_be_visible()


def test_runs_that_can_be_compared_are_offered_first(open_page: Open, runs: TwoRuns) -> None:
    elsewhere = run_of(new_id("def"), "+")
    page = open_page(f"/compare%3Fb={runs.comparison}")
    groups = page.get_by_label("Baseline").locator("optgroup")
    expect(groups).to_have_count(2)
    first, second = ([each.get_attribute("value") for each in group.locator("option").all()] for group in groups.all())
    assert first == [runs.comparison, runs.baseline]
    assert second == [elsewhere.id]
