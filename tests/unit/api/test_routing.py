"""Every path of an operation leads to it, and the index names all of them."""

from types import ModuleType

import pytest

from cupel_core.contract.operation import MEMBER, Call, operation, operations_of
from cupel_core.domain.access import AccessRole
from cupel_core.interfaces.index import INDEX
from cupel_core.interfaces.routes import ROUTES, load, routes_at
from tests.operations import OPENAI_OPERATIONS, OPERATIONS
from tools import operation_index

EVERY_OPERATION = [*OPERATIONS.values(), *OPENAI_OPERATIONS.values()]


def test_the_committed_index_is_that_of_the_modules() -> None:
    assert operation_index.FILE.read_text() == operation_index.render(), "python -m tools.operation_index --update"


def test_ids_and_paths_are_unique() -> None:
    assert len(ROUTES) == len(INDEX) == len({(each.method, each.path) for each in INDEX})


def test_the_path_of_an_operation_leads_to_it() -> None:
    assert [each.id for each in EVERY_OPERATION if load(routes_at(each.path)[each.method]) is not each] == []


def test_a_function_is_found_by_its_declaration_and_no_other_one_is() -> None:
    module = ModuleType("cupel_core.weather")

    @operation("GET /v1/weather/{city}", "Get the weather", role=MEMBER, returns="The weather")
    def get_weather(call: Call, city: str) -> None:
        """It is always
        fine.

        Everywhere."""

    def forecast() -> None: ...

    get_weather.__module__ = forecast.__module__ = module.__name__
    module.__dict__.update(get_weather=get_weather, forecast=forecast)
    [declared] = operations_of(module)
    assert (declared.id, declared.tag, declared.status, declared.body) == ("getWeather", "weather", 204, None)
    assert declared.description == "It is always fine.\n\nEverywhere."


def test_a_literal_path_takes_precedence_over_a_parameter() -> None:
    assert routes_at("/v1/imports/promptfoo")["POST"].id == "importPromptfoo"
    assert routes_at("/v1/imports/csv")["POST"].id == "importDataset"


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
    assert routes_at(path) == {}


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
