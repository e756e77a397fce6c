"""Which headers of a persona a connector gets, and which connector executes the calls of tools."""

from dataclasses import replace
from random import Random

import pytest

from cupel_core.conversations.tool_connector import ConnectorTools
from cupel_core.domain.codec import decode
from cupel_core.domain.conversations.model_parameters import ModelParameters
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, RequestParameter
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.prompts import Prompt
from cupel_core.domain.definitions.scenarios import Manifest, Scenario
from cupel_core.domain.pipeline.sizes import PLANNED_STEP_LENGTH
from cupel_core.domain.resources.connectors import Connector, ConnectorType
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.domain.runs.plan import Plan
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.targets import plain_targets
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers.account import Account
from cupel_core.providers.reservations import bound_of_call
from cupel_core.runs.probing.caches import AccountCache
from cupel_core.runs.probing.slice_context import SliceContext, load_slice_context
from cupel_core.scoring.grading.concurrency import ConcurrencyLimiter
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.store import blobs, scenarios
from cupel_core.store.snapshots import Snapshot
from tests.profiles import content_of, operation
from tests.profiles import profile as profile_of
from tests.started_runs import NOW, RunSetup, slice_message

AGENT = "https://agent.test/v1"
TARGET = "connector/con_1"
GRADERS = GraderFactory("ws_a", GraderConfig(), {}, ConcurrencyLimiter(), 1.0, 1.0, rng=Random(1))
RUN = Run(
    workspace="ws_a",
    id="run_a",
    definition_id="def_a",
    definition_version=1,
    plan=Plan(plain_targets(TARGET), (1,)),
    sample_percentage=100,
    sample_seed=1,
    snapshot_key="",
    created_at=NOW,
    updated_at=NOW,
    definition_name="rating",
    scenario_count=1,
    scenario_total=1,
)


SCENARIO = Scenario("scn_1", "one", (Message(MessageRole.USER, "Hello"),))


def context(persona: Persona, connector_url: str, path: str = "") -> SliceContext:
    connector = Connector("con_1", "agent", ConnectorType.HTTP, connector_url, config={"path": path})
    return SliceContext(
        run=RUN,
        snapshot=Snapshot({}, Manifest(()), (0,), (persona,), (0,), prices={}, price_list="test"),
        scenarios={0: SCENARIO},
        content=Content(),
        account=Account("connector", ""),
        agents={TARGET: Account("connector", connector_url, connector=connector)},
        persona_headers={persona.id: {"X-User": "ada"}},
    )


def test_the_connector_that_headers_were_made_for_gets_them() -> None:
    persona = Persona("per_1", "Ada", headers_version="v1", connector_urls=(AGENT,))
    spec = context(persona, AGENT).conversation_spec(0, 1, GRADERS)
    assert (spec.persona_headers, spec.omitted_parameters) == ({"X-User": "ada"}, ())


@pytest.mark.parametrize("urls", [("https://elsewhere.test",), ()])
def test_another_connector_gets_none_and_the_transcript_says_so(urls: tuple[str, ...]) -> None:
    persona = Persona("per_1", "Ada", headers_version="v1", connector_urls=urls)
    spec = context(persona, AGENT).conversation_spec(0, 1, GRADERS)
    assert (spec.persona_headers, spec.omitted_parameters) == ({}, (RequestParameter.PERSONA_HEADERS,))


def test_another_path_of_the_same_host_is_another_connector() -> None:
    """Some hosts serve many customers: a member must not direct the headers to a path of their own."""
    persona = Persona("per_1", "Ada", headers_version="v1", connector_urls=(f"{AGENT}/ours",))
    assert context(persona, AGENT, "/ours").conversation_spec(0, 1, GRADERS).persona_headers == {"X-User": "ada"}
    assert context(persona, AGENT, "/theirs").conversation_spec(0, 1, GRADERS).persona_headers == {}


def test_a_persona_without_headers_leaves_nothing_out() -> None:
    assert context(Persona("per_1", "Ada"), AGENT).conversation_spec(0, 1, GRADERS).omitted_parameters == ()


def test_calls_are_executed_by_the_connector_of_the_runs_parameters() -> None:
    shop = Connector("con_2", "shop", ConnectorType.TOOLS, "https://shop.test")
    plain = context(Persona("per_1", "Ada"), AGENT)
    with_tools = replace(plain, run=replace(RUN, params={"toolConnectorId": "con_2"}), tool_connectors={"con_2": shop})
    executor = with_tools.conversation_spec(0, 1, GRADERS).tool_executor
    assert isinstance(executor, ConnectorTools)
    assert (executor.connector, executor.probe["persona"], executor.probe["runId"]) == (shop, "Ada", "run_a")
    assert plain.conversation_spec(0, 1, GRADERS).tool_executor is None


def test_what_operations_make_counts_for_what_a_worker_carries_and_not_for_the_first_call() -> None:
    plain = context(Persona("per_1", "Ada"), AGENT)
    profile = {
        "id": "prof_1",
        "name": "A",
        "version": 1,
        "enabled": True,
        "content": content_of(profile_of(operation())),
    }
    profiled = replace(plain, snapshot=replace(plain.snapshot, profile=profile))
    assert plain.planned_length(0) == plain.opening_length(0) == profiled.opening_length(0) == len("Hello")
    assert profiled.planned_length(0) == len("Hello") + PLANNED_STEP_LENGTH


PRICED = Account("custom", "https://models.test", prices=(ModelPrice(None, 1.0, 10.0),))


@pytest.mark.parametrize("params", [{}, {"maxOutputTokens": 50}])
def test_a_conversation_sets_aside_what_its_first_call_does(params: dict[str, int]) -> None:
    """With bytes instead of characters, values of placeholders, and what a call without a limit may exceed."""
    prompt = Prompt.from_json({"id": "p", "system": "Grüße.", "template": "Answer: [message]"})
    run = replace(RUN, plan=Plan(plain_targets("custom/m"), (1,), prompt_ids=("p",)), params=params)
    asked = replace(
        context(Persona("per_1", "Ada"), AGENT), run=run, account=PRICED, content=Content(prompts=(prompt,))
    )
    spec = asked.conversation_spec(0, 1, GRADERS)
    assert spec.opening_messages[-1].content == "Answer: Hello"
    first = ModelRequest(spec.opening_messages, decode(ModelParameters, params))
    assert asked.opening_bound(0) == bound_of_call(PRICED, "custom/m", first).nano_usd > 0


def test_a_conversation_that_cannot_begin_sets_nothing_aside() -> None:
    prompt = Prompt.from_json({"id": "p", "template": "About [topic]"})
    run = replace(RUN, plan=Plan(plain_targets("custom/m"), (1,), prompt_ids=("p",)))
    asked = replace(
        context(Persona("per_1", "Ada"), AGENT), run=run, account=PRICED, content=Content(prompts=(prompt,))
    )
    assert asked.opening_bound(0) == 0


@pytest.mark.usefixtures("cloud")
def test_the_scenarios_of_a_slice_can_be_used_after_their_pages_have_left_the_cache(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(scenarios, "MAX_PAGE_BYTES", 1)
    run = RunSetup(scenario_count=3).start()
    loaded = load_slice_context(run, slice_message(run, [0, 2]), AccountCache())
    scenarios.read_page.cache_clear()
    monkeypatch.setattr(blobs, "get_text", None)
    assert [loaded.scenario(index).name for index in (0, 2)] == ["case 0", "case 2"]
