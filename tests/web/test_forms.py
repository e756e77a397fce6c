"""What is started and created by forms: scale runs, evals, schedules; the budgets of the workspace."""

import re

import pytest
from playwright.sync_api import expect

from cupel_core.domain.access import AccessRole
from tests.unit.api.client import Client
from tests.unit.api.test_workspace_budgets import charge
from tests.web.conftest import Open, check_screens, load
from tests.web.samples import HOSTILE, PAYLOADS


@pytest.fixture
def definition(client: Client) -> str:
    body = {"name": f"Facts {PAYLOADS[0]}", "content": {"system": "Be brief."}}
    key = str(client.post("/v1/definitions", body).json()["id"])
    items = [{"name": f"case {n} {PAYLOADS[n]}", "prompt": "hello"} for n in range(3)]
    assert client.post(f"/v1/definitions/{key}/scenarios", {"items": items}).status == 201
    return key


def test_a_newcomer_starts_the_sample_run_from_the_page(open_page: Open, client: Client) -> None:
    page = open_page("/runs")
    page.get_by_role("button", name="Use the sample definition").click()
    estimate = page.get_by_role("complementary", name="Estimate")
    expect(estimate).to_contain_text("36 conversations × 3 targets × 1 repeat")
    expect(page.get_by_label("Definition", exact=True)).to_contain_text("Privacy against safety")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", name="Privacy against safety")).to_be_visible()
    [run] = client.get("/v1/runs").json()["items"]
    assert (run["progress"]["total"], run["scenarioTotal"]) == (108, 36)


def test_a_definition_without_scenarios_leads_to_them(open_page: Open, client: Client) -> None:
    client.post("/v1/definitions", {"name": "Nothing yet", "content": {"system": "Be brief."}})
    page = open_page("/new")
    estimate = page.get_by_role("complementary", name="Estimate")
    expect(estimate.get_by_role("alert")).to_contain_text("has no scenarios yet")
    expect(estimate.get_by_text("has no scenarios yet")).to_have_count(1)
    expect(estimate.get_by_role("button", name="Try again")).to_have_count(0)
    estimate.get_by_role("link", name="Scenarios of this definition").click()
    expect(page.get_by_text("Import scenarios from a file")).to_be_visible()


def test_a_run_has_its_options_and_says_how_its_conversations_come_about(
    open_page: Open, client: Client, definition: str
) -> None:
    body = {"name": "Clerk", "type": "openai", "baseUrl": "http://127.0.0.1:9", "config": {"model": "m"}}
    agent = client.post("/v1/connectors", body).json()["id"]
    experiment = client.post("/v1/experiments", {"name": "Tone", "hypothesis": "Warm is better."}).json()["id"]
    page = open_page("/new")
    estimate = page.get_by_role("complementary", name="Estimate")
    expect(estimate).to_contain_text("3 conversations × 3 targets × 1 repeat")
    page.get_by_role("checkbox", name="Clerk").check()
    page.get_by_label("Sample of the scenarios").fill("34")
    expect(estimate).to_contain_text(re.compile(r"\d of 3 conversations × 4 targets × 1 repeat"))
    page.get_by_text("More options: defaults").click()
    page.get_by_label("Temperature").fill("3")
    expect(page.get_by_text("A number from 0 to 2")).to_be_visible()
    expect(page.get_by_role("button", name="Start")).to_be_disabled()
    page.get_by_label("Temperature").fill("0.5")
    page.get_by_label("Sample seed").fill("42")
    page.get_by_label("Priority").select_option("high")
    page.get_by_label("Experiment").select_option("Tone")
    page.get_by_label("Judge", exact=True).fill("sim/steady")
    expect(page.get_by_text("More options: 5 options set")).to_be_visible()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("navigation", name="Run")).to_be_visible()
    [run] = client.get("/v1/runs").json()["items"]
    config = run["config"]
    assert (run["definitionId"], run["experimentId"], run["priority"]) == (definition, experiment, "HIGH")
    assert (config["sampleSeed"], config["samplePercentage"], config["temperature"]) == (42, 34, 0.5)
    assert (config["judgeModel"], config["targets"][-1]["connectorId"]) == ("sim/steady", agent)


@pytest.mark.usefixtures("definition")
def test_a_reload_while_a_run_is_started_keeps_the_form_and_starts_it_once(open_page: Open, client: Client) -> None:
    page = open_page("/new")
    page.get_by_label("Name").fill("Once")
    page.get_by_label("Repeats").fill("2")
    expect(page.get_by_role("complementary", name="Estimate")).to_contain_text("18 conversations")
    # The run is started, but its answer never arrives.
    page.route(re.compile(r"/v1/runs$"), lambda route: route.fetch())
    with page.expect_request(lambda request: request.method == "POST" and request.url.endswith("/v1/runs")):
        page.get_by_role("button", name="Start").dblclick()
    expect(page.get_by_role("button", name="Starting…")).to_be_disabled()
    page.unroute_all(behavior="ignoreErrors")
    page.reload()
    expect(page.get_by_label("Name")).to_have_value("Once")
    expect(page.get_by_label("Repeats")).to_have_value("2")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("heading", name="Once")).to_be_visible()
    assert [each["name"] for each in client.get("/v1/runs").json()["items"]] == ["Once"]
    load(page, "/new")
    expect(page.get_by_label("Name")).to_have_value("")


def test_a_definition_is_found_by_its_name(open_page: Open, client: Client) -> None:
    names = [f"Definition {number}" for number in range(14)]
    made = [client.post("/v1/definitions", {"name": each, "content": {"system": "Be brief."}}).json() for each in names]
    page = open_page("/new")
    page.get_by_label("Find a definition").fill("tion 3")
    expect(page.get_by_text("1 found")).to_be_visible()
    page.get_by_label("Definition", exact=True).select_option("Definition 3 (version 1)")
    expect(page).to_have_url(re.compile(f"definition={made[3]['id']}"))


def test_a_scale_run_is_estimated_and_started_once(open_page: Open, client: Client) -> None:
    assert client.post("/v1/personas", {"name": f"Ada {PAYLOADS[1]}", "systemPrompt": HOSTILE}).status == 201
    page = open_page("/new")
    page.get_by_role("link", name="Scale run").click()
    estimate = page.get_by_role("complementary", name="Estimate")
    page.get_by_role("checkbox", name="sim/steady").uncheck()
    expect(estimate).to_contain_text("Choose at least one model or agent.")
    page.get_by_role("checkbox", name="sim/steady").check()
    page.get_by_label("System prompt").fill("Be brief.")
    page.get_by_label("First user message").fill("hello")
    page.get_by_label("Conversations per target").fill("0")
    expect(page.get_by_text("A whole number from 1 to 1,000")).to_be_visible()
    expect(page.get_by_role("button", name="Start")).to_be_disabled()
    page.get_by_label("Conversations per target").fill("6")
    expect(estimate).to_contain_text("6 conversations")
    page.get_by_label("Name").fill("Six")
    page.get_by_role("button", name="Start").dblclick()
    expect(page.get_by_role("heading", name="Six")).to_be_visible()
    [run] = client.get("/v1/runs").json()["items"]
    assert (run["scale"], run["progress"]["total"], run["config"]["maxConcurrency"]) == (True, 6, 3)


def test_a_scale_run_of_an_agent_has_its_evaluators_and_answer_format(open_page: Open, client: Client) -> None:
    body = {"name": f"Clerk {PAYLOADS[1]}", "type": "openai", "baseUrl": "http://127.0.0.1:9", "config": {"model": "m"}}
    agent = client.post("/v1/connectors", body).json()["id"]
    client.post("/v1/connectors", {**body, "name": "Executor", "type": "tools", "config": {}})
    page = open_page("/new/scale")
    page.get_by_role("checkbox", name="sim/steady").uncheck()
    page.get_by_role("checkbox", name=re.compile("^Clerk")).check()
    expect(page.get_by_role("checkbox", name="Executor")).to_have_count(0)
    page.get_by_label("First user message").fill("hello")
    page.get_by_label("Conversations per target").fill("2")
    page.get_by_text("Evaluators: 4 of 4").click()
    page.get_by_role("checkbox", name="The last answer is not toxic").uncheck()
    page.get_by_label("Passing score for").fill("2")
    estimate = page.get_by_role("complementary", name="Estimate")
    expect(estimate).to_contain_text("An evaluator or the answer format is incomplete.")
    page.get_by_label("Passing score for").fill("0.8")
    page.get_by_text("Answer format: any").click()
    page.get_by_label("The last answer is", exact=True).select_option("json")
    page.get_by_role("textbox", name="JSON Schema").fill('{"type": "object",}')
    expect(page.get_by_role("list", name="Problems of JSON Schema")).to_contain_text("a name in double quotes")
    page.get_by_role("textbox", name="JSON Schema").fill('{"type": "object"}')
    page.get_by_label("Maximum words").fill("40")
    expect(estimate).to_contain_text("2 conversations")
    with page.expect_request(lambda request: request.url.endswith("/v1/scale-runs")) as sent:
        page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("navigation", name="Run")).to_be_visible()
    body = sent.value.post_data_json
    assert body["models"] == [f"connector/{agent}"]
    assert body["evaluators"] == {"goal": {"threshold": 0.8}, "toxicity": False}
    assert body["format"] == {"jsonSchema": {"type": "object"}, "maxWords": 40}
    [run] = client.get("/v1/runs").json()["items"]
    assert [each["connectorId"] for each in run["config"]["targets"]] == [agent]


def test_without_any_key_scale_runs_list_simulated_models_first(open_page: Open, client: Client) -> None:
    page = open_page("/new/scale")
    listed = page.get_by_role("region", name="Models").get_by_role("checkbox")
    expect(listed.first).to_be_checked()
    expect(page.get_by_text("Models: 1 chosen")).to_be_visible()
    names = [box.locator("xpath=..").inner_text() for box in listed.all()]
    are_simulated = [name.startswith("sim/") for name in names]
    assert are_simulated == sorted(are_simulated, reverse=True)
    assert client.put("/v1/providers/anthropic", {"apiKey": "sk-test"}).status == 200
    page = open_page("/new/scale")
    listed = page.get_by_role("region", name="Models").get_by_role("checkbox")
    expect(listed.first.locator("xpath=..")).to_contain_text("anthropic/")
    expect(page.get_by_text("Models: 0 chosen")).to_be_visible()


def test_the_errors_of_a_scale_run_are_named(open_page: Open, client: Client) -> None:
    for name in ("Ada", "Bob"):
        client.post("/v1/personas", {"name": name, "systemPrompt": "You are in a hurry."})
    page = open_page("/new/scale")
    page.get_by_role("checkbox", name="sim/steady").check()
    expect(page.get_by_role("complementary", name="Estimate")).to_contain_text("Write a first user message")
    page.get_by_label("Goal (optional)").fill("A refund is offered.")
    page.get_by_label("Conversations per target").fill("5")
    page.get_by_role("checkbox", name="Ada").check()
    page.get_by_role("checkbox", name="Bob").check()
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert").first).to_contain_text("count")
    assert client.get("/v1/runs").json()["items"] == []


def test_an_eval_is_created_of_chosen_scenarios(open_page: Open, client: Client, definition: str) -> None:
    page = open_page("/evals")
    page.get_by_text("New eval").click()
    page.get_by_label("Name").fill("Smoke")
    page.get_by_label("Definition").select_option(definition)
    page.get_by_role("button", name="Choose all 3").click()
    page.get_by_role("checkbox", name=re.compile("^case 1")).focus()
    page.keyboard.press("Space")
    expect(page.get_by_text("Scenarios: 2 chosen")).to_be_visible()
    expect(page.get_by_role("button", name="Create", exact=True)).to_be_disabled()
    page.get_by_label("Model").fill("sim/steady")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("heading", name="Smoke")).to_be_visible()
    [stored] = client.get("/v1/evals").json()["items"]
    assert (stored["definitionId"], len(stored["scenarioIds"])) == (definition, 2)
    assert [each["model"] for each in stored["targets"]] == ["sim/steady"]


def test_schedules_of_definitions_and_evals_are_created(open_page: Open, client: Client, definition: str) -> None:
    items = client.get(f"/v1/definitions/{definition}/scenarios").json()["items"]
    body = {"name": "Smoke", "scenarioIds": [each["id"] for each in items], "model": "sim/steady"}
    eval_id = client.post("/v1/evals", body).json()["id"]
    page = open_page("/schedules")
    page.get_by_text("New schedule").click()
    page.get_by_label("Name").fill("nightly")
    page.get_by_label("When").fill("every night")
    page.get_by_label("Definition").select_option(definition)
    page.get_by_label("Models").fill("sim/steady, sim/bold")
    page.get_by_label("Budget per run").fill("2.5")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("expression")
    page.get_by_label("When").fill("rate(6 hours)")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="nightly")).to_be_visible()
    page.get_by_label("Name").fill("smoke test")
    page.get_by_label("Starts").select_option("evalRun")
    page.get_by_label("Eval", exact=True).select_option(eval_id)
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("row").filter(has_text="smoke test")).to_be_visible()
    by_eval, by_definition = client.get("/v1/schedules").json()["items"]
    assert (by_eval["evalRun"]["evalId"], by_eval["evalRun"]["maxBudgetUsd"]) == (eval_id, 2.5)
    run = by_definition["run"]
    assert (run["definitionId"], len(run["targets"]), run["maxBudgetUsd"]) == (definition, 2, 2.5)


def test_budgets_are_set_and_removed(open_page: Open, client: Client) -> None:
    page = open_page("/settings")
    page.get_by_role("link", name="Budgets").click()
    expect(page.get_by_role("region", name=re.compile("^Today"))).to_contain_text("No limit")
    page.get_by_label("Daily budget").fill("a lot")
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.get_by_label("Daily budget").fill("5")
    page.get_by_label("Monthly budget").fill("2000000")
    page.get_by_label("Time zone").fill("Europe/Berlin")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("img", name="$0 of $5.00 spent")).to_be_visible()
    limits = client.get("/v1/settings").json()["budgets"]
    assert limits == {"dayUsd": 5, "monthUsd": 2_000_000, "timezone": "Europe/Berlin"}
    page.get_by_label("Daily budget").fill("")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("img", name="$0 of $5.00 spent")).to_have_count(0)
    assert client.get("/v1/settings").json()["budgets"]["dayUsd"] is None


def test_a_budget_that_is_used_up_says_until_when(open_page: Open, client: Client) -> None:
    charge(6.0)
    client.put("/v1/settings", {"budgets": {"dayUsd": 5}})
    page = open_page("/settings/budgets", role=AccessRole.VIEWER)
    today = page.get_by_role("region", name=re.compile("^Today"))
    expect(today.get_by_role("img", name="$6.00 of $5.00 spent")).to_be_visible()
    expect(today.get_by_role("status")).to_contain_text("The budget is used up: runs are paused until")
    expect(page.locator("main").get_by_role("status")).to_have_count(1)


def test_a_viewer_is_offered_no_change(open_page: Open, client: Client) -> None:
    for path, shown in (
        ("/new/scale", "role member or admin"),
        ("/evals", "No evals yet"),
        ("/schedules", "No schedules yet"),
        ("/settings/budgets", "needs the role admin"),
    ):
        page = open_page(path, role=AccessRole.VIEWER)
        expect(page.get_by_text(shown)).to_be_visible()
        expect(page.locator("main").get_by_role("button")).to_have_count(0)
        expect(page.locator("main details")).to_have_count(0)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_screens_are_accessible_and_safe(open_page: Open, client: Client, definition: str, theme: str) -> None:
    charge(6.0, reserved_usd=0.5)
    client.put("/v1/settings", {"budgets": {"dayUsd": 5, "monthUsd": 50}})
    client.post("/v1/personas", {"name": f"Ada {PAYLOADS[1]}", "systemPrompt": HOSTILE})
    page = open_page("/runs", color_scheme=theme, bypass_csp=True)
    paths = {
        "new": "/new",
        "new-scale-run": "/new/scale",
        "new-eval": "/evals",
        "new-schedule": "/schedules",
        "workspace-budgets": "/settings/budgets",
    }
    check_screens(page, paths)
