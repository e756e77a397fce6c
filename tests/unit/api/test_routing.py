"""Every declared operation has a route, every route is declared, and each is loaded with the paths it serves."""

from importlib import import_module
from pathlib import Path

import pytest

from api import routing
from api.app import app
from api.routes import health
from cupel_core.domain.access import AccessRole
from cupel_core.interfaces.openai_operations import OPENAI_OPERATIONS
from cupel_core.interfaces.operations import OPERATIONS, Operation, operations_at
from tests.conftest import ROOT

FOLDER = Path(ROOT / "functions" / "api" / "routes")


EVERY_OPERATION = [*OPERATIONS.values(), *OPENAI_OPERATIONS.values()]


def routers() -> dict[str, routing.OperationRouter]:
    return {path.stem: import_module(f"api.routes.{path.stem}").router for path in FOLDER.glob("*.py")}


@pytest.mark.parametrize("operation", EVERY_OPERATION, ids=lambda operation: operation.id)
def test_the_path_of_an_operation_loads_the_router_that_has_it(operation: Operation) -> None:
    router = routers()[routing.module_of(operation.path, operation.method) or ""]
    paths = {f"{router.prefix}{key[0]}" for key in router._routes}
    assert operation.path.replace("{", "<").replace("}", ">") in paths


def test_a_path_without_operations_loads_nothing() -> None:
    assert routing.module_of("/v1/weather", "GET") is None


def test_routes_and_declared_operations_are_the_same() -> None:
    routing.load_all(app)
    routes = {
        (route.operation_id, route.method, route.openapi_path) for route in (*app._static_routes, *app._dynamic_routes)
    }
    assert routes == {(one.id, one.method, one.path) for one in OPERATIONS.values()}


def test_openai_s_routes_and_operations_are_the_same_and_not_in_the_document_of_cupel() -> None:
    routes = {
        f"{method} {router.prefix}{path.replace('<', '{').replace('>', '}')}"
        for router in routers().values()
        if isinstance(router, routing.OpenAIRouter)
        for path, methods, *_ in router._routes
        for method in methods
    }
    assert routes == {f"{one.method} {one.path}" for one in OPENAI_OPERATIONS.values()}
    assert not OPENAI_OPERATIONS.keys() & OPERATIONS.keys()


def test_a_route_without_a_declared_operation_cannot_be_registered() -> None:
    with pytest.raises(KeyError):
        health.router.operation("getWeather")


@pytest.mark.parametrize("operation", EVERY_OPERATION, ids=lambda operation: operation.id)
def test_the_path_of_an_operation_leads_to_it(operation: Operation) -> None:
    assert operations_at(operation.path)[operation.method] == operation


def test_a_literal_path_takes_precedence_over_a_parameter() -> None:
    assert operations_at("/v1/imports/promptfoo")["POST"].id == "importPromptfoo"
    assert operations_at("/v1/imports/csv")["POST"].id == "importDataset"


@pytest.mark.parametrize(
    "path",
    [
        "/openai/v1",
        "/openai/v1/",
        "/openai/v2/evals",
        "/v1",
        "/v1/",
        "/v1/runs/",
        "/v1/runs\n",
        "/v1/runs/x/y",
        "/runs",
        "",
    ],
)
def test_other_paths_have_no_operations(path: str) -> None:
    assert operations_at(path) == {}


def test_only_administrators_change_access_and_settings() -> None:
    admin_only = {one.id for one in OPERATIONS.values() if one.minimum_role is AccessRole.ADMIN}
    of_webhook = {one.id for one in OPERATIONS.values() if one.tag == "webhook"}
    assert admin_only - of_webhook == {
        "listTokens",
        "createToken",
        "revokeToken",
        "updateProvider",
        "updateSettings",
        "eraseDefinition",
        "listAuditRecords",
    }
    assert of_webhook <= admin_only


def test_viewers_may_read_only() -> None:
    for_viewers = [one for one in OPERATIONS.values() if one.permits(AccessRole.VIEWER)]
    reading = {
        "createEventTicket",
        "createLoginCode",
        "redeemLoginCode",
        "estimateRun",
        "estimateEvalRun",
        "estimateScaleRun",
        "estimateRetry",
        "estimateExpansion",
        "checkProfile",
        "planComparison",
    }  # they write nothing that others see
    assert {one.id for one in for_viewers if one.method != "GET"} == reading
