"""Pages of other sites in a browser on the developer's machine: they reach neither the embedded cloud nor its data."""

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from cupel.client import Client
from cupel.stack.address import LocalStack
from tests.files_for_tests import png
from tests.stacks import PAGE_ORIGIN
from tests.web.attacker import OPEN, Attacker, attacking_site, open_server
from tests.web.tools import find_browser

REBOUND = "evil.example"
"""A name of the attacker's, which resolves to this machine."""
SLOW_MS = 120_000
"""The stack gets this long, because the machine may be busy with something else."""
CREATED = "POST /2015-03-31/functions "
ASK_AS_THE_SAME_ORIGIN = """async () => {
  const headers = { 'X-Amz-Target': 'secretsmanager.ListSecrets', 'Content-Type': 'application/x-amz-json-1.1' }
  const requests = [
    ['/', { method: 'POST', headers, body: '{}' }],
    ['/2015-03-31/functions'],
    ['/_aws/execute-api/cupel/$default/v1/openapi.json'],
  ]
  return Promise.all(requests.map(async request => {
    const response = await fetch(...request)
    return [response.status, await response.text()]
  }))
}"""
SECRET = "sk-of-a-tenant"


@pytest.fixture(scope="module")
def rebinding_browser() -> Iterator[Browser]:
    program, variables = find_browser()
    environment: dict[str, str | float | bool] = {**os.environ, **variables}
    arguments = ["--no-sandbox", f"--host-resolver-rules=MAP {REBOUND} 127.0.0.1"]
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=program, args=arguments, env=environment)
        yield started
        started.close()


@pytest.fixture
def page(rebinding_browser: Browser) -> Iterator[Page]:
    context = rebinding_browser.new_context()
    context.set_default_timeout(SLOW_MS)
    yield context.new_page()
    context.close()


@pytest.fixture
def attacker(tmp_path: Path) -> Iterator[Attacker]:
    with attacking_site(tmp_path) as site:
        yield site


@pytest.fixture
def keyed(stack: LocalStack, api: Client) -> LocalStack:
    """Store the key of a provider."""
    api.update_provider("openai", {"apiKey": SECRET})
    return stack


def functions(aws: Callable[[str], Any]) -> set[str]:
    return {each["FunctionName"] for each in aws("lambda").list_functions(MaxItems=500)["Functions"]}


def test_the_pages_do_what_they_say_at_a_server_that_answers_everybody(page: Page, attacker: Attacker) -> None:
    with open_server() as (address, asked):
        reads = attacker.attempts(page, "reads", address, address)
        attacker.attempts(page, "writes", address, address)
        embeds = attacker.attempts(page, "embeds", address, address)
    assert all(OPEN.decode() in answer for answer in reads.values())
    created = " ".join(each for each in asked if each.startswith(CREATED))
    assert re.findall(r"pwn-(\w+)", created) == ["fetch", "credentials", "beacon", "form", "request"]
    assert sum(each.startswith("POST /2015-03-31/functions/pwn-") for each in asked) == 5
    assert any("Action=DeleteStack" in each for each in asked)
    assert any(each.startswith("POST /_ministack/reset") for each in asked)
    assert (embeds["script"], embeds["events"]) == ("loaded", "open")


def test_a_page_of_another_origin_reads_nothing(keyed: LocalStack, page: Page, attacker: Attacker) -> None:
    attempts = attacker.attempts(page, "reads", keyed.endpoint_url, keyed.api_url)
    assert set(attempts.values()) == {"ERR TypeError: Failed to fetch"}


def test_a_page_of_another_origin_writes_nothing(
    stack: LocalStack, aws: Callable[[str], Any], page: Page, attacker: Attacker
) -> None:
    before = functions(aws)
    attacker.attempts(page, "writes", stack.endpoint_url, stack.api_url)
    assert functions(aws) == before
    assert list(attacker.marks.iterdir()) == []
    (described,) = aws("cloudformation").describe_stacks(StackName=stack.stack_name)["Stacks"]
    assert described["StackStatus"] in ("CREATE_COMPLETE", "UPDATE_COMPLETE")


def test_a_page_of_another_origin_embeds_nothing(stack: LocalStack, page: Page, attacker: Attacker) -> None:
    attempts = attacker.attempts(page, "embeds", stack.endpoint_url, stack.api_url)
    frames = [attempts.pop("frame"), attempts.pop("frame of the page")]
    assert frames == ["closed", "closed"]
    assert set(attempts.values()) == {"error"}


@pytest.mark.parametrize("is_object", [False, True])
def test_a_name_that_was_bound_to_this_machine_reads_nothing(
    keyed: LocalStack, page: Page, attacker: Attacker, is_object: bool
) -> None:
    """The page is of the same origin as the stack then, so the browser lets it read and send everything."""
    url = keyed.access.objects_url if is_object else keyed.api_url
    rebound = url.replace("127.0.0.1", REBOUND)
    opened = page.goto(f"{rebound}/")
    assert opened
    assert (opened.status, page.evaluate("location.hostname")) == (403, REBOUND)
    attempts = page.evaluate(ASK_AS_THE_SAME_ORIGIN)
    assert [status for status, _ in attempts] == [403, 403, 403]
    assert SECRET not in str(attempts)


def test_the_api_answers_a_page_of_an_allowed_origin_only(stack: LocalStack) -> None:
    headers = {"Authorization": f"Bearer {stack.token}"}
    allowed, other = (
        httpx.get(f"{stack.api_url}/v1/runs", headers={**headers, "Origin": origin}, trust_env=False)
        for origin in (PAGE_ORIGIN, "https://evil.example")
    )
    assert allowed.headers["access-control-allow-origin"] == PAGE_ORIGIN
    assert "access-control-allow-origin" not in other.headers


def test_a_file_is_downloaded_from_an_origin_that_no_page_has(stack: LocalStack, api: Client, page: Page) -> None:
    stored = api.upload_file(png(3, 2), "cat.png", "image/png")
    address = api.get_file(stored["id"])["downloadUrl"]
    assert urlsplit(address).netloc == urlsplit(stack.access.objects_url).netloc != urlsplit(stack.api_url).netloc
    code = api.create_login_code()["code"]
    page.goto(f"{stack.api_url}/#code={code}&to=/runs")
    expect(page.get_by_role("button", name="Sign out")).to_be_visible(timeout=SLOW_MS)
    with page.expect_download() as started:
        page.evaluate("address => { location.href = address }", address)
    assert Path(started.value.path()).read_bytes() == png(3, 2)


def test_no_page_is_at_the_origin_of_objects(stack: LocalStack, page: Page) -> None:
    opened = page.goto(stack.api_url.replace(stack.endpoint_url, stack.access.objects_url) + "/")
    assert opened
    assert opened.status == 403
