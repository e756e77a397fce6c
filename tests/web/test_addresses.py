"""Addresses of the page: every choice is in them, and they say nothing of other workspaces."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from cupel_core.domain.access import AccessRole
from cupel_core.domain.runs.run import Run
from tests.unit.api.client import Client
from tests.web.conftest import Open, go, load, settled
from tests.web.samples import sample_run
from tests.web.server import Server

ADDRESSES = (
    "/runs?status=COMPLETED&name=run&definition=def_1&experiment=exp_1&eval=eval_1&tag=nightly&sort=createdAt",
    "/new?definition={definition}",
    "/runs/{run}?column=1&outcome=failed&decision=other&q=refund&said=answer&cols=expected.checks&by=time&order=-time",
    "/runs/{run}?score=0.1~0.9&tag=REFUSAL&check=llm-rubric&error=timeout&t=21",
    "/runs/{run}?target=sim/bold&outcome=failed&decision=%222%22&where=tone=short&vars=tone&t=21&beside=true",
    "/runs/{run}?mode=differ&order=spread&lines=all&since=run_none&find=refund",
    "/compare?a={run}&b=run_none&only=increased&row=1&s=scn_1&repeat=2",
    "/experiments/exp_none?target=sim/bold",
    "/definitions?name=a&folder=b&tag=c",
    "/definitions/{definition}/changes?v=1&against=1",
)


@pytest.fixture
def run(server: Server) -> Run:
    return sample_run()


def asked(address: str) -> dict[str, list[str]]:
    """The parameters of an address: a text that could be a number is in quotes."""
    return {name: [each.strip('"') for each in values] for name, values in parse_qs(urlsplit(address).query).items()}


def test_back_forward_and_a_reload_keep_every_filter_of_every_screen(open_page: Open, run: Run) -> None:
    client = Client(None)
    body = {"name": "Facts", "content": {"system": "Be brief."}}
    definition = client.post("/v1/definitions", body, token=client.issue()).json()["id"]
    page = settled(open_page("/settings"))
    addresses = [each.format(run=run.id, definition=definition) for each in ADDRESSES]
    for address in addresses:
        go(page, address)
        expected = asked(address)
        assert asked(page.url) == expected, address
        page.reload()
        settled(page)
        assert asked(page.url) == expected, f"{address}, loaded again"
    for address in addresses[-2::-1]:
        page.go_back()
        settled(page)
        assert asked(page.url) == asked(address), f"back to {address}"
    for address in addresses[1:]:
        page.go_forward()
        settled(page)
        assert asked(page.url) == asked(address), f"forward to {address}"


def test_a_viewer_is_offered_no_write_and_a_forged_one_is_refused(open_page: Open, run: Run) -> None:
    page = open_page("/runs", role=AccessRole.VIEWER)
    writes = re.compile("^(New|Create|Save|Delete|Start|Pause|Resume|Cancel|Retry|Compare|Make|Import|Add|Set)")
    for path in ("/new", f"/runs/{run.id}", "/definitions/new", "/personas", "/schedules", "/queue", "/settings"):
        load(page, path)
        expect(page.locator("main").get_by_role("button", name=writes).locator("visible=true")).to_have_count(0)
    status = page.evaluate(
        """async path => {
            const headers = { Authorization: `Bearer ${sessionStorage.getItem("cupel.token")}` };
            return (await fetch(new URL(path, document.baseURI), { method: "POST", headers })).status;
        }""",
        f"v1/runs/{run.id}/pause",
    )
    assert status == 403


def test_a_run_of_another_workspace_is_not_found(open_page: Open, server: Server) -> None:
    other = sample_run(workspace="other")
    page = open_page("/runs")
    for path in (f"/runs/{other.id}", f"/runs/{other.id}?t=1"):
        load(page, path)
        expect(page.get_by_role("heading", name=f"Run {other.id}: not found")).to_be_visible()
        expect(page.locator("main")).not_to_contain_text("sim/steady")
    assert server.address in page.url
