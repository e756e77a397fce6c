"""Each sample in events/ of these two functions is run, as `sam local invoke` would."""

import json
from pathlib import Path
from typing import Any

import pytest

from api import app as api
from authorize import app as authorizer
from tests.conftest import ROOT
from tests.lambda_context import Context

STATUSES = {
    "api-create-run-invalid": 422,
    "api-forbidden": 403,
    "api-health": 200,
    "api-list-runs": 200,
    "api-preflight": 204,
    "api-unauthorized": 401,
    "api-update-provider": 200,
}
pytestmark = pytest.mark.usefixtures("cloud")


def sample(name: str) -> Any:
    return json.loads((ROOT / "events" / f"{name}.json").read_text())


def test_every_sample_of_the_api_is_run() -> None:
    assert {path.stem for path in Path(ROOT / "events").glob("api-*.json")} == set(STATUSES)


@pytest.mark.parametrize(("name", "status"), STATUSES.items())
def test_a_sample_of_the_api_is_answered(name: str, status: int) -> None:
    assert api.handler(sample(name), Context())["statusCode"] == status


@pytest.mark.parametrize("name", ["authorize-no-token", "authorize-unknown-token"])
def test_a_sample_of_the_authorizer_identifies_nobody(name: str) -> None:
    assert list(authorizer.handler(sample(name), Context())["context"]) == ["problem"]
