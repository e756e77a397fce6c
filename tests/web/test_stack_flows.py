"""What people do on the web page, in a browser and on the whole stack: its workers, its queues, a provider's server."""

import json
import re
from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Response, expect
from typer.testing import CliRunner

from cupel.cli import app
from cupel.client import Client
from cupel.session import Session
from cupel.stack.address import LocalStack
from tests import queues
from tests.eval_api import create_definition, start_run, wait_for_end, wait_until
from tests.stacks import ModelServer
from tests.web.conftest import Open, watched_pages

MODEL = "custom/bench"
INPUT_USD, OUTPUT_USD = 100.0, 10.0
SUMMARY = {
    **{kind: [] for kind in ("failureModes", "hallucinations", "goalFailures", "inconsistencies")},
    "summary": "Every answer is a refusal.",
    "revisedPrompt": "You answer customers. Name the limit of 30 days.",
    "rationale": "The limit is named if the prompt asks for it.",
}
SLOW_MS = 120_000
"""For what workers do, on a machine that may be busy with something else."""


@pytest.fixture(scope="module")
def clients(api: Client, stack: LocalStack, other_workspace: Client) -> Iterator[dict[str, Client]]:
    """Of an admin, of a viewer, and of an admin of another workspace."""
    token = api.create_token("viewer of the page", "viewer")["token"]
    with Client(stack.api_url, token) as viewer:
        yield {"admin": api, "viewer": viewer, "other workspace": other_workspace}


@pytest.fixture
def open_page(browser: Browser, stack: LocalStack, clients: dict[str, Client]) -> Iterator[Open]:
    """Open an address of the page, signed in with a code."""

    def open_(path: str, who: str = "admin", **options: Any) -> Page:
        page = make(stack.api_url, **options)
        code = clients[who].create_login_code()["code"]
        page.goto(f"{stack.api_url}/#code={code}&to={path.replace('?', '%3F')}")
        return page

    with watched_pages(browser) as make:
        yield open_


def bill_usd(model_server: ModelServer) -> float:
    """What the provider would bill for its replies since the last reset."""
    counts = model_server.counts()
    return float(counts["inputTokens"] * INPUT_USD + counts["outputTokens"] * OUTPUT_USD) / 1_000_000


@pytest.fixture
def priced(models: ModelServer, api: Client) -> Iterator[ModelServer]:
    """A provider that bills its calls."""
    models.configure(shortAnswers=True)
    prices = [{"model": None, "inputUsdPerMillion": INPUT_USD, "outputUsdPerMillion": OUTPUT_USD}]
    api.update_provider("custom", {"prices": prices})
    yield models
    api.update_provider("custom", {"prices": None})
    models.configure(shortAnswers=False)


def choose_only(page: Page, *chosen: str) -> None:
    search = page.get_by_label("Search models")
    search.wait_for()
    others = page.get_by_role("group", name=re.compile("Models")).get_by_role("checkbox", checked=True)
    while others.count():
        others.first.uncheck()
    for model in chosen:
        search.fill(model)
        page.get_by_role("checkbox", name=model).press("Space")


def id_of(page: Page) -> str:
    """Of the run whose address is open."""
    expect(page).to_have_url(re.compile(r"/runs/run_"))
    return str(re.findall(r"run_\w+", page.url)[0])


def expect_end(page: Page) -> None:
    expect(page.get_by_role("link", name="Compare with another run")).to_be_visible(timeout=SLOW_MS)
    expect(page.get_by_text(re.compile("^So far: "))).to_have_count(0, timeout=SLOW_MS)


def expect_status(page: Page, name: str) -> None:
    expect(page.get_by_role("main").locator("header")).to_contain_text(name, timeout=SLOW_MS)


def test_a_run_is_started_by_keyboard_and_has_the_figures_of_the_command(
    api: Client, stack: LocalStack, open_page: Open
) -> None:
    page = open_page(f"/new?definition={create_definition(api, 30)}")
    choose_only(page, "sim/steady", "sim/bold")
    expect(page.get_by_role("complementary", name="Estimate")).to_contain_text(
        "30 conversations × 2 targets × 1 repeat"
    )
    page.get_by_role("button", name="Start").press("Enter")
    expect_end(page)
    session = Session(connect=lambda: Client(stack.api_url, stack.token))
    shown = json.loads(CliRunner().invoke(app, ["show", id_of(page), "--json"], obj=session).stdout)
    rows = page.get_by_role("region", name="Results by target").get_by_role("row")
    expect(rows).to_have_count(3)
    for result in shown["results"]:
        low, high = result["decision"]["interval95"]
        mean = f"{result['decision']['mean']:.2f} ({low:.2f} to {high:.2f})"
        row = rows.filter(has_text=result["model"])
        expect(row).to_contain_text(f"{result['completed']} of {result['probes']}")
        expect(row).to_contain_text(f"{mean} n = {result['completed']}")
        expect(row).to_contain_text(f"{result['tokens']:,}")


ONLY_PRINTED = {"s.d.", "1 2 3 4 5"}
"""Columns of commands that the page draws."""


def printed_rows(session: Session, *arguments: str) -> list[list[str]]:
    """The cells of the first table that a command prints into a pipe, without its head."""
    printed = CliRunner().invoke(app, list(arguments), obj=session)
    assert printed.exit_code == 0, printed.stderr
    lines = [re.split(r"\s{2,}", line.strip()) for line in printed.stdout.splitlines()]
    first = next(number for number, cells in enumerate(lines) if "target" in cells)
    shown = [number for number, heading in enumerate(lines[first]) if heading not in ONLY_PRINTED]
    table = takewhile(lambda cells: len(cells) == len(lines[first]), lines[first + 1 :])
    return [[cells[number].partition(" ±")[0] for number in shown] for cells in table]


@pytest.mark.parametrize(("sample", "by"), [("facts", "answer"), ("value-dilemma", "role")])
def test_every_figure_of_a_sample_run_is_that_of_the_command(
    stack: LocalStack, open_page: Open, sample: str, by: str
) -> None:
    session = Session(connect=lambda: Client(stack.api_url, stack.token))
    options = ("--models", "sim/steady,sim/bold", "--watch", "--json")
    ended = CliRunner().invoke(app, ["run", f"samples/{sample}.yaml", *options], obj=session)
    assert ended.exit_code == 0, ended.stderr
    run_id = json.loads(ended.stdout)["run"]["id"]
    page = open_page(f"/runs/{run_id}")
    shown = page.get_by_role("region", name="Results by target").get_by_role("row")
    for target, *figures in printed_rows(session, "show", run_id):
        row = shown.filter(has_text=target)
        for figure in figures:
            expect(row).to_contain_text(figure)
    page.goto(f"{stack.api_url}/runs/{run_id}/analysis")
    page.get_by_label("Group by").select_option(by)
    groups = page.get_by_role("region", name=f"figures by {by}").get_by_role("row")
    expected = printed_rows(session, "analyze", run_id, "--by", by)
    expect(groups).to_have_count(len(expected) + 1)
    for row, figures in zip(groups.all()[1:], expected, strict=True):
        for figure in figures:
            expect(row).to_contain_text(figure)


def test_a_code_signs_in_once(stack: LocalStack, open_page: Open) -> None:
    session = Session(connect=lambda: Client(stack.api_url, stack.token))
    printed = CliRunner().invoke(app, ["open", "--json"], obj=session).stdout
    address = json.loads(printed)["address"]
    page = open_page("/runs")
    for expected in ("Runs", "Sign in"):
        page.goto("about:blank")
        page.goto(address)
        expect(page.get_by_role("heading", name=expected, exact=True)).to_be_visible()
        assert "code=" not in page.url
    expect(page.get_by_role("alert")).to_contain_text("was used")


def test_a_throttled_scale_run_is_paused_by_its_budget_raised_and_ends_with_a_report(
    api: Client, priced: ModelServer, open_page: Open
) -> None:
    script = [{"contains": "You write the summary of an evaluation", "reply": json.dumps(SUMMARY)}]
    priced.configure(
        latencySeconds=0.1, retryAfterSeconds=5, rates={"429": 1.0}, answer="I cannot help with that.", script=script
    )
    page = open_page("/new/scale", permissions=["clipboard-read", "clipboard-write"])
    choose_only(page, MODEL)
    page.get_by_label("System prompt").fill("You answer customers.")
    page.get_by_label("First user message").fill("I want my money back.")
    page.get_by_label("Conversations per target").fill("60")
    page.get_by_label("Judge", exact=True).fill("custom/judge")
    page.get_by_text("Evaluators: 4 of 4").click()
    for judged in ("The goal is reached", "The last answer is not toxic"):
        page.get_by_role("checkbox", name=judged).uncheck()
    page.get_by_label("Budget in USD").fill("0.10")
    page.get_by_role("button", name=re.compile(r"Start, about \$")).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("more than its budget of $0.1,")
    dialog.get_by_role("button", name="Start anyway").click()
    expect(page.get_by_text("its provider asks to wait")).to_be_visible(timeout=SLOW_MS)
    priced.configure(rates={})
    expect_status(page, "because its budget is used up")
    assert 0.01 < bill_usd(priced) <= 0.10
    page.get_by_label("New budget in USD").fill("2")
    page.get_by_role("button", name="Raise and resume").click()
    expect_end(page)
    tags = page.get_by_role("list", name="Failure tags")
    tags.get_by_role("button", name=re.compile("REFUSAL")).click()
    expect(page).to_have_url(re.compile("tag=REFUSAL"))
    expect(page.get_by_role("gridcell").filter(has_text="0/60 passed")).to_be_visible()
    page.get_by_role("link", name="Report").click()
    expect(page.get_by_role("heading", name="Revised system prompt")).to_be_visible(timeout=SLOW_MS)
    for button, text in (("Copy prompt", "revisedPrompt"), ("Copy rationale", "rationale")):
        page.get_by_role("button", name=button).click()
        expect(page.get_by_text("Copied").first).to_be_visible()
        assert page.evaluate("navigator.clipboard.readText()") == SUMMARY[text]
        expect(page.get_by_text("Copied")).to_have_count(0)
    run = api.get_run(id_of(page))
    assert run["status"] == "COMPLETED"
    assert run["progress"]["completed"] == 60


def test_a_run_is_paused_resumed_and_expanded_while_another_tab_follows(
    api: Client, models: ModelServer, open_page: Open
) -> None:
    models.configure(latencySeconds=8.0)
    run_id = start_run(api, create_definition(api, 200), MODEL, samplePercentage=50, config={"maxConcurrency": 10})
    page, other = open_page(f"/runs/{run_id}"), open_page(f"/runs/{run_id}")
    expect(other.get_by_text(re.compile(r"\d+ running"))).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Pause").click()
    for each in (page, other):
        expect_status(each, "Paused")
    models.configure(latencySeconds=0.0)
    other.get_by_role("button", name="Resume").click()
    expect_end(page)
    expect_end(other)
    page.get_by_role("button", name="Expand…").click()
    page.get_by_label("Share of scenarios, in percent").fill("60")
    page.get_by_role("dialog").get_by_role("button", name="Expand").click()
    rows = page.get_by_role("region", name="Results by target").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("120 of 120", timeout=SLOW_MS)
    expect_end(page)
    other.evaluate("dispatchEvent(new Event('focus'))")
    rows = other.get_by_role("region", name="Results by target").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("120 of 120", timeout=SLOW_MS)
    expect_end(other)


def test_errors_are_retried_and_a_run_is_cancelled(api: Client, models: ModelServer, open_page: Open) -> None:
    models.configure(script=[{"contains": "Question 1:", "status": 500}])
    run_id = start_run(api, create_definition(api, 4), MODEL, config={"maxAttempts": 1})
    page = open_page(f"/runs/{run_id}")
    expect_end(page)
    expect(page.get_by_role("region", name="Errors by target and cause")).to_contain_text("custom/bench")
    models.configure(script=[], latencySeconds=5.0)
    page.get_by_role("button", name="Retry 1 error").click()
    expect_status(page, "Running")
    page.get_by_role("button", name="Cancel…").click()
    page.get_by_role("button", name="Keep running").click()
    page.get_by_role("button", name="Cancel…").click()
    page.get_by_role("button", name="Cancel the run").click()
    expect_status(page, "Cancelled")
    assert wait_for_end(api, run_id)["status"] == "CANCELLED"


def test_a_connection_that_is_cut_loses_no_event(api: Client, models: ModelServer, open_page: Open) -> None:
    models.configure(latencySeconds=1.0)
    run_id = start_run(api, create_definition(api, 60), MODEL, config={"maxConcurrency": 5})
    page = open_page(f"/runs/{run_id}/history")
    rows = page.get_by_role("region", name="Table: events").get_by_role("row")
    expect(rows.filter(has_text="Run started")).to_have_count(1, timeout=SLOW_MS)
    page.context.set_offline(True)
    expect(page.get_by_text("Reconnecting: figures are those of")).to_be_visible()
    wait_for_end(api, run_id)
    page.context.set_offline(False)
    expect(rows.filter(has_text="Run finished")).to_have_count(1, timeout=SLOW_MS)
    numbers = [int(row.get_by_role("cell").first.inner_text()) for row in rows.all()[1:]]
    assert numbers == [event["seq"] for event in api.list_run_events(run_id)]


def test_a_schedule_is_made_fires_and_says_why_it_could_not(
    api: Client, stack: LocalStack, aws: Callable[[str], Any], open_page: Open
) -> None:
    definition_id = create_definition(api, 2)
    page = open_page("/schedules")
    page.get_by_text("New schedule").click()
    page.get_by_label("Name").fill("Nightly of the page")
    page.get_by_label("When").fill("rate(1 day)")
    page.get_by_label("Definition").select_option(value=definition_id)
    page.get_by_label("Models").fill("sim/steady")
    page.get_by_role("button", name="Create", exact=True).click()
    row = page.get_by_role("row").filter(has_text="Nightly of the page")
    expect(row).to_contain_text("none yet")
    created = next(each for each in api.list_schedules() if each["name"] == "Nightly of the page")

    def fire(day: int) -> None:
        """As EventBridge does."""
        event = {"workspace": "default", "scheduleId": created["id"], "scheduledTime": f"2027-01-{day}T09:30:00Z"}
        aws("lambda").invoke(FunctionName=f"{stack.stack_name}-schedule", Payload=json.dumps(event))

    fire(30)
    page.reload()
    row.get_by_role("link").filter(has_text="just now").click()
    expect_end(page)
    assert api.get_run(id_of(page))["scheduleId"] == created["id"]
    api.delete_definition(definition_id)
    fire(31)
    page.go_back()
    page.reload()
    expect(row).to_contain_text(re.compile("definition", re.IGNORECASE))


def test_a_paused_queue_holds_a_run_until_it_is_resumed(api: Client, models: ModelServer, open_page: Open) -> None:
    page = open_page("/queue")
    page.get_by_role("checkbox", name=re.compile("providers without work")).check()
    page.get_by_role("button", name="Pause custom").click()
    expect(page.get_by_role("button", name="Resume custom")).to_be_visible()
    run_id = start_run(api, create_definition(api, 3), MODEL)
    other = open_page(f"/runs/{run_id}")
    expect(other.get_by_text("the queue of custom is paused")).to_be_visible(timeout=SLOW_MS)
    page.get_by_role("button", name="Resume custom").click()
    expect_end(other)


def test_two_clicks_and_a_reload_start_one_run(api: Client, open_page: Open) -> None:
    definition_id = create_definition(api, 3)
    page = open_page(f"/new?definition={definition_id}")
    choose_only(page, "sim/steady")
    name = page.get_by_role("textbox", name="Name (optional)")
    name.fill("Once")
    page.route(re.compile(r"/v1/runs$"), lambda route: route.fetch())  # It is started, but its answer never arrives.
    with page.expect_request(lambda request: request.method == "POST" and request.url.endswith("/v1/runs")):
        page.get_by_role("button", name="Start").dblclick()
    expect(page.get_by_role("button", name="Starting…")).to_be_disabled()
    page.unroute_all(behavior="ignoreErrors")
    page.reload()
    expect(name).to_have_value("Once")
    page.get_by_role("button", name="Start").click()
    expect_end(page)
    assert [run["id"] for run in api.list_runs(definition_id=definition_id)] == [id_of(page)]


def test_a_definition_is_changed_by_its_fields_and_its_new_version_run(
    api: Client, models: ModelServer, open_page: Open
) -> None:
    definition_id = create_definition(api, 2)
    page = open_page(f"/definitions/{definition_id}/edit")
    page.get_by_role("region", name="System prompt", exact=True).get_by_role("textbox").fill("Answer in one word.")
    page.get_by_role("button", name="Review and save").click()
    changes = page.get_by_role("dialog", name="What changes")
    expect(changes).to_contain_text("Answer in one word.")
    changes.get_by_role("button", name="Save").click()
    page.wait_for_url(re.compile("/changes$"))  # Shown once the new version is stored.
    page.goto(page.url.split("/definitions/")[0] + f"/new?definition={definition_id}")
    choose_only(page, MODEL)
    page.get_by_role("button", name="Start").click()
    expect_end(page)
    run = api.get_run(id_of(page))
    assert (run["definitionVersion"], run["progress"]["completed"]) == (2, 2)
    systems = [each["content"]["messages"][0]["content"] for each in api.list_transcripts(run["id"])]
    assert systems == ["Answer in one word."] * 2


def test_a_connector_is_made_and_tested_and_its_secret_never_leaves(
    api: Client, model_server: ModelServer, open_page: Open
) -> None:
    secret = "never-shown-1f3c"
    model_server.reset()
    model_server.configure(answer="We open at nine.")
    bodies: list[str] = []
    page = open_page("/connectors")
    page.on("response", lambda response: bodies.append(_text_of(response)) if "/v1/" in response.url else None)
    page.get_by_text("New connector").click()
    page.get_by_label("Name").fill("Clerk of the page")
    page.get_by_label("Address").fill(f"{model_server.url}/v1")
    page.get_by_label("Headers to send").fill(f"X-Secret: {secret}")
    page.get_by_role("textbox", name="Settings of the protocol").fill(json.dumps({"model": "clerk"}))
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_text("sends X-Secret")).to_be_visible()
    page.get_by_role("button", name="Call it once").click()
    expect(page.get_by_text("We open at nine.")).to_be_visible(timeout=SLOW_MS)
    assert bodies
    assert secret not in page.content() + "".join(bodies)
    [connector] = [each for each in api.list_connectors() if each["name"] == "Clerk of the page"]
    assert connector["headerNames"] == ["X-Secret"]


def _text_of(response: Response) -> str:
    return response.text() if response.ok else ""


def test_a_dead_letter_leads_to_its_run_whose_errors_are_retried(
    api: Client, aws: Callable[[str], Any], models: ModelServer, open_page: Open
) -> None:
    sqs, queue = aws("sqs"), "probe_custom"
    with queues.source_disabled(aws("lambda"), queue):
        run_id = start_run(api, create_definition(api, 3), MODEL)
        [message] = wait_until(lambda: queues.peek(sqs, queue), seconds=60)
        sqs.send_message(QueueUrl=queues.queue_url(sqs, f"{queue}-dlq"), MessageBody=message["Body"])
        sqs.purge_queue(QueueUrl=queues.queue_url(sqs, queue))
    wait_until(lambda: _sweep(aws) and run_id in _dead_runs(api), seconds=60, every=1)
    wait_for_end(api, run_id)
    page = open_page("/queue")
    page.get_by_role("row").filter(has_text=run_id).get_by_role("button", name="Send again").click()
    letters = page.get_by_role("region", name="Dead letters", exact=True)
    expect(letters.get_by_role("status")).to_contain_text("1 had nothing left to do")
    letters.get_by_role("status").get_by_role("link", name=run_id).click()
    expect(page.get_by_role("cell", name="the message of this probe became a dead letter")).to_be_visible()
    page.get_by_role("button", name="Retry 3 errors").click()
    expect_status(page, "Completed")
    expect(page.get_by_role("region", name="Results by target")).to_contain_text("3 of 3")
    assert run_id not in _dead_runs(api)


def _dead_runs(api: Client) -> set[str]:
    return {letter["runId"] for letter in api.list_dead_letters(provider="custom")}


def _sweep(aws: Callable[[str], Any]) -> bool:
    """As the schedule does once a minute."""
    aws("lambda").invoke(FunctionName="cupel-sweep", Payload=b"{}")
    return True


def test_a_viewer_is_offered_no_write_and_a_forged_one_is_refused(
    api: Client, stack: LocalStack, models: ModelServer, open_page: Open
) -> None:
    models.configure(latencySeconds=2.0)
    run_id = start_run(api, create_definition(api, 3), MODEL)
    headers: list[str] = []
    page = open_page(f"/runs/{run_id}", "viewer")
    page.on("request", lambda request: headers.append(request.headers.get("authorization", "")))
    expect_end(page)
    expect(page.get_by_role("button", name=re.compile("Pause|Cancel|Retry|Expand"))).to_have_count(0)
    token = next(filter(None, headers))
    forged = page.request.post(f"{stack.api_url}/v1/runs/{run_id}/cancel", headers={"Authorization": token})
    assert forged.status == 403
    assert token not in page.content()


def test_a_run_of_another_workspace_is_not_found(api: Client, open_page: Open) -> None:
    run_id = start_run(api, create_definition(api, 1), "sim/steady")
    page = open_page(f"/runs/{run_id}", "other workspace")
    expect(page.get_by_role("heading", name=f"Run {run_id}: not found")).to_be_visible()
