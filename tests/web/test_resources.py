"""Experiments, schedules, personas, connectors and evals in a browser."""

import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from playwright.sync_api import expect

from cupel_core.base.clock import utc_now
from cupel_core.base.messages import DueSchedule
from cupel_core.domain.access import AccessRole
from cupel_core.runs.schedules.schedules import fire
from tests.compared_runs import carry_out_jobs, run_of
from tests.unit.api.client import Client
from tests.web.conftest import Open, check_screens, go
from tests.web.samples import HOSTILE, PAYLOADS, SHORT_HOSTILE

DUE = "2026-11-20T13:00:00.000Z"


def made(client: Client, path: str, body: dict[str, Any]) -> str:
    answer = client.post(path, body)
    assert answer.status == 201, answer.text
    return str(answer.json()["id"])


@pytest.fixture
def experiment(client: Client) -> str:
    """With a run that is worse than the baseline."""
    baseline, worse = run_of("def_shared", "+"), run_of("def_shared", "-------+")
    body = {"name": f"Politeness {PAYLOADS[0]}", "hypothesis": SHORT_HOSTILE, "direction": "LOWER"}
    key = made(client, "/v1/experiments", {**body, "baselineRunId": baseline.id})
    for run in (baseline, worse):
        assert client.put(f"/v1/experiments/{key}/runs/{run.id}").status == 204
    with ThreadPoolExecutor(1) as pool:  # Playwright has an event loop in this thread.
        pool.submit(carry_out_jobs).result()
    return key


@pytest.fixture
def definition(client: Client) -> str:
    key = made(client, "/v1/definitions", {"name": "Facts", "content": {"system": "Be brief."}})
    client.post(f"/v1/definitions/{key}/scenarios", {"items": [{"prompt": "hello"}, {"prompt": "bye"}]})
    return key


@pytest.fixture
def saved_eval(client: Client, definition: str) -> str:
    items = client.get(f"/v1/definitions/{definition}/scenarios").json()["items"]
    body = {"name": f"smoke {PAYLOADS[1]}", "scenarioIds": [each["id"] for each in items], "model": "sim/steady"}
    return made(client, "/v1/evals", body)


@pytest.fixture
def schedule(client: Client, definition: str) -> str:
    """Fired twice: a run, and then a refusal."""
    run = {"definitionId": definition, "models": ["sim/steady"]}
    body = {"name": f"nightly {PAYLOADS[2]}", "expression": "rate(6 hours)", "run": run}
    key = made(client, "/v1/schedules", body)
    fire(DueSchedule(workspace="acme", schedule_id=key, scheduled_time=DUE), utc_now())
    client.delete(f"/v1/definitions/{definition}")
    fire(DueSchedule(workspace="acme", schedule_id=key, scheduled_time="2026-11-20T19:00:00.000Z"), utc_now())
    return key


@pytest.fixture
def persona(client: Client) -> str:
    body = {"name": f"Ada {PAYLOADS[0]}", "description": SHORT_HOSTILE, "systemPrompt": HOSTILE}
    return made(client, "/v1/personas", body)


@pytest.fixture
def connector(client: Client) -> str:
    headers = {"X-Api-Key": "header-secret"}
    body = {
        "name": f"Agent {PAYLOADS[1]}",
        "type": "openai",
        "baseUrl": "http://127.0.0.1:9",
        "headers": headers,
        "config": {"model": "m"},
    }
    return made(client, "/v1/connectors", body)


def test_an_experiment_shows_differences_and_is_concluded(open_page: Open, client: Client, experiment: str) -> None:
    page = open_page("/experiments")
    page.get_by_role("link", name=re.compile("^Politeness")).click()
    row = page.get_by_role("region", name="Table: Differences").get_by_role("row").filter(has_text="sim/steady")
    summary = client.get(f"/v1/experiments/{experiment}/summary").json()["rows"][0]
    expect(row).to_contain_text(f"−{abs(summary['difference']):.2f}")
    expect(row).to_contain_text("lower")
    runs = page.get_by_role("region", name="Table: Runs")
    expect(runs.get_by_text("the baseline", exact=True)).to_be_visible()
    page.get_by_label("The hypothesis is").select_option("SUPPORTED")
    page.get_by_label("Why").fill("Seven of eight fail.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("supported", exact=True).first).to_be_visible()
    stored = client.get(f"/v1/experiments/{experiment}").json()
    assert (stored["conclusion"], stored["note"]) == ("SUPPORTED", "Seven of eight fail.")


def test_a_schedule_shows_its_firings_and_is_switched(open_page: Open, client: Client, schedule: str) -> None:
    page = open_page("/schedules")
    row = page.get_by_role("row").filter(has_text="nightly")
    expect(row.get_by_role("link", name=re.compile("just now|ago"))).to_have_count(1)
    [refused, started] = client.get(f"/v1/schedules/{schedule}").json()["firings"]
    assert started["runId"]
    expect(row).to_contain_text(refused["error"])
    row.get_by_role("button", name=re.compile("Switch off nightly")).click()
    expect(row.get_by_role("button", name=re.compile("Switch on nightly"))).to_be_visible()
    assert not client.get(f"/v1/schedules/{schedule}").json()["enabled"]


def test_a_persona_is_changed(open_page: Open, client: Client, persona: str) -> None:
    page = open_page("/personas")
    page.get_by_role("link", name=re.compile("^Ada")).click()
    page.get_by_label("System prompt").fill("You are in a hurry.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    assert client.get(f"/v1/personas/{persona}").json()["systemPrompt"] == "You are in a hurry."


def test_a_connector_is_tested_and_its_secret_never_shown(open_page: Open, connector: str) -> None:
    page = open_page(f"/connectors/{connector}")
    expect(page.get_by_text("sends X-Api-Key")).to_be_visible()
    page.get_by_role("button", name="Call it once").click()
    expect(page.get_by_text("It did not reply")).to_be_visible()
    assert "header-secret" not in page.content()


def test_a_persona_and_a_connector_are_created(open_page: Open, client: Client) -> None:
    page = open_page("/personas")
    page.get_by_text("New persona").click()
    page.get_by_label("Name").fill("Bob")
    page.get_by_label("System prompt").fill("You doubt everything.")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("heading", name="Bob")).to_be_visible()
    go(page, "/connectors")
    page.get_by_text("New connector").click()
    page.get_by_label("Name").fill("Clerk")
    page.get_by_label("Address").fill("http://127.0.0.1:9")
    page.get_by_label("Headers to send").fill("no header")
    expect(page.get_by_role("button", name="Create", exact=True)).to_be_disabled()
    page.get_by_label("Headers to send").fill("Authorization: Bearer header-secret")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("list", name="Problems of Settings of the protocol")).to_contain_text("config.model")
    page.get_by_role("textbox", name="Settings of the protocol").fill('{"model": "m"}')
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_text("sends Authorization")).to_be_visible()
    assert "header-secret" not in page.content()
    assert client.get("/v1/personas").json()["items"][0]["systemPrompt"] == "You doubt everything."


def test_a_connector_is_edited_and_its_headers_kept_replaced_and_removed(
    open_page: Open, client: Client, connector: str
) -> None:
    page = open_page(f"/connectors/{connector}")
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.get_by_label("Name").fill("Clerk")
    client.patch(f"/v1/connectors/{connector}", {"config": {"model": "n"}})
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("The connector was not changed")
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.get_by_role("heading", name="Clerk")).to_be_visible()
    stored = client.get(f"/v1/connectors/{connector}").json()
    assert (stored["config"], stored["headerNames"]) == ({"model": "n"}, ["X-Api-Key"])
    page.get_by_label("Address").fill("http://127.0.0.1:10")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("group", name="Headers")).to_contain_text("must be set again or set to null")
    page.get_by_role("radio", name="Replace all").check()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.get_by_label("New headers").fill("Authorization: Bearer header-secret")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("sends Authorization")).to_be_visible()
    assert "header-secret" not in page.content()
    page.get_by_role("radio", name="Remove all").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("sends Authorization")).to_have_count(0)
    stored = client.get(f"/v1/connectors/{connector}").json()
    assert (stored["baseUrl"], stored["headerNames"]) == ("http://127.0.0.1:10", [])


def test_a_connector_is_deleted_after_a_question(open_page: Open, client: Client, connector: str) -> None:
    page = open_page(f"/connectors/{connector}")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    assert client.get(f"/v1/connectors/{connector}").status == 200
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No connectors yet")).to_be_visible()
    assert client.get(f"/v1/connectors/{connector}").status == 404


def test_a_personas_headers_are_set_with_their_addresses_and_a_conflict_is_resolved(
    open_page: Open, client: Client, persona: str
) -> None:
    page = open_page(f"/personas/{persona}")
    page.get_by_label("Headers to send").fill("X-User: header-secret")
    page.get_by_role("button", name="Save").click()
    addresses = page.get_by_label("Addresses of connectors")
    expect(addresses).to_have_accessible_description(re.compile("is required with headers"))
    addresses.fill("https://agent.example.com/v1")
    client.patch(f"/v1/personas/{persona}", {"name": "Eve"})
    page.get_by_role("button", name="Save", exact=True).click()
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.get_by_text("sends X-User")).to_be_visible()
    assert "header-secret" not in page.content()
    stored = client.get(f"/v1/personas/{persona}").json()
    assert (stored["name"], stored["headerNames"]) == ("Eve", ["X-User"])
    assert stored["connectorUrls"] == ["https://agent.example.com/v1"]


def test_a_persona_is_deleted_after_a_question(open_page: Open, client: Client, persona: str) -> None:
    page = open_page(f"/personas/{persona}")
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No personas yet")).to_be_visible()
    assert client.get(f"/v1/personas/{persona}").status == 404


def test_an_eval_is_run(open_page: Open, client: Client, saved_eval: str) -> None:
    page = open_page("/evals")
    page.get_by_role("link", name=re.compile("^smoke")).click()
    page.get_by_label("Repeats per scenario").fill("3")
    expect(page.get_by_text("6 conversations")).to_be_visible()
    page.get_by_role("button", name="Start").dblclick()
    expect(page.get_by_text(re.compile("Pending$"))).to_be_visible()
    [run] = client.get("/v1/runs").json()["items"]
    assert (run["evalId"], run["progress"]["total"]) == (saved_eval, 6)


def test_an_eval_is_run_with_a_budget_and_a_report(open_page: Open, client: Client, saved_eval: str) -> None:
    client.put(
        "/v1/providers/sim", {"prices": [{"model": "steady", "inputUsdPerMillion": 10, "outputUsdPerMillion": 100}]}
    )
    page = open_page(f"/evals/{saved_eval}")
    page.get_by_label("Budget in USD").fill("0.000002")
    page.get_by_role("checkbox", name="Write a report").check()
    page.get_by_role("button", name=re.compile(r"Start, about \$")).click()
    expect(page.get_by_role("dialog")).to_contain_text("more than its budget of $0.000002")
    page.get_by_role("button", name="Start anyway").click()
    expect(page.get_by_role("heading", name="Budget")).to_be_visible()
    [run] = client.get("/v1/runs").json()["items"]
    assert (run["evalId"], run["report"], run["spend"]["budget"]["maxBudgetUsd"]) == (saved_eval, True, 0.000002)


def test_an_eval_is_edited_and_a_concurrent_change_is_a_conflict(
    open_page: Open, client: Client, saved_eval: str
) -> None:
    page = open_page(f"/evals/{saved_eval}")
    page.get_by_role("link", name="Edit").click()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.get_by_label("Name").fill("thorough")
    page.get_by_label("Targets").fill("sim/steady, sim/bold")
    page.get_by_label("Judge").fill("sim/contrarian")
    page.get_by_role("checkbox").nth(1).uncheck()
    expect(page.get_by_text("Scenarios: 1 chosen")).to_be_visible()
    client.patch(f"/v1/evals/{saved_eval}", {"embeddingModel": "sim/steady", "name": "meanwhile"})
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("The eval was not changed")
    assert client.get(f"/v1/evals/{saved_eval}").json()["name"] == "meanwhile"
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.get_by_role("heading", name="thorough")).to_be_visible()
    stored = client.get(f"/v1/evals/{saved_eval}").json()
    assert [each["model"] for each in stored["targets"]] == ["sim/steady", "sim/bold"]
    assert (stored["judgeModel"], len(stored["scenarioIds"])) == ("sim/contrarian", 1)
    assert stored["embeddingModel"] == "sim/steady"  # Only what the form has changed is written over it.


def test_targets_with_parameters_are_edited_by_their_fields(open_page: Open, client: Client, saved_eval: str) -> None:
    params = {"temperature": 0, "seed": None}
    targets = [{"model": "sim/steady", "label": "cold", "params": params}, {"model": "sim/bold"}]
    client.patch(f"/v1/evals/{saved_eval}", {"targets": targets})
    page = open_page(f"/evals/{saved_eval}/edit")
    save = page.get_by_role("button", name="Save")
    cold = page.get_by_role("group", name="Target 1", exact=True)
    expect(cold.get_by_label("Label")).to_have_value("cold")
    expect(save).to_be_disabled()
    cold.get_by_label("Temperature").fill("3")
    page.get_by_role("button", name="Add a target").click()
    added = page.get_by_role("group", name="Target 3", exact=True)
    added.get_by_label("Model").fill("sim/contrarian")
    save.click()
    expect(cold.get_by_label("Temperature")).to_have_attribute("aria-invalid", "true")
    cold.get_by_label("Temperature").fill("1")
    cold.get_by_label("Label").fill("")
    client.patch(f"/v1/evals/{saved_eval}", {"params": {"topP": 0.5}})
    save.click()
    page.get_by_role("button", name="Save mine over it").click()
    expect(page.get_by_role("heading", name="Graders")).to_be_visible()
    found = client.get(f"/v1/evals/{saved_eval}").json()
    assert found["params"] == {"topP": 0.5}  # Only what the form has changed is written over it.
    stored = found["targets"]
    assert [each["model"] for each in stored] == ["sim/steady", "sim/bold", "sim/contrarian"]
    assert (stored[0]["label"], stored[0]["params"]) == (None, {**params, "temperature": 1})


def test_targets_of_a_schedule_are_edited_by_their_fields(open_page: Open, client: Client, definition: str) -> None:
    targets = [{"model": "sim/steady", "label": "cold", "params": {"temperature": 0}}]
    run = {"definitionId": definition, "targets": targets}
    key = made(client, "/v1/schedules", {"name": "nightly", "expression": "rate(6 hours)", "run": run})
    page = open_page(f"/schedules/{key}")
    target = page.get_by_role("group", name="Target 1", exact=True)
    target.get_by_label("Temperature").fill("7")
    page.get_by_role("button", name="Save").click()
    expect(target.get_by_label("Temperature")).to_have_attribute("aria-invalid", "true")
    target.get_by_label("Temperature").fill("1.5")
    page.get_by_role("button", name="Save").click()
    expect(page).to_have_url(re.compile("/schedules$"))
    [stored] = client.get(f"/v1/schedules/{key}").json()["run"]["targets"]
    assert (stored["label"], stored["params"]) == ("cold", {"temperature": 1.5})


def test_parameters_of_an_eval_are_edited_by_their_fields(open_page: Open, client: Client, saved_eval: str) -> None:
    params = {"temperature": 0.5, "seed": None, "responseFormat": {"type": "json"}}
    client.patch(f"/v1/evals/{saved_eval}", {"params": params})
    stored = client.get(f"/v1/evals/{saved_eval}").json()["params"]
    page = open_page(f"/evals/{saved_eval}/edit")
    group = page.get_by_role("group", name="Parameters of every target")
    save = page.get_by_role("button", name="Save")
    expect(group.get_by_label("Temperature")).to_have_value("0.5")
    expect(save).to_be_disabled()
    group.get_by_label("Temperature").fill("3")
    save.click()
    expect(group.get_by_label("Temperature")).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_role("alert")).to_contain_text("The eval was not changed")
    group.get_by_label("Temperature").fill("1")
    group.get_by_role("textbox", name="Top p").fill("0.9")
    save.click()
    expect(page.get_by_role("heading", name="Graders")).to_be_visible()
    assert client.get(f"/v1/evals/{saved_eval}").json()["params"] == {**stored, "temperature": 1, "topP": 0.9}


def test_a_schedule_is_edited_and_deleted(open_page: Open, client: Client, definition: str) -> None:
    run = {"definitionId": definition, "models": ["sim/steady"], "report": True, "samplePercentage": 50}
    body = {"name": "nightly", "expression": "rate(6 hours)", "run": {**run, "config": {"temperature": 0.5}}}
    key = made(client, "/v1/schedules", body)
    page = open_page("/schedules")
    page.get_by_role("link", name="nightly").click()
    page.get_by_label("When").fill("rate(1 day)")
    page.get_by_label("Targets").fill("sim/bold")
    page.get_by_label("Budget per run").fill("2.5")
    client.patch(f"/v1/schedules/{key}", {"timezone": "Europe/Berlin"})
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_contain_text("The schedule was not changed")
    page.get_by_role("button", name="Discard mine").click()
    expect(page.get_by_label("Time zone")).to_have_value("Europe/Berlin")
    expect(page.get_by_label("When")).to_have_value("rate(6 hours)")
    page.get_by_label("When").fill("rate(1 day)")
    page.get_by_label("Targets").fill("sim/bold")
    page.get_by_label("Budget per run").fill("2.5")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("cell", name=re.compile(r"rate\(1 day\)"))).to_be_visible()
    stored = client.get(f"/v1/schedules/{key}").json()
    assert (stored["expression"], stored["timezone"]) == ("rate(1 day)", "Europe/Berlin")
    changed = stored["run"]
    assert (changed["models"], changed["maxBudgetUsd"]) == (["sim/bold"], 2.5)
    assert (changed["report"], changed["samplePercentage"], changed["config"]["temperature"]) == (True, 50, 0.5)
    page.get_by_role("link", name="nightly").click()
    page.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No schedules yet")).to_be_visible()
    assert client.get(f"/v1/schedules/{key}").status == 404


def test_a_viewer_is_offered_no_change(
    open_page: Open, experiment: str, schedule: str, persona: str, connector: str
) -> None:
    for path, shown in (
        (f"/experiments/{experiment}", "Differences from the baseline"),
        ("/schedules", "nightly"),
        (f"/personas/{persona}", "Ada"),
        (f"/connectors/{connector}", "Agent"),
    ):
        page = open_page(path, role=AccessRole.VIEWER)
        expect(page.get_by_text(re.compile(f"^{shown}")).first).to_be_visible()
        changes = page.locator("main").get_by_role("button").filter(has_not_text=re.compile("^(SVG|PNG) of"))
        expect(changes).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screens_are_accessible_and_safe(
    open_page: Open, experiment: str, saved_eval: str, persona: str, connector: str, theme: str
) -> None:
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    paths = {
        "experiments": "/experiments",
        "experiment": f"/experiments/{experiment}",
        "evals": "/evals",
        "eval": f"/evals/{saved_eval}",
        "eval-edit": f"/evals/{saved_eval}/edit",
        "schedules-none": "/schedules",
        "personas": "/personas",
        "persona": f"/personas/{persona}",
        "connectors": "/connectors",
        "connector": f"/connectors/{connector}",
        "connector-none": "/connectors/con_none",
    }
    check_screens(page, paths)


def test_the_schedules_are_accessible_and_safe(open_page: Open, schedule: str) -> None:
    check_screens(
        open_page("/runs", bypass_csp=True), {"schedules": "/schedules", "schedule": f"/schedules/{schedule}"}
    )
