"""A batch in a browser, from its form to its report, while its provider refuses calls for some time.

Its workers run in this process, and call a model server.
"""

import re
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import httpx
import pytest
from playwright.sync_api import Page, expect

from bench.local_server import model_server
from cupel_core import event_loop
from cupel_core.clock import utc_now
from cupel_core.domain.runs.run import Run, RunStatus
from cupel_core.finishing import phases
from cupel_core.messages import DispatchRequest, RunRef
from cupel_core.probing.worker import Worker
from cupel_core.reports.requests import request_if_wanted
from cupel_core.runs import dispatch
from cupel_core.settings import settings
from cupel_core.store import barrier, clients, queues, runs
from cupel_core.store.barrier import Tree
from tests.unit.api.client import Client
from tests.web.conftest import Open
from tests.web.jobs import carry_out_jobs
from tests.web.server import Server

CONVERSATIONS = 5
PRICES = [{"model": None, "inputUsdPerMillion": 1, "outputUsdPerMillion": 1}]
BUDGET = "0.003"
"""An answer without a limit sets $0.002 aside, and costs far less."""
REFUSAL = "I'm sorry, but I can't help with that."
RETRY_AFTER_SECONDS = 8.0
WORKER_SECONDS = 60.0


@pytest.fixture
def models() -> Iterator[str]:
    with model_server() as url:
        yield url


def configure(models: str, **behaviour: object) -> None:
    httpx.post(f"{models}/configure", json=behaviour).raise_for_status()


@pytest.fixture(autouse=True)
def stack(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The settings of a local stack, and the state machine that finishes runs."""
    role = "arn:aws:iam::123456789012:role/test"
    created = clients.stepfunctions().create_state_machine(name="cupel-test-finish", definition="{}", roleArn=role)
    monkeypatch.setenv("FINISH_MACHINE_ARN", created["stateMachineArn"])
    monkeypatch.setenv("ALLOW_PRIVATE_ENDPOINTS", "true")
    settings.cache_clear()
    yield
    settings.cache_clear()


@pytest.fixture
def client(stack: None, models: str) -> Client:
    """Of a workspace whose provider refuses all calls for now."""
    configure(models, answer=REFUSAL, rates={"429": 1.0}, retryAfterSeconds=RETRY_AFTER_SECONDS)
    client = Client(None)
    client.token = client.issue()
    account = {"apiKey": "sk-of-a-test-123456", "baseUrl": f"{models}/v1", "prices": PRICES}
    assert client.put("/v1/providers/openai", account).status == 200
    return client


def work_off(ref: RunRef) -> None:
    """What dispatcher and workers do until each probe has an outcome."""
    ends_at = time.time() + WORKER_SECONDS
    for delivery in queues.receive(settings().dispatch_queue_url, 10):
        request = DispatchRequest.model_validate_json(delivery.body)
        dispatch.execute(request, utc_now(), lambda: ends_at - time.time())
    queue_url = settings().probe_queue_url("openai", runs.get(ref).priority)
    while not barrier.get_progress(Tree.for_run(runs.get(ref))).finished and time.time() < ends_at:
        deliveries = queues.receive(queue_url, 10, wait_seconds=1)
        if deliveries:
            worker = Worker("openai", ends_at, priority=runs.get(ref).priority)
            failed = event_loop.run(worker.run(deliveries))
            queues.delete([each for each in deliveries if each not in failed])


def finish(ref: RunRef) -> Run:
    """What the finishing workflow and the worker of jobs do."""
    token = runs.get(ref).fencing_token
    assert phases.settle(ref, token, utc_now()).status is RunStatus.SUMMARIZING
    assert phases.complete(ref, token, utc_now()) == RunStatus.COMPLETED
    request_if_wanted(ref, utc_now())
    return runs.get(ref)


def fill_in(page: Page) -> None:
    page.get_by_role("link", name="Batch").click()
    page.get_by_label("Search models").fill("openai/gpt-5-mini")
    page.get_by_role("checkbox", name="openai/gpt-5-mini").first.check()
    page.get_by_label("System prompt").fill("Be brief.")
    page.get_by_label("First message of the user").fill("hello")
    page.get_by_label("Conversations of each target").fill(str(CONVERSATIONS))
    page.get_by_label("Name").fill("Throttled")
    page.get_by_label("Budget in USD").fill(BUDGET)


def test_a_batch_above_its_budget_is_confirmed_throttled_completed_and_reported(
    open_page: Open, client: Client, models: str
) -> None:
    page = open_page("/new")
    fill_in(page)
    page.get_by_role("button", name=re.compile(r"Start, about \$")).click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(f"its budget is ${BUDGET}")
    dialog.get_by_role("button", name=f"Start with a budget of ${BUDGET}").click()
    expect(page.get_by_role("heading", name="Throttled")).to_be_visible()
    [started] = client.get("/v1/runs").json()["items"]
    ref = RunRef("acme", started["id"])
    with ThreadPoolExecutor(1) as pool:  # Playwright has an event loop in this thread.
        work: Future[None] = pool.submit(work_off, ref)
        expect(page.get_by_role("status").filter(has_text=re.compile("openai throttles until"))).to_be_visible()
        configure(models, answer=REFUSAL, rates={})
        work.result()
        expect(page.get_by_text(re.compile(f"{CONVERSATIONS} of {CONVERSATIONS}")).first).to_be_visible()
        finished = pool.submit(finish, ref).result()
    assert finished.settled is not None
    assert (finished.settled.completed, finished.settled.failed) == (CONVERSATIONS, 0)
    expect(page.get_by_text(re.compile("Completed$"))).to_be_visible()
    carry_out_jobs()
    budget = client.get(f"/v1/runs/{ref.run_id}/budget").json()
    assert 0 < budget["spentUsd"] < float(BUDGET)
    assert budget["uncertainUsd"] == 0
    page.get_by_role("link", name="Report").click()
    expect(page.get_by_role("heading", name="Failure modes")).to_be_visible()
    page.get_by_role("link", name=re.compile("REFUSAL")).first.click()
    expect(page).to_have_url(re.compile("REFUSAL"))
