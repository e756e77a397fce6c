"""`cupel.evaluate`: evaluations in this process."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import orjson
import pytest
from aiohttp import web

import cupel
from cupel.errors import UsageError
from cupel.in_process import EvaluationOptions, ProbeResult
from cupel.in_process.model_waits import PATIENCE_SECONDS, ModelWaits
from cupel.in_process.plan import plan_evaluation
from cupel.in_process.progress import EvaluationProgress
from cupel.in_process.runner import EvaluationRunner
from cupel_core.base.clock import utc_now
from cupel_core.contract.transcripts import TranscriptResponse
from cupel_core.domain.conversations.model_request import AgentThread, ProbeErrorCode
from cupel_core.domain.resources.providers import ModelPrice
from cupel_core.domain.runs.run import ProbeStatus
from cupel_core.domain.runs.sampling import sample
from cupel_core.providers import safe_http
from tests.conftest import ROOT
from tests.unit.providers.agents import ReceivedRequest, json, serving

APPOINTMENT = ROOT / "samples" / "appointment.yaml"
type Json = dict[str, Any]


def capital(messages: list[dict[str, str]]) -> str:
    return "Paris" if "France" in messages[-1]["content"] else "I do not know"


def definition(*prompts: str, **more: Any) -> Json:
    scenarios = [{"name": prompt, "prompt": prompt} for prompt in prompts or ("France", "Italy")]
    return {"content": {"assertions": [{"type": "contains", "value": "Paris"}]}, "scenarios": scenarios, **more}


def verdict(*, success: bool = False, failure: bool = False) -> Json:
    return {"successMet": success, "failureMet": failure, "confidence": 0.9, "reasoning": "as it was said"}


def responder(*answers: object) -> Callable[[ReceivedRequest], web.Response]:
    """An OpenAI-compatible server that returns these answers in order, and repeats the last one."""
    remaining = list(answers)

    def respond(_: ReceivedRequest) -> web.Response:
        answer = remaining.pop(0) if len(remaining) > 1 else remaining[0]
        if isinstance(answer, web.Response):
            return answer
        text = answer if isinstance(answer, str) else orjson.dumps(answer).decode()
        usage = {"prompt_tokens": 10, "completion_tokens": 5}
        return json({"choices": [{"message": {"content": text}, "finish_reason": "stop"}], "usage": usage})

    return respond


def test_an_evaluation_is_represented_by_one_line() -> None:
    evaluation = cupel.evaluate({"name": "Capitals", **definition()}, capital)
    expected = "<Evaluation 'Capitals' of connector/capital: 2 probes, 0 errored, pass rate 50.0%>"
    assert repr(evaluation) == expected


def test_a_result_is_represented_without_its_conversation() -> None:
    passed, failed = cupel.evaluate(definition(), capital).results
    assert repr(passed) == "<ProbeResult 'France' of connector/capital: COMPLETED, passed>"
    assert repr(failed) == "<ProbeResult 'Italy' of connector/capital: COMPLETED, failed>"


def test_an_errored_result_is_represented_by_its_code() -> None:
    (result,) = cupel.evaluate(definition("France"), lambda _: 5).results
    assert repr(result) == "<ProbeResult 'France' of connector/<lambda>: ERROR, provider_error>"


def test_an_analysis_has_the_figures_of_a_runs_analysis() -> None:
    evaluation = cupel.evaluate(ROOT / "samples" / "value-dilemma.yaml", ["sim/steady", "sim/bold", "sim/contrarian"])
    figures = evaluation.analysis()
    assert [column["targetId"] for column in figures["columns"]] == ["sim/steady", "sim/bold", "sim/contrarian"]
    assert figures["scenarioCount"] == 36
    assert {dimension["name"] for dimension in figures["dimensions"]} == {"disclosure", "likelihood", "role"}
    means = [model.decisions.mean for model in evaluation.models]
    assert [column["estimate"]["decision"]["mean"] for column in figures["columns"]] == means


def test_a_notebook_shows_a_row_per_target() -> None:
    shown = cupel.evaluate(definition(), [capital, "sim/echo"], name="<b>Capitals</b>")._repr_html_()
    assert "<caption>&lt;b&gt;Capitals&lt;/b&gt;</caption>" in shown
    assert "<td>connector/capital</td><td>2</td><td>2</td><td>0</td><td>50.0% of 2</td>" in shown
    assert shown.count("<tr>") == 3
    assert "decision" not in shown


def test_none_stands_for_the_default_of_every_option() -> None:
    nothing: Any = dict.fromkeys(EvaluationOptions.__annotations__)
    assert cupel.evaluate(definition(), capital, **nothing).repeats == 1


def test_the_names_of_the_package_are_listed() -> None:
    assert {"evaluate", "evaluate_async"} <= set(dir(cupel))


def test_each_probe_has_a_result() -> None:
    found = cupel.evaluate(definition(), capital)
    results = [(each.scenario, each.target, each.repeat, each.status, each.success) for each in found.results]
    assert results == [
        ("France", "connector/capital", 0, ProbeStatus.COMPLETED, True),
        ("Italy", "connector/capital", 0, ProbeStatus.COMPLETED, False),
    ]
    assert found.pass_rate == 0.5
    assert [message.content for message in found.results[0].messages] == ["France", "Paris"]


def test_a_file_is_read_from_its_path() -> None:
    found = cupel.evaluate(str(APPOINTMENT), "sim/steady", judge_model="sim/steady", seed=1)
    assert [(each.scenario, each.persona) for each in found.results] == [
        ("A haircut this week", "Ada"),
        ("A haircut this week", "Ben"),
        ("Closed on Monday", "Ben"),
    ]
    assert all(len(each.messages) > 2 for each in found.results)
    assert found.status == "COMPLETED"


def test_the_same_seed_gives_the_same_conversations() -> None:
    first, second = (cupel.evaluate(APPOINTMENT, "sim/bold", judge_model="sim/bold", seed=5) for _ in range(2))
    assert [each.messages for each in first.results] == [each.messages for each in second.results]


def test_probes_are_those_of_a_runs_plan() -> None:
    numbers = [f"case {number}" for number in range(10)]
    found = cupel.evaluate(definition(*numbers), [capital, "sim/echo"], sample_percentage=30, seed=7, repeats=2)
    drawn = [f"case {number}" for number in sample(10, 30, 7)]
    expected = [(target, case, repeat) for target in found.targets for case in drawn for repeat in (0, 1)]
    assert [(each.target, each.scenario, each.repeat) for each in found.results] == expected
    assert [each.probe.index for each in found.results] == list(range(12))


async def test_a_judge_ends_the_conversation_and_simulates_the_user() -> None:
    file = definition(scenarios=[{"prompt": "Hi", "successCriteria": "greeted", "instructions": "wants a greeting"}])
    judge = responder(verdict(), {"content": "And now?"}, verdict(success=True))
    async with serving(judge) as server:
        providers = {"custom": {"base_url": server.url}}
        found = await cupel.evaluate_async(file, lambda _: "Paris", judge_model="custom/judge", providers=providers)
    (result,) = found.results
    assert [message.content for message in result.messages] == ["Hi", "Paris", "And now?", "Paris"]
    assert result.verdict
    assert (result.verdict.success_met, result.success) == (True, True)
    assert {role: spend.calls for role, spend in result.spends.items()} == {"target": 2, "judge": 2, "persona": 1}


class RunWithWaits(NamedTuple):
    """A probe whose provider asks to wait; `delays` is what the progress says during each wait, and in the end."""

    result: ProbeResult
    waits: list[float]
    delays: list[list[Json]]
    requests: int
    seconds: float


async def run_with_waits(busy: int) -> RunWithWaits:
    """The provider asks to wait so many times."""
    waits: list[float] = []
    delays: list[list[Json]] = []

    started_at = now = 1_800_000_000.0

    async def pass_time(seconds: float) -> None:
        nonlocal now
        now += seconds

    async def sleep(seconds: float) -> None:
        await pass_time(seconds)
        waits.append(seconds)
        delays.append(progress.read(utc_now())["targets"][0]["delays"])

    refusals = [json({"error": {"message": "later"}}, 429, {"retry-after": "45"}) for _ in range(busy)]
    async with serving(responder(*refusals, "Paris")) as server:
        plan = plan_evaluation(
            definition("France"), "custom/model", {"providers": {"custom": {"base_url": server.url}}}
        )
        progress = EvaluationProgress(plan, utc_now())
        with ThreadPoolExecutor(1) as threads:
            runner = EvaluationRunner(plan, progress, threads, sleep=sleep, waits=ModelWaits(lambda: now, pass_time))
            (result,) = await runner.run()
    await safe_http.close()
    delays.append(progress.read(utc_now())["targets"][0]["delays"])
    return RunWithWaits(result, waits, delays, len(server.requests), now - started_at)


async def test_a_provider_that_asks_to_wait_is_waited_for() -> None:
    run = await run_with_waits(busy=2)
    assert (run.result.success, run.requests) == (True, 3)
    assert run.waits == pytest.approx([45, 45], rel=0.2)
    assert [[(delay["reason"], delay["provider"]) for delay in delays] for delays in run.delays] == [
        [("model_suspended", "custom")],
        [("model_suspended", "custom")],
        [],
    ]


async def test_a_provider_that_asks_to_wait_again_and_again_is_an_error() -> None:
    run = await run_with_waits(busy=100)
    assert run.result.error
    assert run.result.error.code is ProbeErrorCode.RATE_LIMITED
    assert PATIENCE_SECONDS <= run.seconds <= 2 * PATIENCE_SECONDS


def test_an_errored_probe_does_not_stop_the_others() -> None:
    def agent(messages: list[dict[str, str]]) -> str:
        if messages[-1]["content"] == "Italy":
            raise RuntimeError("the agent is down")
        return "Paris"

    found = cupel.evaluate(definition(), agent)
    (errored,) = found.errors
    assert errored.error
    assert (errored.status, errored.error.code) == (ProbeStatus.ERROR, ProbeErrorCode.PROVIDER_ERROR)
    assert errored.error.message.startswith("RuntimeError: the agent is down (test_evaluate.py:")
    assert found.pass_rate == 1.0


def test_an_assertion_that_cannot_be_computed_is_not_a_failure() -> None:
    file = definition("France", content={"assertions": [{"type": "cost", "threshold": 0.01}]})
    found = cupel.evaluate(file, capital)
    assert (found.pass_rate, found.results[0].success, found.models[0].unscored) == (None, None, 1)


def test_an_answer_without_another_to_compare_with_is_not_the_best() -> None:
    file = definition("France", content={"assertions": [{"type": "select-best", "value": "the shortest"}]})
    assert cupel.evaluate(file, capital, judge_model="sim/steady").pass_rate is None


def test_criteria_without_a_judge_are_refused() -> None:
    file = definition() | {"scenarios": [{"prompt": "Hi", "name": "one", "successCriteria": "is polite"}]}
    assert 'judge_model: is required: scenario "one" has success or failure criteria' in refusal(file)


@pytest.mark.parametrize(
    ("assertion", "option"),
    [
        ({"type": "llm-rubric", "value": "is polite"}, "judge_model"),
        ({"type": "select-best", "value": "the shortest"}, "judge_model"),
        ({"type": "assert-set", "assert": [{"type": "not-factuality", "value": "Paris"}]}, "judge_model"),
        ({"type": "similar", "value": "Paris"}, "embedding_model"),
        ({"type": "answer-relevance", "provider": "sim/steady"}, "embedding_model"),
    ],
)
def test_an_assertion_that_needs_a_model_is_refused_without_one(assertion: Json, option: str) -> None:
    problem = refusal(definition(content={"assertions": [assertion]}))
    assert f"{option}: is required: the definition has an assertion of type" in problem


def test_select_best_compares_the_targets() -> None:
    file = definition("France", content={"assertions": [{"type": "select-best", "value": "the shortest"}]})
    found = cupel.evaluate(file, [capital, "sim/echo"], judge_model="sim/steady", seed=1)
    assert sorted(str(each.success) for each in found.results) == ["False", "True"]


def test_max_score_compares_the_scores_of_the_targets_without_a_judge() -> None:
    assertions = [{"type": "contains", "value": "Paris", "weight": 0}, {"type": "max-score"}]
    found = cupel.evaluate(definition("France", content={"assertions": assertions}), ["sim/echo", capital])
    assert [each.success for each in found.results] == [False, True]


async def test_a_rubric_without_a_pattern_is_decided_by_its_judge() -> None:
    decision = {"rubric": "5 when it names Paris", "judgeModel": "custom/judge"}
    async with serving(responder({"decisionCode": "5", "decisionText": "It does."})) as server:
        providers = {"custom": {"base_url": server.url}}
        file = definition("France", content={"decision": decision})
        found = await cupel.evaluate_async(file, capital, providers=providers)
    assert found.models[0].decisions.distribution["5"] == 1


async def test_a_rubric_without_a_judge_of_its_own_is_decided_by_that_of_the_evaluation() -> None:
    async with serving(responder({"decisionCode": "5", "decisionText": "It does."})) as server:
        providers = {"custom": {"base_url": server.url}}
        file = definition("France", content={"decision": {"rubric": "5 when it names Paris"}})
        found = await cupel.evaluate_async(file, capital, judge_model="custom/judge", providers=providers)
    assert found.models[0].decisions.distribution["5"] == 1


async def test_the_judge_writes_the_text_of_a_decision_by_pattern() -> None:
    async with serving(responder({"decisionText": "It names the capital."})) as server:
        providers = {"custom": {"base_url": server.url}}
        file = definition("France", content={"decision": {"pattern": "(5)"}})
        found = await cupel.evaluate_async(file, lambda _: "5: Paris", judge_model="custom/judge", providers=providers)
    transcript = found.results[0].to_json(found.id)
    assert (transcript["decisionCode"], transcript["decisionText"]) == ("5", "It names the capital.")
    assert transcript["summarySpend"]["calls"] == 1


def test_a_rubric_without_any_judge_is_refused() -> None:
    problem = refusal(definition("France", content={"decision": {"rubric": "5 when it names Paris"}}))
    assert "judge_model: is required: the definition's decision has a rubric" in problem


def test_callbacks_are_called_in_order() -> None:
    calls: list[tuple[str, str]] = []
    cupel.evaluate(
        definition("France"),
        capital,
        on_status=lambda probe, status: calls.append(("status", f"{probe.name} {status}")),
        on_start=lambda probe: calls.append(("start", probe.target)),
        on_complete=lambda _, transcript: calls.append(("complete", transcript.messages[-1].content)),
    )
    assert calls == [
        ("status", "France RUNNING"),
        ("start", "connector/capital"),
        ("status", "France COMPLETED"),
        ("complete", "Paris"),
    ]


def test_an_async_callback_is_awaited_and_receives_errors() -> None:
    calls: list[str] = []

    async def on_error(probe: cupel.Probe, error: Any) -> None:
        await asyncio.sleep(0)
        calls.append(f"{probe.name}: {error.code}")

    cupel.evaluate(definition("France"), lambda _: None, on_error=on_error)
    assert calls == ["France: provider_error"]


def test_an_exception_of_a_callback_ends_the_evaluation_and_reaches_the_caller() -> None:
    prompts: list[str] = []

    def agent(messages: list[dict[str, str]]) -> str:
        prompts.append(messages[-1]["content"])
        return "Paris"

    def on_complete(*_: object) -> None:
        raise LookupError("a bug of the callback")

    with pytest.raises(LookupError, match="a bug of the callback"):
        cupel.evaluate(definition("one", "two", "three"), agent, on_complete=on_complete, max_concurrency=1)
    assert prompts == ["one"]


async def test_a_cancelled_evaluation_makes_no_further_call() -> None:
    prompts: list[str] = []
    begun = asyncio.Event()

    async def agent(messages: list[dict[str, str]]) -> str:
        prompts.append(messages[-1]["content"])
        begun.set()
        await asyncio.Event().wait()
        return ""

    work = asyncio.create_task(cupel.evaluate_async(definition("one", "two", "three"), agent, max_concurrency=1))
    await begun.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    await asyncio.sleep(0)
    assert prompts == ["one"]


async def test_conversations_are_bounded() -> None:
    running, most = 0, 0

    async def agent(_: object) -> str:
        nonlocal running, most
        running, most = running + 1, max(most, running + 1)
        await asyncio.sleep(0.001)
        running -= 1
        return "Paris"

    await cupel.evaluate_async(definition(*map(str, range(20))), agent, max_concurrency=3)
    assert most == 3


async def test_within_an_event_loop_evaluate_async_is_suggested() -> None:
    with pytest.raises(UsageError, match="evaluate_async"):
        cupel.evaluate(definition(), capital)


def test_an_agent_may_keep_a_conversation_by_its_thread() -> None:
    seen: list[AgentThread] = []

    class Agent:
        async def __call__(self, messages: Sequence[Json], thread: AgentThread) -> Json:
            assert len(messages) == 1 + 2 * thread.turn
            seen.append(thread)
            return {"content": "Paris", "tool": "atlas"}

    file = definition(scenarios=[{"prompt": "Hi", "successCriteria": "x", "personaIds": ["Ada"], "maxMessages": 4}])
    file["personas"] = [{"name": "Ada"}]
    found = cupel.evaluate(file, Agent(), judge_model="sim/steady", seed=3)
    assert {thread.id for thread in seen} == {found.results[0].probe.thread_id}
    assert [(thread.turn, thread.persona) for thread in seen] == [(turn, "Ada") for turn in range(len(seen))]
    transcript = found.results[0].transcript
    assert transcript
    assert transcript.conversation.output == {"tool": "atlas"}


def test_a_function_that_takes_too_long_is_an_error() -> None:
    async def agent(_: object) -> str:
        await asyncio.Event().wait()
        return ""

    found = cupel.evaluate(definition("France"), agent, call_timeout_seconds=0.01)
    assert found.results[0].error
    assert found.results[0].error.code is ProbeErrorCode.TIMEOUT


async def test_a_connector_of_the_file_is_called_with_the_headers_of_connector_and_persona(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AGENT_TOKEN", "secret")
    async with serving(lambda request: json({"said": f"Paris, {request.body['q']}"})) as server:
        connector = {
            "name": "atlas",
            "type": "http",
            "baseUrl": server.url,
            "headers": {"Authorization": "Bearer ${AGENT_TOKEN}"},
            "config": {"request": "{q: message}", "reply": "said"},
        }
        personas = [{"name": "Ada", "headers": {"X-User": "ada"}, "connectorUrls": [server.url]}]
        file = definition("France", connectors=[connector], personas=personas)
        found = await cupel.evaluate_async(file, "connector/atlas", personas=["Ada"])
    assert found.results[0].messages[-1].content == "Paris, France"
    headers = server.requests[0].headers
    assert (headers["authorization"], headers["x-user"]) == ("Bearer secret", "ada")
    assert found.results[0].to_json(found.id)["omittedParameters"] == []


async def test_headers_of_a_persona_are_not_sent_to_another_connector() -> None:
    async with serving(lambda _: json({"said": "Paris"})) as server:
        config = {"request": "{q: message}", "reply": "said"}
        connector = {"name": "atlas", "type": "http", "baseUrl": server.url, "config": config}
        personas = [{"name": "Ada", "headers": {"X-User": "ada"}, "connectorUrls": ["https://elsewhere.test"]}]
        file = definition("France", connectors=[connector], personas=personas)
        found = await cupel.evaluate_async(file, "connector/atlas", personas=["Ada"])
    assert "x-user" not in server.requests[0].headers
    assert found.results[0].to_json(found.id)["omittedParameters"] == ["personaHeaders"]


def test_scenarios_and_personas_may_be_chosen_or_given() -> None:
    chosen: list[Any] = ["Italy", {"name": "Spain", "prompt": "Spain"}]
    found = cupel.evaluate(definition(), capital, scenarios=chosen, personas=[{"name": "Ada"}, {"name": "Ben"}])
    results = [(each.scenario, each.persona) for each in found.results]
    assert results == [("Italy", "Ada"), ("Italy", "Ben"), ("Spain", "Ada"), ("Spain", "Ben")]


def test_scenarios_may_be_all_combinations_of_a_template() -> None:
    found = cupel.evaluate(ROOT / "samples" / "value-dilemma.yaml", "sim/steady", sample_percentage=10, seed=1)
    assert len(found.results) == 3
    assert found.models[0].decisions.decided == 3


def test_a_transcript_has_the_fields_of_the_api() -> None:
    found = cupel.evaluate(APPOINTMENT, "sim/steady", judge_model="sim/steady", seed=1)
    probe = found.to_json()["probes"][0]
    own = {"status", "output"}
    assert TranscriptResponse.model_validate({name: probe[name] for name in probe.keys() - own})
    assert probe.keys() - own == {field.alias for field in TranscriptResponse.model_fields.values()}


def test_ids_and_judges_are_written_as_on_a_stack() -> None:
    document = cupel.evaluate(APPOINTMENT, "sim/steady", judge_model="sim/steady", seed=1).to_json()
    assert document["probes"][0]["id"] == f"{document['run']['id']}-0"
    assert document["run"]["config"]["judgeModel"] == "sim/steady"


def test_the_document_has_the_fields_of_a_run() -> None:
    document = cupel.evaluate(definition(), capital, seed=4).to_json()
    assert document.keys() == {"run", "results", "sample", "passRate", "metrics", "cachedCalls", "probes"}
    assert document["run"]["progress"] == {"total": 2, "completed": 2, "failed": 0}
    assert document["run"]["config"]["sampleSeed"] == 4
    assert [model["model"] for model in document["results"]] == ["connector/capital"]
    assert [probe["scenarioName"] for probe in document["probes"]] == ["France", "Italy"]


def test_no_cloud_library_is_imported() -> None:
    program = (
        "import sys, cupel\n"
        "assert 'pydantic' not in sys.modules and 'httpx' not in sys.modules, 'importing cupel must be fast'\n"
        f"cupel.evaluate({str(APPOINTMENT)!r}, 'sim/steady', judge_model='sim/steady', progress=False)\n"
        "assert 'rich.live' not in sys.modules, 'only what is shown needs it'\n"
        "clouds = ('boto3', 'botocore', 'pynamodb', 'aws_lambda_powertools', 'cupel_core.store')\n"
        "print([name for name in clouds if name in sys.modules])\n"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (answer.stdout.strip(), answer.stderr) == ("[]", "")


@pytest.mark.parametrize(
    "answer", ["x\ud800", {"content": "x\ud800", "at": datetime(2026, 1, 31, tzinfo=UTC), 5: {1, 2}}]
)
def test_whatever_a_function_answers_can_be_saved(answer: Any, tmp_path: Path) -> None:
    saved = tmp_path / "saved.jsonl"
    found = cupel.evaluate(definition("x"), lambda _: answer, resume=saved, progress=False)
    (message,) = [message for message in found.results[0].messages if message.role == "assistant"]
    assert message.content == "x?"
    assert orjson.dumps(found.to_json())
    assert cupel.evaluate(definition("x"), lambda _: 1 / 0, resume=saved, progress=False).errors == ()


def test_a_mapping_that_refers_to_itself_is_an_error_of_its_probe() -> None:
    answer: Json = {"content": "x"}
    answer["again"] = answer
    (errored,) = cupel.evaluate(definition("x"), lambda _: answer, progress=False).errors
    assert errored.error
    assert "JSON cannot represent" in errored.error.message


@pytest.mark.parametrize(
    ("file", "targets", "message"),
    [
        (None, "sim/echo", "definition: must be the path of a file, several paths, or a mapping, not NoneType"),
        (definition(), 5, "targets.0: must be a model, a connector, a mapping or a function, not int"),
        (definition(), ["sim/echo", None], "targets.1: must be a model, a connector, a mapping or a function, not"),
        (definition(), ["sim/echo", "sim/echo"], "targets.1: sim/echo is listed twice"),
        (
            definition(scenarios=[{"prompt": "x", "personaIds": ["Ada"]}], personas=[{"name": "Ben"}]),
            "sim/echo",
            'personaIds of "scenario 1": unknown persona Ada; known personas: Ben',
        ),
    ],
)
def test_wrong_arguments_are_named(file: Any, targets: Any, message: str) -> None:
    assert refusal(file, targets).startswith(message)


def test_a_key_without_its_field_is_named() -> None:
    message = refusal(definition(), "openai/gpt-5-mini", providers={"openai": "sk"})  # type: ignore[dict-item]
    assert message == "providers.openai: must be a mapping with base_url and api_key"


def refusal(file: Any, targets: Any = capital, **options: Unpack[EvaluationOptions]) -> str:
    with pytest.raises(UsageError) as caught:
        plan_evaluation(file, targets, options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"content": {"sytem": "x"}},
            "content.sytem: is not a known field (did you mean system?); known fields: system",
        ),
        ({"content": {"assertions": [{"type": "containz"}]}}, "content.assertions.0.type"),
        ({"scenarios": [{"prompt": "x", "maxMessages": 0}]}, "scenarios.0.maxMessages"),
        ({"scenarios": [{"prompt": "x", "assertions": [{"type": "regex", "value": "("}]}]}, "scenarios.0.assertions.0"),
        ({"scenarios": [{"prompt": "x", "personaIds": ["Eve"]}]}, "unknown persona Eve"),
        ({"personas": [{"name": "Ada", "sytem": "x"}]}, "personas.0.sytem"),
        ({"personas": [{"name": "Ada"}, {"name": "ada"}]}, "personas.1.name: ada is used twice"),
        ({"personas": [{"name": "Ada", "headers": {"X": "${NOT_SET_ANYWHERE}"}}]}, "NOT_SET_ANYWHERE is not set"),
        ({"connectors": [{"name": "a", "type": "ftp", "baseUrl": "http://a"}]}, "connectors.0.type: must be one of"),
        ({"connectors": [{"name": "a", "type": "http", "baseUrl": "a"}]}, "connectors.0.baseUrl: must start"),
        ({"connectors": [{"name": "a", "type": "openai", "baseUrl": "http://a"}]}, "connectors.0.config.model"),
    ],
)
def test_an_error_in_a_definition_names_the_field(changes: Json, message: str) -> None:
    assert message in refusal(definition() | changes)


def test_generation_by_a_model_needs_a_stack() -> None:
    file = definition()
    del file["scenarios"]
    assert "the only mode is matrix" in refusal(file | {"generate": {"mode": "llm"}})


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ("nope/x", 'targets.0: unknown provider for model "nope/x"'),
        (["sim/steady", "openai/gpt-5-mini"], "targets.1: openai/gpt-5-mini needs an API key: set OPENAI_API_KEY"),
        ("custom/x", "targets.0: custom/x needs an address: set CUSTOM_BASE_URL"),
        ("connector/x", "targets.0: unknown connector connector/x; connectors of the definition: none"),
        (["sim/steady", "sim/steady"], "targets.1: sim/steady is listed twice"),
        ([], "the evaluation has 0 probes"),
    ],
)
def test_a_target_that_cannot_be_called_is_refused(targets: Any, message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "CUSTOM_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    assert message in refusal(definition(), targets)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"repeats": 0}, "repeats: must be a whole number from 1 to 1,000"),
        ({"sample_percentage": 101}, "sample_percentage"),
        (
            {"judge_modell": "x"},
            "judge_modell: is not a known field (did you mean judge_model?); known fields: allow_code",
        ),
        ({"repeat": 2, "judgeModel": "x"}, "judgeModel: is not a known field (did you mean judge_model?)"),
        ({"repeat": 2, "judgeModel": "x"}, "repeat: is not a known field (did you mean repeats?)"),
        ({"repeats": 1.5}, "repeats: must be a whole number from 1 to 1,000"),
        ({"temperature": "0"}, "temperature: must be a number from 0 to 2"),
        ({"judge_model": 5}, "judge_model: must be a string"),
        ({"scenarios": "Boiling point"}, "scenarios: must be a list of names or mappings"),
        ({"personas": 5}, "personas: must be a list of names or mappings"),
        ({"resume": ""}, "resume: must be a path"),
        ({"providers": "openai"}, "providers: must be a mapping"),
        ({"on_start": "print"}, "on_start: must be a function"),
        ({"judge_model": "connector/x"}, "judge_model: expected a model, not the connector connector/x"),
        ({"evaluator_url": "ftp://x"}, "evaluator_url: must start"),
        ({"scenarios": ["Atlantis"]}, "scenarios.0: the definition has no scenario named 'Atlantis'"),
        ({"providers": {"nope": {}}}, "providers.nope: unknown"),
        ({"providers": {"openai": {"key": "x"}}}, "providers.openai.key: unknown"),
    ],
)
def test_an_invalid_option_is_named(options: Any, message: str) -> None:
    assert message in refusal(definition(), **options)


def test_keys_and_addresses_come_from_the_caller_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "of the environment")
    monkeypatch.setenv("OPENAI_API_KEY", "of the environment")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    providers: Any = {"openai": {"api_key": "of the caller"}}
    plan = plan_evaluation(definition(), ["openai/x", "google/y"], {"providers": providers})
    accounts = [each.account for each in plan.targets]
    assert [account.api_key for account in accounts] == ["of the caller", "of the environment"]
    assert accounts[0].base_url == "http://127.0.0.1:1/v1"
    assert "of the caller" not in repr(plan)


def test_every_provider_reads_variables_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUSTOM_GPU_BOX_BASE_URL", "http://127.0.0.1:2/v1")
    monkeypatch.setenv("CUSTOM_GPU_BOX_API_KEY", "of the box")
    monkeypatch.setenv("GROQ_API_KEY", "of Groq")
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://cupel.openai.azure.com")
    monkeypatch.setenv("AZURE_API_KEY", "of Azure")
    plan = plan_evaluation(definition(), ["custom-gpu-box/x", "groq/y", "azure/z"], {})
    assert [(each.account.base_url, each.account.api_key) for each in plan.targets] == [
        ("http://127.0.0.1:2/v1", "of the box"),
        ("https://api.groq.com/openai/v1", "of Groq"),
        ("https://cupel.openai.azure.com", "of Azure"),
    ]


def test_prices_come_from_the_caller() -> None:
    providers: Any = {"custom-gpu": {"base_url": "http://127.0.0.1:2/v1", "prices": {"x": (1, 2.5), "*": [3, 4]}}}
    plan = plan_evaluation(definition(), ["custom-gpu/x"], {"providers": providers})
    assert plan.targets[0].account.prices == (ModelPrice("x", 1, 2.5), ModelPrice(None, 3, 4))


@pytest.mark.parametrize("prices", [1, {"x": 1}, {"x": (1,)}, {"x": (1, "2")}, {"x": (1, -2)}])
def test_wrong_prices_are_named(prices: Any) -> None:
    providers = {"custom-gpu": {"base_url": "http://127.0.0.1:2/v1", "prices": prices}}
    assert "providers.custom-gpu.prices: must be" in refusal(definition(), "custom-gpu/x", providers=providers)


def test_a_missing_file_is_named() -> None:
    assert "nope.yaml: No such file" in refusal(Path("nope.yaml"))


def test_an_evaluation_has_the_labels_it_was_given() -> None:
    evaluation = cupel.evaluate(
        definition(), capital, name="Release 2", tags=("b", "a", "a"), metadata={"commit": "6f1b"}
    )
    run = evaluation.to_json()["run"]
    assert (run["name"], run["tags"], run["metadata"]) == ("Release 2", ["a", "b"], {"commit": "6f1b"})
    assert run["definitionName"] == evaluation.name


@pytest.mark.parametrize(
    ("option", "field"),
    [({"name": ""}, "name"), ({"tags": "nightly"}, "tags"), ({"tags": [""]}, "tags.0"), ({"metadata": {"k": []}}, "k")],
)
def test_labels_are_checked_like_those_of_a_run(option: dict[str, Any], field: str) -> None:
    with pytest.raises(UsageError, match=field):
        cupel.evaluate(definition(), capital, **option)


def test_metrics_of_a_target_include_derived_ones() -> None:
    assertions = [{"type": "contains", "value": "Paris", "metric": "right"}]
    content = {"assertions": assertions, "derivedMetrics": [{"name": "share", "value": "right / __count"}]}
    evaluation = cupel.evaluate(definition(content=content), capital, progress=False)
    assert evaluation.metrics == {"connector/capital": {"right": 0.5, "share": 0.5}}


def test_prompts_are_named_by_their_labels() -> None:
    prompts = [{"id": "step-by-step", "label": "step by step", "system": "Think."}, {"id": "plain", "system": "Reply."}]
    found = cupel.evaluate(definition("France", content={"prompts": prompts}), capital)
    names = ["connector/capital · step by step", "connector/capital · plain"]
    assert [model.name for model in found.models] == names
    assert [each["promptLabel"] for each in found.analysis()["columns"]] == ["step by step", None]
