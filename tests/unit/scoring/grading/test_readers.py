"""Every request to a model about texts of others shows it those texts as they are, whatever they are."""

import ast
import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cupel_core.domain.analysis.narrating import facts_text
from cupel_core.domain.analysis.narratives import NarrativeFact
from cupel_core.domain.conversations.conversation import ConversationState, Criteria
from cupel_core.domain.conversations.material import MATERIAL_RULE, messages_material
from cupel_core.domain.conversations.model_request import Message, MessageRole, ModelRequest, Reply
from cupel_core.domain.conversations.tool_results import shown_to_user
from cupel_core.domain.runs.transcripts import Transcript
from cupel_core.domain.scoring.assertions import Assertion
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers import PROVIDERS
from cupel_core.providers.account import Account
from cupel_core.scoring.assertion_context import AssertionContext
from cupel_core.scoring.grading.concurrency import ConcurrencyLimiter
from cupel_core.scoring.grading.criteria import evaluate_criteria
from cupel_core.scoring.grading.decisions import DecisionJudge, judge_summary
from cupel_core.scoring.grading.grader import Grader, GraderError
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.scoring.grading.narrative import write_narrative
from cupel_core.scoring.grading.report_summary import ShownTranscript, SummaryMaterial, summarize
from cupel_core.scoring.grading.simulated_user import generate_persona_message, simulated_user_prompt
from cupel_core.scoring.model_graded import factuality, g_eval, llm_rubric, select_best
from cupel_core.scoring.registry import answer_relevance
from tests.hostile_texts import conversations, texts
from tests.started_runs import NOW

ROOT = Path(__file__).parents[4]
AUTHORS_OWN = {
    "cupel_core/chats/calls.py": "the target of a chat, which is sent the chat",
    "cupel_core/conversations/runner.py": "the target of a run, which is sent the conversation",
    "cupel_core/domain/definitions/generations.py": "a writer of scenarios, which is sent the author's draft",
    "cupel_core/domain/conversations/material.py": "the only one for texts of others",
    "cupel_core/conversations/pipeline/kinds/llm.py": "an operation, whose whole prompt its author writes",
    "cupel_core/runs/probing/slice_context.py": "no request is made: it is what a first call may cost",
    "cupel_core/providers/connectors/connection_test.py": "an agent, which is sent a greeting",
    "cupel_core/providers/expected_calls.py": "no request is made: it is what a call may cost",
    "cupel_core/scoring/model_graded.py": "a judge whose whole prompt its author writes",
}
"""The modules that make requests, and whom they ask."""


def test_requests_about_texts_of_others_are_made_in_one_place() -> None:
    made = {
        str(path.relative_to(ROOT / folder))
        for folder in ("shared", "functions", "cupel")
        for path in (ROOT / folder).rglob("*.py")
        if "ModelRequest(" in (text := path.read_text())
        and any(_makes_a_request(node) for node in ast.walk(ast.parse(text)))
    }
    assert made == set(AUTHORS_OWN)


def _makes_a_request(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "ModelRequest"


class Recorder:
    """Replaces `complete`: records requests, and gives these replies, then `{}`, which is unusable."""

    def __init__(self, *replies: Any) -> None:
        self.replies, self.requests = list(replies), list[ModelRequest]()

    async def __call__(self, _: Account, model: str, request: ModelRequest, __: float) -> Reply:
        self.requests.append(request)
        return Reply(json.dumps(self.replies.pop(0) if self.replies else {}), model)

    @property
    def grader(self) -> Grader:
        return Grader(Account("sim", ""), "sim/steady", 5.0, 0.0, Random(1), self)

    @property
    def graders(self) -> GraderFactory:
        return GraderFactory(
            workspace="ws_a",
            config=GraderConfig(judge_model="sim/steady", embedding_model="sim/words"),
            accounts={provider: Account(provider, "") for provider in PROVIDERS},
            limiter=ConcurrencyLimiter(),
            call_timeout_seconds=5.0,
            max_wait_seconds=0.0,
            attempt=self,
            rng=Random(1),
        )

    def material(self, number: int = 0) -> Any:
        system, user = self.requests[number].messages[:2]
        assert system.content.endswith(MATERIAL_RULE)
        return json.loads(user.content)


def asked(ask: Callable[[Recorder], Awaitable[Any]], *replies: Any) -> Recorder:
    recorder = Recorder(*replies)

    async def run() -> None:
        with contextlib.suppress(GraderError):
            await ask(recorder)

    asyncio.run(run())
    return recorder


def context_of(said: tuple[Message, ...], output: str) -> AssertionContext:
    return AssertionContext(output, (*said, Message(MessageRole.ASSISTANT, output)))


quick = settings(max_examples=30)


@quick
@given(conversations)
def test_a_judge_of_criteria_reads_what_was_said(said: tuple[Message, ...]) -> None:
    judge = asked(lambda each: evaluate_criteria(each.grader, said, Criteria("it books", None)))
    spoken = tuple(each for each in said if each.role is not MessageRole.SYSTEM)
    assert judge.material() == {"conversation": messages_material(spoken)}


@quick
@given(conversations)
def test_a_judge_of_decisions_reads_what_was_said(said: tuple[Message, ...]) -> None:
    transcript = Transcript(0, "scn_1", "sim/steady", NOW, ConversationState(said, turns=1))
    judge = asked(lambda each: judge_summary(DecisionJudge(each.grader, "1 to 5"), transcript, lambda: NOW))
    assert judge.material() == {"conversation": messages_material(said)}


@quick
@given(conversations)
def test_a_simulated_user_reads_what_was_said(said: tuple[Message, ...]) -> None:
    user = asked(lambda each: generate_persona_message(each.grader, simulated_user_prompt(None, None), said))
    assert user.material() == {"conversation": messages_material(shown_to_user(said))}


@quick
@given(conversations, texts, texts)
def test_a_judge_of_a_rubric_reads_rubric_and_output(said: tuple[Message, ...], rubric: str, output: str) -> None:
    assertion, context = Assertion("llm-rubric", value=rubric), context_of(said, output)
    judge = asked(lambda each: llm_rubric(assertion, context, each.graders, []))
    spoken = context.messages_without_system
    whole = {"conversation": messages_material(spoken)} if len(spoken) > 2 else {}
    assert judge.material() == {"rubric": rubric, **whole, "output": output}


@quick
@given(conversations, texts, texts, st.lists(texts.filter(bool), min_size=1, max_size=3))
def test_g_eval_reads_criteria_steps_prompt_and_reply(
    said: tuple[Message, ...], criteria: str, output: str, steps: list[str]
) -> None:
    assertion, context = Assertion("g-eval", value=criteria), context_of(said, output)
    judge = asked(lambda each: g_eval(assertion, context, each.graders, []), {"steps": steps})
    assert judge.material(0) == {"criteria": criteria}
    assert judge.material(1) == {
        "criteria": criteria,
        "steps": steps,
        "prompt": context.prompt_material,
        "reply": output,
    }


@quick
@given(conversations, texts, texts)
def test_a_judge_of_facts_reads_both_answers(said: tuple[Message, ...], expert: str, output: str) -> None:
    assertion, context = Assertion("factuality", value=expert), context_of(said, output)
    judge = asked(lambda each: factuality(assertion, context, each.graders, []))
    assert judge.material() == {"question": context.prompt_material, "expert": expert, "submission": output}


@quick
@given(texts, st.lists(texts, min_size=2, max_size=4))
def test_a_judge_of_rivals_reads_each_output_by_its_number(criteria: str, outputs: list[str]) -> None:
    judge = asked(lambda each: select_best(Assertion("select-best", value=criteria), outputs, each.graders))
    numbered = [{"index": number, "text": output} for number, output in enumerate(outputs)]
    assert judge.material() == {"criteria": criteria, "texts": numbered}


@quick
@given(texts.filter(str.strip))
def test_a_writer_of_questions_reads_the_answer(output: str) -> None:
    context = context_of((Message(MessageRole.USER, "Why?"),), output)
    judge = asked(lambda each: answer_relevance(Assertion("answer-relevance"), context, each.graders, []))
    assert judge.material() == {"answer": output}


@quick
@given(texts, texts, st.dictionaries(texts, st.lists(st.tuples(st.just("user"), texts)), max_size=3))
def test_a_summarizer_reads_prompt_figures_and_transcripts(
    system: str, tag: str, said: dict[str, list[tuple[str, str]]]
) -> None:
    shown = {key: ShownTranscript("failed", (tag,), tag, tuple(messages)) for key, messages in said.items()}
    writer = asked(lambda each: summarize(each.grader, SummaryMaterial(system, (tag,), shown)))
    assert writer.material() == {
        "systemPrompt": system,
        "figures": [tag],
        "transcripts": [
            {
                "id": key,
                "result": "failed",
                "tags": [tag],
                "reason": tag,
                "messages": [{"role": role, "content": text} for role, text in messages],
            }
            for key, messages in said.items()
        ],
    }


@quick
@given(st.lists(texts, min_size=1, max_size=3))
def test_a_narrator_reads_figures_by_their_labels(labels: list[str]) -> None:
    facts = [NarrativeFact(str(number), label, 0.5) for number, label in enumerate(labels)]
    writer = asked(lambda each: write_narrative(each.grader, facts_text(facts)))
    assert [each["label"] for each in writer.material()["figures"]] == labels


@pytest.mark.parametrize("variable", ["output", "rubric"])
async def test_a_text_in_an_author_s_own_prompt_is_not_a_template(variable: str) -> None:
    recorder = Recorder({"reason": "r", "pass": True, "score": 1})
    assertion = Assertion("llm-rubric", value="{{secret}}", config={"rubricPrompt": f"Judge {{{{{variable}}}}}"})
    context = AssertionContext("{{secret}}", variables={"secret": "s3cret"})
    await llm_rubric(assertion, context, recorder.graders, [])
    assert recorder.requests[0].messages[0].content == "Judge {{secret}}"
