"""The data that the conversations of a slice need: the run's snapshot, and the accounts of targets, agents and
graders."""

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from datetime import datetime
from functools import cached_property, partial
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from cupel_core.accounts.keys import load_accounts, with_prices
from cupel_core.base.deferred import dataclass
from cupel_core.base.messages import ProbeSlice
from cupel_core.conversations.outcomes import MAX_ERROR_LENGTH
from cupel_core.conversations.specs import ConversationSpec
from cupel_core.conversations.turn import MAX_WAIT_SECONDS
from cupel_core.domain.codec import decode
from cupel_core.domain.conversations.conversation import ConversationState
from cupel_core.domain.conversations.model_parameters import ModelParameters, merge_parameters
from cupel_core.domain.conversations.model_request import ModelRequest, ProbeErrorCode
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.prompts import MissingValue, Prompt
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.pipeline.run_profile import RunProfile
from cupel_core.domain.resources.connectors import PROVIDER, Connector, target_of_connector
from cupel_core.domain.resources.personas import Persona
from cupel_core.domain.runs.identifiers import thread_id
from cupel_core.domain.runs.run import Run
from cupel_core.domain.runs.spending import conversation_spending
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.runs.transcripts import ProbeError
from cupel_core.domain.scoring.assertions import flatten
from cupel_core.domain.text.storable import storable
from cupel_core.providers.account import Account
from cupel_core.providers.parameters import omitted_parameters, without_unknown
from cupel_core.providers.reservations import bound_of_call
from cupel_core.resources import connectors, personas
from cupel_core.resources.evaluation_settings import evaluator_headers
from cupel_core.runs.probing.caches import AccountCache
from cupel_core.runs.probing.conversation_calls import ConversationCalls
from cupel_core.scoring.grading.graders import GraderFactory
from cupel_core.store import snapshots
from cupel_core.store.settings import settings
from cupel_core.store.snapshots import Snapshot

if TYPE_CHECKING:
    from cupel_core.conversations.tool_connector import ConnectorTools


class CallLimits(NamedTuple):
    """Limits the attempts of a target's calls and their duration. None means the stack's default."""

    max_attempts: int | None
    timeout_seconds: float | None


@dataclass(frozen=True)
class SliceContext:
    """Everything the probes of one slice need, read in advance. `account` is the provider's. An agent behind a
    connector has its own, in `agents`, by target."""

    run: Run
    snapshot: Snapshot
    scenarios: Mapping[int, Scenario]
    """The scenarios by case. They are stored here, because the pages of long ones soon leave the page cache."""
    content: Content
    account: Account
    agents: Mapping[str, Account] = field(default_factory=dict)
    grader_accounts: Mapping[str, Account] = field(default_factory=dict)
    persona_headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict, repr=False)
    evaluator_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    tool_connectors: Mapping[str, Connector | None] = field(default_factory=dict)
    """The connectors by id, with None for a connector that does not exist."""

    def scenario(self, index: int) -> Scenario:
        return self.scenarios[self.run.plan.probe(index).case]

    def opening_length(self, index: int) -> int:
        """Estimate the initial memory of the probe's conversation: characters of texts, and bytes of files. Values of
        placeholders do not count."""
        scenario, prompt = self.scenario(index), self.prompt_of(index)
        messages = (prompt and (scenario.messages_by_prompt.get(prompt.id) or prompt.messages)) or scenario.messages
        system = (prompt and prompt.system) or self.content.system or ""
        texts = len(system) + sum(len(message.content) for message in messages)
        if not any(message.parts for message in (*messages, *scenario.messages)):
            return texts
        files = (file for message in (*messages, *scenario.messages) for file in message.files)
        return texts + sum({file.file_id: file.info.size for file in files if file.info}.values())

    def planned_length(self, index: int) -> int:
        """Estimate how many characters the probe's conversation has, including those of the profile's operations."""
        return self.opening_length(index) + (self.profile.planned_length if self.profile else 0)

    @cached_property
    def profile(self) -> RunProfile | None:
        return RunProfile.of_snapshot(self.snapshot.profile)

    def prompt_of(self, index: int) -> Prompt | None:
        return self.content.prompt(self.run.plan.column_of(index).prompt_id)

    def opening_bound(self, index: int) -> int:
        """Return the maximum cost of the target's first call, in billionths of a USD. That call reserves this much as
        long as no other answer is known."""
        if index not in self._opening_bounds:
            self._opening_bounds[index] = self._compute_opening_bound(index)
        return self._opening_bounds[index]

    @cached_property
    def _opening_bounds(self) -> dict[int, int]:
        return {}

    def _compute_opening_bound(self, index: int) -> int:
        target, prompt, account = self.target_of(index), self.prompt_of(index), self.account_of(self.model_of(index))
        params = merge_parameters(self.run.parameters_of(target), prompt.params if prompt else {})
        parameters = decode(ModelParameters, without_unknown(target, params))
        try:
            opening = self.content.opening_of(self.scenario(index), prompt)
        except MissingValue:  # The probe ends with this error before any call.
            return 0
        return bound_of_call(account, target.model, ModelRequest(opening, parameters)).nano_usd

    def graders(self, calls: ConversationCalls, rng: Random, call_timeout_seconds: float) -> GraderFactory:
        return GraderFactory(
            workspace=self.run.workspace,
            config=self.run.grader_config,
            accounts=self.grader_accounts,
            limiter=calls,
            call_timeout_seconds=call_timeout_seconds,
            max_wait_seconds=MAX_WAIT_SECONDS,
            before_call=calls.before_call,
            attempt=calls.attempt,
            embed_attempt=calls.embed_attempt,
            rng=rng,
            evaluator_headers=self.evaluator_headers,
            allow_private=settings().allow_private_endpoints,
        )

    def conversation_spec(
        self, index: int, retry_round: int, graders: GraderFactory, *, is_resumed: bool = False
    ) -> ConversationSpec:
        probe = self.run.plan.probe(index)
        persona = self.snapshot.persona(probe.case)
        headers, is_withheld = self._persona_headers(index, persona)
        column, prompt = self.run.plan.columns[probe.column], self.prompt_of(index)
        wanted = merge_parameters(self.run.parameters_of(column.target), prompt.params if prompt else {})
        params = without_unknown(column.target, wanted)
        return ConversationSpec(
            index=index,
            scenario=self.scenario(index),
            content=self.content,
            graders=graders,
            thread_id=thread_id(self.run.id, index, retry_round),
            persona=persona,
            persona_headers=headers,
            omitted_parameters=omitted_parameters(wanted.keys() - params.keys(), withholds_headers=is_withheld),
            prompt=prompt,
            params=params,
            variant=column.variant,
            max_turns=self.run.max_turns,
            repeat=probe.repeat,
            seed=self.run.sample_seed,
            retry_round=retry_round,
            tool_executor=self._tool_executor(index, retry_round, params, graders),
            profile=self.profile,
            is_resumed=is_resumed,
        )

    def _tool_executor(
        self, index: int, retry_round: int, params: Mapping[str, Any], graders: GraderFactory
    ) -> "ConnectorTools | None":
        connector_id = params.get("toolConnectorId")
        if connector_id is None:
            return None
        from cupel_core.conversations.tool_connector import ConnectorTools, probe_fields  # Few runs need it.

        probe, model = self.run.plan.probe(index), target_of_connector(connector_id)
        persona, column = self.snapshot.persona(probe.case), self.run.plan.columns[probe.column]
        account = self.account_with(model)
        return ConnectorTools(
            connector=self.tool_connectors.get(connector_id),
            guard=partial(graders.limiter.slot, self.run.workspace, account, model, graders.before_call),
            probe=probe_fields(self.run.id, index, self.scenario(index), column, persona, probe.repeat),
            conversation_id=thread_id(self.run.id, index, retry_round),
            timeout_seconds=graders.call_timeout_seconds,
            rng=graders.rng,
            allow_private=graders.allow_private,
            log=graders.log,
        )

    def internal_error(
        self, index: int, message: str, attempts: int, now: datetime, conversation: ConversationState
    ) -> ProbeError:
        """Return the error of a probe that an internal error stopped too often, after this part of its conversation."""
        probe = self.run.plan.probe(index)
        persona, retention = self.snapshot.persona(probe.case), settings().retention
        return ProbeError(
            probe_index=index,
            scenario_id=self.scenario(index).id,
            model_id=self.model_of(index),
            code=ProbeErrorCode.INTERNAL,
            message=storable(message, MAX_ERROR_LENGTH),
            attempts=attempts,
            created_at=now,
            persona_id=persona.id if persona else None,
            retry_round=self.run.retry_round,
            content_expires_at=now + retention if retention else None,
            spending=conversation_spending(conversation),
            started_at=conversation.started_at,
        )

    def _persona_headers(self, index: int, persona: Persona | None) -> tuple[Mapping[str, str], bool]:
        """Return the headers to send, and whether any were made for other connectors than the target."""
        account = self.agents.get(self.model_of(index))
        if persona is None or account is None or not persona.has_headers:
            return {}, False
        if account.connector is None or not persona.sends_headers_to(account.connector.address):
            return {}, True
        return self.persona_headers.get(persona.id, {}), False

    def model_of(self, index: int) -> str:
        return self.target_of(index).model

    def target_of(self, index: int) -> Target:
        return self.run.plan.column_of(index).target

    def call_limits(self, index: int) -> CallLimits:
        run, target = self.run, self.target_of(index)
        return CallLimits(
            target.max_attempts or run.max_attempts, target.call_timeout_seconds or run.call_timeout_seconds
        )

    def account_of(self, model: str) -> Account:
        return self.agents.get(model, self.account)

    def account_with(self, model: str) -> Account:
        provider = model.partition("/")[0]
        return self.account_of(model) if provider == self.account.provider else self.grader_accounts[provider]


def load_slice_context(run: Run, probe_slice: ProbeSlice, accounts: AccountCache) -> SliceContext:
    """Read everything that a probe of the slice may need, because the event loop must not wait for it later."""
    snapshot = snapshots.get(run.snapshot_key)
    targets = {run.plan.column_of(index).target.model for index in probe_slice.indexes}
    provider = next(iter(targets)).partition("/")[0]
    content = Content.from_json(snapshot.definition)

    def load_account(workspace: str, name: str) -> Account:
        return replace(accounts.get(workspace, name, run.updated_at), scope=run.id)

    provider_account = with_prices(load_account(run.workspace, provider), snapshot.prices)
    cases = sorted({run.plan.probe(index).case for index in probe_slice.indexes})
    scenarios = {case: snapshot.scenario(case) for case in cases}
    context = SliceContext(run, snapshot, scenarios, content, provider_account)
    return replace(
        context,
        agents=_agents(run.workspace, provider_account, targets) if provider == PROVIDER else {},
        grader_accounts=load_accounts(run.workspace, _grader_models(context), snapshot.prices, load_account),
        persona_headers=_persona_headers(run.workspace, snapshot, cases) if provider == PROVIDER else {},
        evaluator_headers=evaluator_headers(run.workspace, run.grader_config),
        tool_connectors={each: connectors.find(run.workspace, each) for each in _tool_connectors(context)},
    )


def _agents(workspace: str, provider_account: Account, targets: Iterable[str]) -> dict[str, Account]:
    """Return the accounts of the targets' connectors as these are now, so that a retry uses a corrected address.
    Deleted ones still serve their runs."""
    agents = {}
    for target in targets:
        connector = connectors.find(workspace, target.partition("/")[2])
        if connector is not None:
            agents[target] = replace(provider_account, base_url=connector.base_url, connector=connector)
    return agents


def _grader_models(context: SliceContext) -> set[str]:
    config = context.run.grader_config
    named = {config.judge_model, config.persona_model, config.embedding_model}
    named.update(map(target_of_connector, _tool_connectors(context)))
    named.update(context.profile.models if context.profile else ())
    of_scenarios = (scenario.assertions for scenario in context.scenarios.values())
    for assertions in (context.content.assertions, *of_scenarios):
        named.update(assertion.provider for assertion in flatten(assertions))
    return {model for model in named if model is not None}


def _tool_connectors(context: SliceContext) -> set[str]:
    targets, prompts = context.run.plan.targets, context.content.prompts
    layers = (context.run.params, *(each.params for each in targets), *(each.params for each in prompts))
    return {connector_id for params in layers if (connector_id := params.get("toolConnectorId"))}


def _persona_headers(workspace: str, snapshot: Snapshot, cases: Iterable[int]) -> dict[str, Mapping[str, str]]:
    personas_of_slice = {persona.id: persona for case in cases if (persona := snapshot.persona(case)) is not None}
    return {persona.id: personas.load_headers(workspace, persona) for persona in personas_of_slice.values()}
