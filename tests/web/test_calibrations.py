"""How far a judge agrees with people, in a browser."""

import re
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from cupel_core.domain.access import AccessRole
from cupel_core.domain.runs.run import Run
from tests.unit.api.client import Client
from tests.unit.api.test_calibrations import coded, give_codes
from tests.web.conftest import Open, check_screen, settled
from tests.web.labelled_runs import SCENARIOS, drawn_set, is_judged_a_pass, judged_run
from tests.web.samples import PAYLOADS
from tests.web.server import Server

MODELS = ("sim/steady", "sim/bold")
WRONG = {1: "names the wrong limit", 2: PAYLOADS[0], SCENARIOS + 1: "too vague"}
"""Judged passes that people fail, with their notes."""


@pytest.fixture
def run(server: Server) -> Run:
    return judged_run(MODELS)


@pytest.fixture
def labelled(client: Client, run: Run) -> Run:
    """Ana labels everything, and Ben the first twelve, of which he lets one more pass."""
    drawn_set(client, run, count=2 * SCENARIOS)
    total = SCENARIOS * len(MODELS)
    rows = [_label(run, index, "ana", is_judged_a_pass(index) and index not in WRONG) for index in range(total)]
    rows += [_label(run, index, "ben", index == 4 or rows[index]["value"] == "pass") for index in range(12)]
    assert client.post(f"/v1/runs/{run.id}/labels/import", {"labels": rows}).status == 200
    return run


def _label(run: Run, index: int, labeller: str, passes: bool) -> dict[str, Any]:
    note = WRONG.get(index) if labeller == "ana" else None
    value = "pass" if passes else "fail"
    return {"probeId": f"{run.id}-{index}", "value": value, "labeller": labeller, "note": note}


def section(page: Page, name: str) -> Any:
    return page.get_by_role("region", name=name, exact=True)


@pytest.mark.parametrize("width", [1440, 390])
def test_the_judge_is_compared_with_the_labels(open_page: Open, labelled: Run, width: int) -> None:
    page = settled(open_page(f"/runs/{labelled.id}/judge", viewport={"width": width, "height": 900}))
    table = page.get_by_role("region", name="Table: agreement")
    expect(table).to_be_in_viewport()
    expect(page.get_by_text("Judge sim/bold, criterion result.")).to_be_in_viewport()
    bold = table.get_by_role("row").filter(has_text="sim/bold")
    expect(bold).to_contain_text("96.7%")
    expect(bold.get_by_role("cell").nth(2)).to_have_text("73.3%")

    plot = page.get_by_role("img", name=re.compile("^Pass rate by the judge, corrected"))
    plot.scroll_into_view_if_needed()
    expect(plot).to_be_in_viewport(ratio=0.5)
    expect(plot).to_have_accessible_name(re.compile(r"sim/bold: by the judge 76\.7% .*corrected 73\.3%"))
    expect(plot.get_by_text("labels alone", exact=True)).to_have_count(2)

    confusion = section(page, "What judge and people say").get_by_role("table", name="sim/steady")
    confusion.scroll_into_view_if_needed()
    expect(confusion).to_be_in_viewport(ratio=1)
    counts = confusion.get_by_role("cell").filter(has_text=re.compile(r"^\d+$"))
    expect(counts).to_have_text(["20", "2", "0", "7"])

    expect(section(page, "People")).to_contain_text("91.7%")
    expect(section(page, "People").get_by_role("row").nth(1)).to_contain_text("ana and ben")


def test_disagreements_have_both_reasons_and_lead_to_the_conversation(open_page: Open, labelled: Run) -> None:
    page = settled(open_page(f"/runs/{labelled.id}/judge"))
    entry = section(page, "Disagreements").get_by_role("article", name="Case 1").first
    entry.scroll_into_view_if_needed()
    expect(entry).to_be_in_viewport(ratio=1)
    expect(entry).to_contain_text("Judge: ✓ passed")
    expect(entry).to_contain_text("llm-rubric: reason 1:")
    expect(entry).to_contain_text("People: ✕ failed")
    expect(entry).to_contain_text("names the wrong limit ana: fail")
    expect(section(page, "Disagreements").get_by_role("article")).to_have_count(3)
    entry.get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"\?t=1$"))
    expect(page.get_by_role("article")).to_have_count(1)
    expect(page.get_by_role("article")).to_be_in_viewport()


def test_a_judge_without_labels_is_uncalibrated(open_page: Open, run: Run) -> None:
    page = settled(open_page(f"/runs/{run.id}/judge"))
    note = section(page, "Calibration")
    expect(note).to_contain_text("Uncalibrated judge. Nobody knows yet how often sim/bold is wrong")
    expect(note).to_be_in_viewport(ratio=1)
    note.get_by_role("button", name="Draw transcripts").click()
    expect(page.get_by_role("dialog", name="Draw transcripts for labelling")).to_be_in_viewport()


def test_few_labels_do_not_correct_a_rate(open_page: Open, client: Client, run: Run) -> None:
    made = drawn_set(client, run, count=20)
    items = client.get(f"/v1/runs/{run.id}/label-sets/{made['id']}/items").json()["items"]
    body = {"value": "pass", "labelSetId": made["id"]}
    assert client.put(f"/v1/probes/{items[0]['probeId']}/label", body).status == 200
    page = settled(open_page(f"/runs/{run.id}/judge", role=AccessRole.VIEWER))
    expect(page.get_by_text("is not corrected: at least 20 scenarios need a label")).to_be_visible()


def test_each_criterion_has_its_calibration(open_page: Open, client: Client, labelled: Run) -> None:
    drawn_set(client, labelled, count=5, criterion="llm-rubric")
    page = settled(open_page(f"/runs/{labelled.id}/judge"))
    expect(section(page, "Calibration")).to_contain_text("no transcript of this run has a label for “llm-rubric”")
    page.get_by_label("Criterion").select_option("result")
    expect(page.get_by_role("region", name="Table: agreement")).to_be_in_viewport()


def test_codes_have_a_corrected_mean(open_page: Open, client: Client, server: Server) -> None:
    run = coded(40)
    drawn_set(client, run, count=40, criterion="decision")
    give_codes(client, run, ["4", "3"] * 20)
    page = settled(open_page(f"/runs/{run.id}/judge"))
    table = page.get_by_role("region", name="Table: codes")
    expect(table).to_be_in_viewport()
    expect(table.get_by_role("row").nth(1)).to_contain_text("50.0%")
    expect(table.get_by_role("row").nth(1)).to_contain_text("3.503.34 to 3.66")
    expect(section(page, "Disagreements").get_by_role("article").first).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screen_is_accessible_and_safe(open_page: Open, labelled: Run, theme: str) -> None:
    page = settled(open_page(f"/runs/{labelled.id}/judge", color_scheme=theme, bypass_csp=True))
    expect(section(page, "Disagreements").get_by_role("article")).to_have_count(3)
    check_screen(page, "judge")
