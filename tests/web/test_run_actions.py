"""The menu with the actions of a run, and what each of them does."""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from cupel_core.domain.access import AccessRole
from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screen, settled
from tests.web.samples import PAYLOADS, sample_run


@pytest.fixture
def run_id(client: Client) -> str:
    """Ended, with one error among its conversations."""
    return sample_run().id


@pytest.fixture
def started_id(client: Client) -> str:
    """Just started, with two targets of one model."""
    key = client.post("/v1/definitions", {"name": "Facts", "content": {"system": "Be brief."}}).json()["id"]
    client.post(f"/v1/definitions/{key}/scenarios", {"items": [{"prompt": "hello"}, {"prompt": "bye"}]})
    sober = {"model": "sim/steady", "label": "sober", "params": {"temperature": 0}}
    body = {"definitionId": key, "targets": [sober, {"model": "sim/steady"}], "repeats": 3, "name": "Monday"}
    started = client.post("/v1/runs", {**body, "config": {"maxTurns": 4, "maxAttempts": 2}})
    assert started.status == 201, started.text
    return str(started.json()["run"]["id"])


def opened(page: Page) -> Locator:
    """The menu, once it is open."""
    page.get_by_role("button", name="Actions", exact=True).click()
    return page.get_by_role("menu")


def choose(page: Page, action: str) -> None:
    opened(page).get_by_role("menuitem", name=action, exact=True).click()


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.textContent"))


def test_the_menu_is_walked_by_keyboard_and_returns_the_focus(open_page: Open, run_id: str) -> None:
    page = open_page(f"/runs/{run_id}")
    button = page.get_by_role("button", name="Actions", exact=True)
    expect(button).to_have_attribute("aria-haspopup", "menu")
    button.focus()
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("menu")).to_be_in_viewport()
    expect(button).to_have_attribute("aria-expanded", "true")
    expect(page.get_by_role("menuitem").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    assert focused(page) == "Delete…"
    page.keyboard.press("c")
    assert focused(page) == "Copy link"
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_have_count(0)
    expect(button).to_be_focused()
    page.keyboard.press("ArrowUp")
    assert focused(page) == "Delete…"
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Delete “")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(button).to_be_focused()
    button.click()
    page.get_by_role("heading", level=1).click()
    expect(page.get_by_role("menu")).to_have_count(0)


def test_a_run_is_renamed_tagged_and_noted(open_page: Open, client: Client, run_id: str) -> None:
    client.patch(f"/v1/runs/{run_id}", {"metadata": {"commit": "6f1b2c9"}})
    page = open_page(f"/runs/{run_id}")
    choose(page, "Name, tags and note…")
    dialog = page.get_by_role("dialog", name="Name, tags and note")
    expect(dialog.get_by_role("button", name="Save")).to_be_disabled()
    dialog.get_by_label("Name", exact=True).fill(f"Monday {PAYLOADS[0]}")
    dialog.get_by_label("Tags").fill("nightly, release")
    dialog.get_by_label("Note", exact=True).fill("Before the fix.\nSecond line.")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Monday {PAYLOADS[0]}")
    expect(page.get_by_text("Before the fix.")).to_be_in_viewport()
    stored = client.get(f"/v1/runs/{run_id}").json()
    assert sorted(stored["tags"]) == ["nightly", "release"]
    assert stored["metadata"] == {"commit": "6f1b2c9", "note": "Before the fix.\nSecond line."}
    page.get_by_role("link", name="nightly").click()
    expect(page.get_by_role("table").get_by_role("row")).to_have_count(2)


def test_a_change_that_came_first_is_not_lost(open_page: Open, client: Client, run_id: str) -> None:
    page = open_page(f"/runs/{run_id}")
    choose(page, "Name, tags and note…")
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("Mine")
    client.patch(f"/v1/runs/{run_id}", {"name": "Theirs"})
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("Save the fields that you have changed")).to_be_visible()
    dialog.get_by_role("button", name="Discard mine").click()
    expect(dialog.get_by_label("Name", exact=True)).to_have_value("Theirs")


def test_a_run_is_repeated_with_changes(open_page: Open, client: Client, started_id: str) -> None:
    page = open_page(f"/runs/{started_id}")
    choose(page, "Run again with changes")
    expect(page.get_by_role("heading", name="New run")).to_be_in_viewport()
    expect(page.get_by_text("also those that are not shown: attempts per call, labels and settings")).to_be_visible()
    expect(page.get_by_label("Repeats per scenario")).to_have_value("3")
    expect(page.get_by_label("Name (optional)")).to_have_value("Monday")
    page.get_by_label("Repeats per scenario").fill("2")
    page.get_by_role("region", name="Models").get_by_label(re.compile("^sim/bold")).check()
    page.get_by_role("button", name="Start", exact=True).click()
    expect(page).to_have_url(re.compile("/runs/run_"))
    new, old = (each["config"] for each in client.get("/v1/runs").json()["items"])
    assert (new["repeats"], new["maxTurns"], new["maxAttempts"]) == (2, 4, 2)
    assert [each["id"] for each in new["targets"]] == ["sober", "sim/steady", "sim/bold"]
    assert new["targets"][:2] == old["targets"]


def exported(page: Page, label: str) -> str:
    page.get_by_role("dialog").get_by_label(re.compile(f"^{label}")).check()
    with page.expect_download() as download:
        page.get_by_role("dialog").get_by_role("button", name="Download").click()
    return Path(download.value.path()).read_text("utf-8")


class ApiClient:
    """Reads a run for the command's own export, as `cupel.client.Client` does."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def _list(self, path: str, **query: Any) -> list[dict[str, Any]]:
        page = self.client.get(path, query={"limit": 100, **{k: v for k, v in query.items() if v is not None}}).json()
        assert page["nextCursor"] is None
        return list(page["items"])

    def list_transcripts(self, run_id: str, **query: Any) -> list[dict[str, Any]]:
        return self._list(f"/v1/runs/{run_id}/transcripts", **query)

    def list_run_probes(self, run_id: str, **query: Any) -> list[dict[str, Any]]:
        return self._list(f"/v1/runs/{run_id}/probes", **query)

    def list_labels(self, run_id: str) -> list[dict[str, Any]]:
        return self._list(f"/v1/runs/{run_id}/labels")


def test_the_exported_files_are_those_of_the_command(
    open_page: Open, client: Client, run_id: str, tmp_path: Path
) -> None:
    from cupel.exports.records import OutcomeReader
    from cupel.exports.tables import write_csv, write_jsonl

    label = {"criterion": "llm-rubric", "value": "pass", "note": PAYLOADS[0]}
    assert client.put(f"/v1/probes/{run_id}-3/label", label).status == 200
    page = open_page(f"/runs/{run_id}")
    choose(page, "Export…")
    expect(page.get_by_role("dialog")).to_be_in_viewport()
    run = client.get(f"/v1/runs/{run_id}").json()
    lines, table = tmp_path / "lines", tmp_path / "table"
    with lines.open("w", encoding="utf-8") as file:
        write_jsonl(OutcomeReader(ApiClient(client), run).outcomes(), file)  # type: ignore[arg-type]
    with table.open("w", encoding="utf-8", newline="") as file:
        write_csv(OutcomeReader(ApiClient(client), run).outcomes(), run, None, file)  # type: ignore[arg-type]
    found = [json.loads(line) for line in exported(page, "JSON Lines").splitlines()]
    assert found == [json.loads(line) for line in lines.read_text("utf-8").splitlines()]
    assert len(found) == run["progress"]["total"]
    assert [each["probeIndex"] for each in found if each["status"] == "ERROR"] == [7]
    assert found[3]["labels"][0]["note"] == PAYLOADS[0]
    expect(page.get_by_role("dialog").get_by_role("status").first).to_contain_text("conversations exported")
    rows = list(csv.reader(exported(page, "CSV").splitlines(keepends=True)))
    written = list(csv.reader(table.read_text("utf-8").splitlines(keepends=True)))
    assert [list(map(cell_value, row)) for row in rows] == [list(map(cell_value, row)) for row in written]


def cell_value(cell: str) -> Any:
    """A number however it is written, JSON however it is spaced."""
    try:
        return json.loads(cell)
    except json.JSONDecodeError:
        return cell


def test_a_run_is_deleted_after_a_question_that_names_what_is_lost(
    open_page: Open, client: Client, run_id: str
) -> None:
    page = open_page(f"/runs/{run_id}")
    choose(page, "Delete…")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("labels, rescores, analyses and reports")
    dialog.get_by_role("button", name="Cancel").click()
    assert client.get(f"/v1/runs/{run_id}").status == 200
    choose(page, "Delete…")
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="No runs yet")).to_be_visible()
    assert client.get(f"/v1/runs/{run_id}").status == 404


def test_a_link_is_copied(open_page: Open, run_id: str) -> None:
    page = open_page(f"/runs/{run_id}/settings", permissions=["clipboard-read", "clipboard-write"])
    choose(page, "Copy link")
    expect(page.get_by_text("Link copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_the_actions_of_a_row_are_those_of_its_run(open_page: Open, client: Client, run_id: str) -> None:
    page = open_page("/runs", permissions=["clipboard-read", "clipboard-write"])
    row = page.get_by_role("row").nth(1)
    row.get_by_role("button", name="Actions of").click()
    page.get_by_role("menuitem", name="Copy link").click()
    expect(page.get_by_text("Link copied")).to_be_visible()
    assert str(page.evaluate("navigator.clipboard.readText()")).endswith(f"/runs/{run_id}")
    row.get_by_role("button", name="Actions of").click()
    page.get_by_role("menuitem", name="Name, tags and note…").click()
    page.get_by_role("dialog").get_by_label("Name", exact=True).fill("Renamed here")
    page.keyboard.press("Enter")
    expect(row.get_by_role("link", name="Renamed here")).to_be_visible()
    assert client.get(f"/v1/runs/{run_id}").json()["name"] == "Renamed here"


def test_a_viewer_is_offered_what_changes_nothing(open_page: Open, run_id: str) -> None:
    page = open_page(f"/runs/{run_id}", role=AccessRole.VIEWER)
    menu = opened(page)
    expect(menu.get_by_role("menuitem")).to_have_text(["Export…", "Copy link"])
    menu.get_by_role("menuitem", name="Export…").click()
    assert len(exported(page, "JSON Lines").splitlines()) > 1


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_menu_and_dialogs(open_page: Open, run_id: str, theme: str) -> None:
    page = settled(open_page(f"/runs/{run_id}", color_scheme=theme, bypass_csp=True))
    opened(page)
    check_screen(page, "run-menu")
    page.keyboard.press("Escape")
    for action in ("Name, tags and note…", "Export…", "Delete…"):
        choose(page, action)
        check_screen(page, f"run-{action[:4].strip()}")
        page.get_by_role("dialog").get_by_role("button", name=re.compile("^(Cancel|Close)$")).click()
