"""A whole stack for the session: the embedded cloud on a port of its own, its data in a directory that goes away."""

from collections.abc import Callable, Iterator
from typing import Any

import boto3
import pytest
from botocore.config import Config

from cupel.client import Client
from cupel.stack import lifecycle
from cupel.stack.address import Local
from cupel.stack.emulator import any_free_port
from cupel.stack.place import Place
from tests.conftest import ROOT


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Shares the build with every other stack of this repository; a current one is used as it is."""
    return Place(ROOT, tmp_path_factory.mktemp("stack"))


@pytest.fixture(scope="session")
def stack(place: Place) -> Iterator[Local]:
    try:
        yield lifecycle.up(place, any_free_port(), print)
    finally:
        lifecycle.down(place, discard=True)


@pytest.fixture
def api(stack: Local) -> Iterator[Client]:
    """The API of the stack, as its first admin."""
    with Client(stack.api_url, stack.token) as client:
        yield client


@pytest.fixture(scope="session")
def aws(stack: Local) -> Callable[[str], Any]:
    """`aws("sqs")`: a client of one of the stack's services."""

    def client(service: str) -> Any:
        return boto3.client(
            service,
            endpoint_url=stack.endpoint_url,
            region_name=stack.region,
            aws_access_key_id="local",
            aws_secret_access_key="local",
            config=Config(proxies={}, retries={"total_max_attempts": 1}),
        )

    return client
