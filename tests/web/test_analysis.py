"""The analyses of a run in a browser."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import Locator, expect

from cupel_core.domain.access import AccessRole
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.transcripts import ProbeError, Summary, Transcript
from tests.answered_runs import AnsweredRun
from tests.started_runs import NOW
from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screens
from tests.web.jobs import carry_out_jobs
from tests.web.samples import PAYLOADS
from tests.web.server import Server


class DecidedRun(AnsweredRun):
    """Two targets follow the dimension `risk`; the third decides the opposite."""

    def outcome(self, run: Run, index: int) -> Transcript | ProbeError:
        outcome = super().outcome(run, index)
        assert isinstance(outcome, Transcript)
        probe = run.plan.probe(index)
        risk = probe.case % 5 + 1
        decision = 6 - risk if probe.column == 2 else min(5, risk + (probe.case % 4 == probe.column))
        return replace(outcome, summary=Summary(str(decision), "as the dimension says", NOW))


def scenario(number: int) -> Scenario:
    name = f"Case {number} {PAYLOADS[number % len(PAYLOADS)]}"
    dimensions = {"risk": float(number % 5 + 1), "<b>role</b>": float(number % 3 + 1)}
    return Scenario("", name, (Message(MessageRole.USER, f"{number}?"),), dimensions)


@pytest.fixture
def run(server: Server) -> Run:
    models = ("sim/steady", "sim/bold", "sim/contrarian")
    run = DecidedRun(tuple(map(scenario, range(30))), models, workspace="acme").completed()
    client = Client(None)
    assert client.post(f"/v1/runs/{run.id}/analysis", token=client.issue()).status == 200
    return run


@pytest.fixture
def analyzed(run: Run) -> Run:
    client = Client(None)
    assert client.post(f"/v1/runs/{run.id}/analysis", {"kind": "deep"}, token=client.issue()).status == 202
    carry_out_jobs()
    return run


def test_a_deep_analysis_is_made_and_read(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}/analysis")
    expect(page.get_by_role("img", name=re.compile("κ of each pair"))).to_be_visible()
    with page.expect_response(lambda response: response.request.method == "POST"):
        page.get_by_role("button", name="Make the deep analysis").click()
    expect(page.get_by_role("button", name="Analyzing…")).to_be_disabled()
    carry_out_jobs()
    expect(page.get_by_role("group", name=re.compile("principal components"))).to_contain_text("sim/contrarian")
    expect(page.get_by_role("button", name="Make the deep analysis")).to_have_count(0)
    outliers = page.get_by_role("region", name="Outlying targets")
    expect(outliers.get_by_role("row", name=re.compile("contrarian"))).to_contain_text("yes, by agreement")
    expect(outliers.get_by_role("row", name=re.compile("bold"))).to_contain_text("no")
    effects = page.get_by_role("region", name="Effects of the dimensions", exact=True)
    expect(effects.get_by_role("row", name=re.compile("steady")).locator("strong")).to_have_text("+0.95")
    expect(page.get_by_role("region", name="In short")).to_contain_text("Written by rules, from the figures alone.")


def test_a_scenario_leads_to_its_row_in_the_results(open_page: Open, analyzed: Run) -> None:
    page = open_page(f"/runs/{analyzed.id}/analysis")
    page.get_by_role("region", name="Contested scenarios", exact=True).get_by_role("link").first.click()
    expect(page).to_have_url(re.compile(rf"/runs/{analyzed.id}\?q=scn_"))


def left_of(mark: Locator) -> float:
    box = mark.locator("circle").last.bounding_box()
    assert box
    return box["x"]


def test_a_target_in_the_plane_leads_to_its_conversations_by_keyboard(open_page: Open, analyzed: Run) -> None:
    page = open_page(f"/runs/{analyzed.id}/analysis")
    figure = page.get_by_role("figure").filter(has_text="principal components")
    figure.get_by_role("button", name=re.compile("^PNG")).focus()
    page.keyboard.press("Tab")
    for _ in range(3):
        page.keyboard.press("ArrowRight")
    name = page.evaluate("document.activeElement.getAttribute('aria-label')")
    expect(figure.locator("p", has_text=name)).to_be_visible()
    places = {each.get_attribute("aria-label"): left_of(each) for each in figure.get_by_role("link").all()}
    assert name == max(places, key=lambda each: places[each])
    page.keyboard.press("Enter")
    target = name.partition(":")[0]
    expect(page).to_have_url(re.compile(rf"/runs/{analyzed.id}\?target={target.replace('/', '%2F')}"))
    expect(page.get_by_role("button", name=re.compile(f"^{target.replace('/', '.')} .*remove"))).to_be_visible()


def test_a_viewer_reads_a_deep_analysis(open_page: Open, analyzed: Run) -> None:
    page = open_page(f"/runs/{analyzed.id}/analysis", role=AccessRole.VIEWER)
    expect(page.get_by_role("heading", name="Principal components")).to_be_visible()


def test_a_viewer_is_told_that_only_others_make_one(open_page: Open, run: Run) -> None:
    page = open_page(f"/runs/{run.id}/analysis", role=AccessRole.VIEWER)
    expect(page.get_by_text("Your role may not start it.")).to_be_visible()
    expect(page.get_by_role("button", name="Make the deep analysis")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screen_is_accessible_and_safe(open_page: Open, analyzed: Run, theme: str) -> None:
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    check_screens(page, {"analysis": f"/runs/{analyzed.id}/analysis"})
