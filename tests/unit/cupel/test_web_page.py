"""`cupel open`, against the API function on moto."""

import json
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from typer.testing import CliRunner

from cupel.cli import app
from cupel.client import Client
from cupel.session import Session
from cupel_core.store.settings import Settings
from tests.unit.api.client import Client as ApiClient
from tests.unit.api.client import api_transport


class Browser:
    """Notes the addresses that it is to open."""

    def __init__(self, *, exists: bool = True) -> None:
        self.exists = exists
        self.opened: list[str] = []

    def __call__(self, address: str) -> bool:
        if self.exists:
            self.opened.append(address)
        return self.exists


@pytest.fixture
def connect(cloud: Settings) -> Callable[[], Client]:
    api = ApiClient(None)
    token, transport = api.issue(), api_transport(api)
    return lambda: Client("http://api.test", token, transport=transport)


def run(connect: Callable[[], Client], browser: Browser, *arguments: str) -> str:
    session = Session(connect=connect, open_browser=browser)
    result = CliRunner().invoke(app, ["open", *arguments], obj=session)
    assert result.exit_code == 0, result.output
    return result.stdout


def fragment(address: str) -> dict[str, str]:
    return {name: value for name, [value] in parse_qs(urlsplit(address).fragment).items()}


def test_the_browser_gets_a_code_that_opens_a_session(connect: Callable[[], Client]) -> None:
    browser = Browser()
    run(connect, browser)
    [address] = browser.opened
    assert address.startswith("http://api.test/#code=")
    token = connect().redeem_login_code(fragment(address)["code"])
    assert (token["role"], token["name"]) == ("admin", "web page: test")


def test_a_run_is_opened_at_its_address(connect: Callable[[], Client]) -> None:
    browser = Browser()
    run(connect, browser, "run_1")
    assert fragment(browser.opened[0])["to"] == "/runs/run_1"


def test_a_run_cannot_name_another_address(connect: Callable[[], Client]) -> None:
    browser = Browser()
    run(connect, browser, "../x?y#z")
    assert fragment(browser.opened[0])["to"] == "/runs/..%2Fx%3Fy%23z"


def test_without_a_browser_the_address_is_printed(connect: Callable[[], Client]) -> None:
    assert run(connect, Browser(exists=False)).startswith("http://api.test/#code=")


def test_the_address_is_printed_instead_of_opened(connect: Callable[[], Client]) -> None:
    browser = Browser()
    assert run(connect, browser, "--print").startswith("http://api.test/#code=")
    assert browser.opened == []


def test_the_address_as_json_has_the_end_of_its_code(connect: Callable[[], Client]) -> None:
    printed = json.loads(run(connect, Browser(), "--json"))
    assert (set(printed), printed["expiresAt"][-1]) == ({"address", "expiresAt"}, "Z")
