"""Labelling transcripts in a browser, by keys alone."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from cupel_core.domain.access import AccessRole
from cupel_core.domain.runs.run import Run
from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screen, settled
from tests.web.labelled_runs import drawn_set, judged_run
from tests.web.server import Server


@pytest.fixture
def run(server: Server) -> Run:
    return judged_run()


@pytest.fixture
def label_set(client: Client, run: Run) -> Any:
    return drawn_set(client, run, count=10)


def heading(page: Page) -> Locator:
    return page.get_by_role("article").get_by_role("heading", level=2)


def shown(page: Page) -> str:
    return heading(page).inner_text()


def opened(page: Page) -> Page:
    expect(page.get_by_role("article")).to_be_visible()
    return settled(page)


def press(page: Page, key: str, said: str) -> None:
    """Press a key, and wait for what the panel says then."""
    page.keyboard.press(key)
    expect(page.get_by_role("region", name="Label", exact=True).get_by_role("status").first).to_contain_text(said)


def labels_of(client: Client, run: Run) -> list[Any]:
    found: list[Any] = client.get(f"/v1/runs/{run.id}/labels", query={"limit": "100"}).json()["items"]
    return sorted(found, key=lambda each: each["createdAt"])


@pytest.mark.parametrize("width", [1440, 390])
def test_three_transcripts_are_labelled_with_keys_only(
    open_page: Open, client: Client, run: Run, label_set: Any, width: int
) -> None:
    page = opened(open_page(f"/runs/{run.id}?label={label_set['id']}", viewport={"width": width, "height": 844}))
    panel = page.get_by_role("region", name="Label", exact=True)
    expect(page.get_by_text("0 of 10 labelled, 2 to label twice")).to_be_in_viewport()
    expect(page.get_by_text("Passes only if the limit is exact.")).to_be_in_viewport()
    first = shown(page)
    for name in ("Pass", "Fail", "Skip"):
        expect(panel.get_by_role("button", name=re.compile(f"^{name}"))).to_be_in_viewport(ratio=1)
    assert "reason" not in page.get_by_role("main").inner_text()
    assert "sim/steady" not in page.get_by_role("main").inner_text()
    expect(panel.get_by_role("button", name="Show the verdict")).to_have_count(0)

    press(page, "1", "Labelled: pass. Next: Case")
    second = shown(page)
    expect(page.get_by_text("1 of 10 labelled")).to_be_in_viewport()
    page.keyboard.press("m")
    page.keyboard.type("10 u n s")
    page.keyboard.press("Escape")
    press(page, "0", "Labelled: fail.")
    press(page, "s", "Labelled: skipped.")
    expect(page.get_by_text("3 of 10 labelled (1 skipped), 2 to label twice")).to_be_visible()
    given = labels_of(client, run)
    assert [(each["value"], each["note"]) for each in given] == [("pass", None), ("fail", "10 u n s"), ("skip", None)]
    assert {each["labelSetId"] for each in given} == {label_set["id"]}

    press(page, "u", "Undone: Case")
    expect(page.get_by_text("2 of 10 labelled, 2 to label twice")).to_be_visible()
    page.keyboard.press("p")
    expect(heading(page)).to_have_text(second)
    expect(panel.get_by_role("button", name=re.compile("^Fail"))).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("p")
    expect(heading(page)).to_have_text(first)
    page.keyboard.press("v")
    expect(panel.get_by_text(re.compile("^Judge: "))).to_be_in_viewport()
    expect(panel.get_by_text(re.compile("^(llm-rubric: reason|everything passed)"))).to_be_in_viewport()
    page.keyboard.press("n")
    expect(heading(page)).to_have_text(second)
    expect(panel.get_by_text(re.compile("^Judge: "))).to_have_count(0)
    assert len(labels_of(client, run)) == 2


def test_a_changed_label_is_undone_to_what_it_was(open_page: Open, client: Client, run: Run, label_set: Any) -> None:
    page = opened(open_page(f"/runs/{run.id}?label={label_set['id']}"))
    press(page, "1", "Labelled: pass.")
    page.keyboard.press("p")
    press(page, "0", "Labelled: fail.")
    press(page, "u", "Undone")
    assert [each["value"] for each in labels_of(client, run)] == ["pass"]
    press(page, "u", "Undone")
    assert labels_of(client, run) == []
    expect(page.get_by_role("button", name=re.compile("^Undo"))).to_be_disabled()


def test_a_note_can_follow_its_label(open_page: Open, client: Client, run: Run, label_set: Any) -> None:
    page = opened(open_page(f"/runs/{run.id}?label={label_set['id']}"))
    press(page, "1", "Labelled: pass.")
    page.keyboard.press("p")
    page.keyboard.press("m")
    page.keyboard.type("too short")
    press(page, "Escape", "Note saved.")
    assert [(each["value"], each["note"]) for each in labels_of(client, run)] == [("pass", "too short")]


def test_labels_of_an_earlier_session_are_gone_back_to(open_page: Open, run: Run, label_set: Any) -> None:
    page = opened(open_page(f"/runs/{run.id}?label={label_set['id']}"))
    first = shown(page)
    press(page, "1", "Labelled: pass.")
    page.reload()
    opened(page)
    expect(heading(page)).not_to_have_text(first)
    page.keyboard.press("p")
    expect(page.get_by_role("button", name=re.compile("^Pass"))).to_have_attribute("aria-pressed", "true")
    expect(heading(page)).to_have_text(first)
    press(page, "p", "There is no earlier transcript.")


def test_a_label_after_the_verdict_cannot_be_removed(open_page: Open, client: Client, run: Run, label_set: Any) -> None:
    page = opened(open_page(f"/runs/{run.id}?label={label_set['id']}", role=AccessRole.MEMBER))
    press(page, "1", "Labelled: pass.")
    page.keyboard.press("p")
    page.keyboard.press("v")
    expect(page.get_by_text(re.compile("^Judge: "))).to_be_visible()
    page.keyboard.press("u")
    expect(page.get_by_role("alert")).to_contain_text("the judge's verdict was shown for this label")
    assert len(labels_of(client, run)) == 1


def test_everything_is_labelled(open_page: Open, client: Client, run: Run) -> None:
    made = drawn_set(client, run, count=2)
    page = opened(open_page(f"/runs/{run.id}?label={made['id']}"))
    press(page, "1", "Labelled: pass.")
    press(page, "0", "Nothing is left for you to label here.")
    page.reload()
    expect(page.get_by_role("heading", name="Nothing is left to label")).to_be_in_viewport()
    page.keyboard.press("p")
    expect(page.get_by_role("button", name=re.compile("^Fail"))).to_have_attribute("aria-pressed", "true")


def test_a_labeller_sees_nothing_else(open_page: Open, client: Client, run: Run, label_set: Any) -> None:
    page = opened(open_page(f"/runs/{run.id}?label={label_set['id']}", role=AccessRole.LABELLER))
    expect(page.get_by_role("navigation")).to_have_count(0)
    expect(page.get_by_role("link", name="Back to the run")).to_have_count(0)
    press(page, "1", "Labelled: pass.")
    assert len(labels_of(client, run)) == 1
    page.goto(page.url.partition("?")[0])
    link = page.get_by_role("main").get_by_role("link")
    expect(link).to_have_count(1)
    expect(page.get_by_text("1 of 10 labelled")).to_be_visible()
    link.click()
    opened(page)
    page.goto(page.url.partition("/runs/")[0] + "/settings")
    expect(page.get_by_text("Your role labels transcripts and sees nothing else.")).to_be_in_viewport()


def test_transcripts_are_drawn_and_labelled_from_the_run(open_page: Open, client: Client, run: Run) -> None:
    page = open_page(f"/runs/{run.id}")
    page.get_by_role("link", name="Judge", exact=True).click()
    page.get_by_role("region", name="Labels", exact=True).get_by_role("button", name="Draw transcripts").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Criterion").fill("tone")
    dialog.get_by_role("button", name="Draw").click()
    expect(dialog.get_by_role("alert")).to_contain_text("must be one of llm-rubric, result")
    dialog.get_by_label("Criterion").fill("llm-rubric")
    dialog.get_by_label("Number of transcripts").fill("5")
    dialog.get_by_label("Instructions").fill("Exact limits only.")
    dialog.get_by_role("button", name="Draw").click()
    row = page.get_by_role("region", name="Table: label sets").get_by_role("row").nth(1)
    expect(row).to_contain_text("0 of 5 labelled, 1 to label twice")
    expect(row).to_be_in_viewport()
    row.get_by_role("link", name="Label").click()
    expect(page.get_by_text("Does it pass “llm-rubric”?")).to_be_in_viewport()
    expect(page.get_by_text("Exact limits only.")).to_be_in_viewport()
    page.get_by_role("link", name="Back to the run").click()
    expect(page.get_by_role("heading", name="Labels")).to_be_visible()
    (made,) = client.get(f"/v1/runs/{run.id}/label-sets").json()["items"]
    assert (made["criterion"], made["count"], made["instructions"]) == ("llm-rubric", 5, "Exact limits only.")


def test_a_viewer_neither_draws_nor_labels(open_page: Open, run: Run, label_set: Any) -> None:
    page = open_page(f"/runs/{run.id}/judge", role=AccessRole.VIEWER)
    expect(page.get_by_text(f"0 of {label_set['count']} labelled")).to_be_visible()
    expect(page.get_by_role("button", name="Draw transcripts")).to_have_count(0)
    expect(page.get_by_role("main").get_by_role("link", name="Label", exact=True)).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_panel_is_accessible_and_safe(open_page: Open, run: Run, label_set: Any, theme: str) -> None:
    address = f"/runs/{run.id}?label={label_set['id']}"
    page = opened(open_page(address, color_scheme=theme, bypass_csp=True))
    press(page, "1", "Labelled: pass.")
    page.keyboard.press("p")
    page.keyboard.press("v")
    expect(page.get_by_text(re.compile("^Judge: "))).to_be_visible()
    check_screen(page, "labelling")
