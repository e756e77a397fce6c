"""Tools in `evaluate`: Python functions, scripts before them, and connectors of the definition."""

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import cupel
from cupel.errors import UsageError
from cupel.in_process.probes import ProbeResult
from cupel.in_process.tools import FunctionTools
from cupel_core.conversations.tool_execution import ToolError
from cupel_core.domain.conversations.model_request import MessageRole, ProbeErrorCode
from cupel_core.domain.conversations.tools import ToolCall
from tests.unit.providers import agents

TOOLS = [{"name": "find_order", "parameters": {"properties": {"number": {"type": "string"}}}}, {"name": "pay"}]


def definition(prompt: str, **more: Any) -> dict[str, Any]:
    return {
        "content": {"params": {"tools": TOOLS, **more.pop("params", {})}},
        "scenarios": [{"prompt": prompt, **more}],
    }


async def evaluated(prompt: str, tools: Any = None, **more: Any) -> ProbeResult:
    evaluation = await cupel.evaluate_async(
        definition(prompt, **more), "sim/steady", tools=tools, progress=False, call_timeout_seconds=5.0
    )
    [result] = evaluation.results
    return result


def returned(result: ProbeResult) -> list[tuple[str, bool]]:
    return [(each.content, each.is_error) for each in result.messages if each.role is MessageRole.TOOL]


async def test_a_function_gets_the_arguments_and_its_result_goes_back() -> None:
    result = await evaluated('find_order {"number": "A-17"}', {"find_order": lambda number: {"number": number}})
    assert returned(result) == [('{"number": "A-17"}', False)]
    assert 'find_order returned: {"number": "A-17"}' in result.messages[-1].content
    assert result.spends["target"].calls == 2


async def test_a_function_may_be_async() -> None:
    async def pay() -> str:
        return "paid"

    assert returned(await evaluated("pay", {"pay": pay})) == [("paid", False)]


async def test_scripts_precede_functions() -> None:
    scripts = [{"name": "pay", "result": "scripted"}]
    result = await evaluated("pay, then find_order {}", {"find_order": lambda **_: "executed"}, toolResults=scripts)
    assert returned(result) == [("scripted", False), ("executed", False)]


async def test_a_function_tells_the_model_what_failed() -> None:
    def pay() -> None:
        raise cupel.ToolFailed("no money")

    assert returned(await evaluated("pay", {"pay": pay})) == [("no money", True)]


async def test_arguments_that_do_not_fit_are_an_error_for_the_model() -> None:
    [(content, is_error)] = returned(await evaluated('pay {"usd": 3}', {"pay": lambda: "paid"}))
    assert (content.startswith("The arguments do not fit"), is_error) == (True, True)


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda: 1 / 0, "ZeroDivisionError"),
        (lambda: object(), "returned what JSON cannot represent"),
        (lambda: "x" * 100_001, "100,001 characters"),
    ],
)
async def test_a_function_that_breaks_is_a_tool_error_and_no_failure_of_the_model(function: Any, reason: str) -> None:
    evaluation = await cupel.evaluate_async(definition("pay"), "sim/steady", tools={"pay": function}, progress=False)
    error = evaluation.results[0].error
    assert error is not None
    assert error.code is ProbeErrorCode.TOOL_ERROR
    assert reason in error.message


async def test_a_function_that_takes_too_long_is_a_tool_error() -> None:
    with ThreadPoolExecutor(1) as executor:
        tools = FunctionTools({"pay": lambda: time.sleep(0.05)}, executor, timeout_seconds=0.01)
        with pytest.raises(ToolError, match="took longer than"):
            await tools(ToolCall("call_1", "pay", "{}"), {})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tools": {"pay": 3}}, "tools.pay: must be a function"),
        (
            {"tools": {"steal": print}},
            "tools.steal: is described by no `tools` parameter",
        ),
        ({"tools": [print]}, "tools: must be a mapping"),
        (
            {"params": {"toolConnectorId": "shop"}},
            "toolConnectorId: unknown connector shop",
        ),
    ],
)
async def test_invalid_tools_are_refused_before_any_call(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        await cupel.evaluate_async(definition("pay"), "sim/steady", progress=False, **options)


async def test_a_connector_of_the_definition_executes_calls() -> None:
    async with agents.serving(lambda _: agents.json({"result": "shipped"})) as server:
        shop = {"name": "shop", "type": "tools", "baseUrl": server.url}
        body = definition("find_order {}", params={"toolConnectorId": "shop"}) | {"connectors": [shop]}
        [result] = (await cupel.evaluate_async(body, "sim/steady", progress=False)).results
        received = server.requests[0].body
    assert returned(result) == [("shipped", False)]
    assert (received["name"], received["probeIndex"], received["targetId"]) == ("find_order", 0, "sim/steady")


async def test_an_invalid_secret_of_a_connector_is_refused() -> None:
    shop = {"name": "shop", "type": "tools", "baseUrl": "http://127.0.0.1:9", "headers": {"webhook-secret": "plain"}}
    with pytest.raises(UsageError, match="webhook-secret: must be whsec_"):
        await cupel.evaluate_async(definition("pay") | {"connectors": [shop]}, "sim/steady", progress=False)


async def test_a_connector_of_type_tools_is_no_target() -> None:
    shop = {"name": "shop", "type": "tools", "baseUrl": "http://127.0.0.1:9"}
    with pytest.raises(UsageError, match="answers no messages"):
        await cupel.evaluate_async(definition("pay") | {"connectors": [shop]}, "connector/shop", progress=False)
