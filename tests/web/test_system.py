"""Settings, tokens, providers and queues in a browser."""

import re

import pytest
from playwright.sync_api import expect

from cupel_core.domain.access import AccessRole
from tests.started_runs import RunSetup
from tests.unit.api.client import Client
from tests.unit.api.test_queue import die
from tests.web.conftest import Open, check_screens
from tests.web.samples import HOSTILE, PAYLOADS


def test_settings_are_changed_and_one_that_has_changed_meanwhile_is_named(open_page: Open, client: Client) -> None:
    page = open_page("/settings")
    page.get_by_label("Judge", exact=True).fill("sim/steady")
    page.get_by_label("Maximum open runs in the workspace").fill("0")
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.get_by_label("Maximum open runs in the workspace").fill("7")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    stored = client.get("/v1/settings").json()
    assert (stored["judgeModel"], stored["openRuns"]) == ("sim/steady", 7)
    client.put("/v1/settings", {"openRuns": 8})
    page.get_by_label("Maximum open runs in the workspace").fill("9")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("The settings were not changed")
    assert client.get("/v1/settings").json()["openRuns"] == 8


def test_the_model_of_analyses_and_the_evaluator_are_set_and_removed(open_page: Open, client: Client) -> None:
    page = open_page("/settings")
    page.get_by_label("Analyses").fill("nowhere/model")
    page.get_by_label("Address of an external evaluator").fill("https://evaluator.example.com/score")
    page.get_by_label("Headers to send").fill("Authorization: Bearer header-secret")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_label("Analyses")).to_have_accessible_description(re.compile("nowhere"))
    page.get_by_label("Analyses").fill("sim/steady")
    client.put("/v1/settings", {"openRuns": 8})
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.get_by_role("radio", name="Keep Authorization")).to_be_checked()
    assert "header-secret" not in page.content()
    stored = client.get("/v1/settings").json()
    assert (stored["analysisModel"], stored["openRuns"]) == ("sim/steady", 8)
    assert stored["evaluator"] == {
        "url": "https://evaluator.example.com/score",
        "headerNames": ["Authorization"],
    }
    page.get_by_label("Address of an external evaluator").fill("https://other.example.com/score")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("group", name="Headers")).to_contain_text("must be set again or set to null")
    page.get_by_label("Address of an external evaluator").fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    assert client.get("/v1/settings").json()["evaluator"] is None


def test_the_limits_of_scale_runs_are_set_and_removed(open_page: Open, client: Client) -> None:
    page = open_page("/settings")
    count = page.get_by_label("Maximum conversations per target of a scale run")
    count.fill("1001")
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    count.fill("50")
    page.get_by_label("Maximum concurrency of a scale run").fill("5")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    stored = client.get("/v1/settings").json()
    assert (stored["maxScaleRunCount"], stored["maxScaleRunConcurrency"]) == (50, 5)
    count.fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    stored = client.get("/v1/settings").json()
    assert (stored["maxScaleRunCount"], stored["maxScaleRunConcurrency"]) == (None, 5)


def test_a_token_is_shown_once_and_revoked(open_page: Open, client: Client) -> None:
    page = open_page("/settings/tokens")
    page.get_by_label("Used for").fill(f"the pipeline {PAYLOADS[1]}")
    page.get_by_role("button", name="Create", exact=True).click()
    token = page.locator("code").filter(has_text="cupel_").inner_text()
    assert client.get("/v1/session", token=token).json()["role"] == "viewer"
    page.get_by_role("link", name="Evaluation").click()
    expect(page.get_by_label("Judge", exact=True)).to_be_visible()
    page.get_by_role("link", name="Tokens").click()
    expect(page.get_by_role("rowheader", name=re.compile("the pipeline"))).to_be_visible()
    assert token not in page.content()
    page.get_by_role("button", name=re.compile("Revoke the pipeline")).click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text(re.compile("^revoked "))).to_be_visible()
    assert client.get("/v1/session", token=token).status == 401


def test_a_key_is_stored_and_never_shown(open_page: Open, client: Client) -> None:
    page = open_page("/providers")
    page.get_by_role("link", name="OpenAI", exact=True).click()
    page.get_by_label("API key").fill("sk-secret-1")
    page.get_by_label("Maximum parallel requests").fill("7")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("an API key is stored")).to_be_visible()
    assert "sk-secret-1" not in page.content()
    expect(page.get_by_label("API key")).to_have_value("")
    stored = client.get("/v1/providers/openai").json()
    assert (stored["hasKey"], stored["maxParallelRequests"], stored["usable"]) == (True, 7, True)
    page.get_by_role("button", name="Remove the key").click()
    expect(page.get_by_text("an API key is stored")).to_have_count(0)
    assert not client.get("/v1/providers/openai").json()["hasKey"]


def test_a_server_of_ones_own_is_set_up(open_page: Open, client: Client) -> None:
    page = open_page("/providers")
    page.get_by_label("Name").fill("gpu")
    page.get_by_role("button", name="Set it up").click()
    page.get_by_label("Address").fill("https://gpu.example.com/v1")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("ready")).to_be_visible()
    assert client.get("/v1/providers/custom-gpu").json()["baseUrl"] == "https://gpu.example.com/v1"


def test_the_queue_says_what_was_spent_today(open_page: Open, client: Client) -> None:
    page = open_page("/queue")
    expect(page.get_by_text("Spending is counted once the workspace has a budget. Budgets")).to_be_visible()
    client.put("/v1/settings", {"budgets": {"dayUsd": 5}})
    page.reload()
    expect(page.get_by_text("Spent today: $0 of $5.00.")).to_be_visible()
    page.get_by_role("link", name="Budgets", exact=True).click()
    expect(page.get_by_role("heading", name="Budgets")).to_be_visible()


def test_a_queue_is_paused_and_a_dead_letter_sent_again(open_page: Open, client: Client) -> None:
    run = RunSetup(workspace="acme", scenario_count=3).start()
    die(run, [1, 2])
    page = open_page("/queue")
    expect(page.get_by_role("table")).to_have_count(2)
    page.get_by_role("button", name="Pause sim").click()
    expect(page.get_by_text("paused by this workspace")).to_be_visible()
    expect(page.get_by_role("row")).to_have_count(4)
    page.get_by_role("button", name="Resume sim").click()
    expect(page.get_by_text("paused by this workspace")).to_have_count(0)
    page.get_by_role("button", name="Send again").click()
    expect(page.get_by_text(re.compile("1 message sent again"))).to_be_visible()
    assert client.get("/v1/queue/dead-letters").json()["items"] == []


def test_a_viewer_is_offered_no_change(open_page: Open, client: Client) -> None:
    die(RunSetup(workspace="acme").start(), [0])
    page = open_page("/settings", role=AccessRole.VIEWER)
    expect(page.get_by_label("Judge", exact=True)).to_be_disabled()
    expect(page.get_by_role("button", name="Save")).to_have_count(0)
    expect(page.get_by_role("link", name="Tokens")).to_have_count(0)
    page = open_page("/queue", role=AccessRole.VIEWER)
    expect(page.get_by_role("table")).to_have_count(2)
    expect(page.get_by_role("button", name=re.compile("Pause|Send"))).to_have_count(0)
    page = open_page("/settings/tokens", role=AccessRole.VIEWER)
    expect(page.get_by_text("this session has viewer")).to_be_visible()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screens_are_accessible_and_safe(open_page: Open, client: Client, theme: str) -> None:
    die(RunSetup(workspace="acme", scenario_count=3).start(), [1, 2])
    client.post("/v1/tokens", {"name": HOSTILE[:100], "role": "viewer"})
    prices = [{"model": PAYLOADS[0], "inputUsdPerMillion": 1, "outputUsdPerMillion": 2}]
    assert client.put("/v1/providers/openai", {"apiKey": "sk-1", "prices": prices}).status == 200
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    paths = {
        "settings": "/settings",
        "tokens": "/settings/tokens",
        "providers": "/providers",
        "provider": "/providers/openai",
        "provider-none": "/providers/none",
        "queue": "/queue",
    }
    check_screens(page, paths)
