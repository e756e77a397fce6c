from collections.abc import Iterable, Mapping
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from secrets import randbelow
from typing import Any

from cupel.errors import UsageError
from cupel.in_process.accounts import AccountResolver
from cupel.in_process.code_runner import ProcessCodeRunner, check_code
from cupel.in_process.definition import (
    DefinitionSource,
    EvaluationCase,
    LoadedDefinition,
    load_definition,
    load_profile,
)
from cupel.in_process.digests import digest
from cupel.in_process.grader_accounts import grader_accounts, narrator_account
from cupel.in_process.options import (
    CALL_TIMEOUT_SECONDS,
    EvaluationOptions,
    checked_options,
    resume_path,
    sample_percentage_of,
    settings_of,
)
from cupel.in_process.probes import Probe
from cupel.in_process.saved_outcomes import FileHeader, OutcomeFile, SavedEvaluation, check_same_plan, read_saved
from cupel.in_process.targets import ResolvedTarget, Targets, account_json, resolve_targets
from cupel.in_process.tools import FunctionTools, check_functions
from cupel_core.base.ids import new_id
from cupel_core.conversations.specs import ConversationSpec
from cupel_core.conversations.tool_connector import ConnectorTools, probe_fields
from cupel_core.conversations.turn import MAX_WAIT_SECONDS
from cupel_core.domain.analysis.extrapolation import RunSample, drawn_sample
from cupel_core.domain.codec import encode
from cupel_core.domain.conversations.model_parameters import ParameterFields, merge_parameters
from cupel_core.domain.definitions.prompts import prompt_labels
from cupel_core.domain.definitions.required_models import EMBEDDER, JUDGE, missing_models
from cupel_core.domain.files.references import largest_files_sent
from cupel_core.domain.pipeline.run_profile import RunProfile
from cupel_core.domain.resources.connectors import ConnectorType
from cupel_core.domain.runs.identifiers import thread_id
from cupel_core.domain.runs.pace import IN_PROCESS_CONCURRENCY
from cupel_core.domain.runs.plan import MAX_PROBES, Plan
from cupel_core.domain.runs.sampling import SEED_COUNT, sample
from cupel_core.domain.runs.settings import RunSettings
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers.account import Account
from cupel_core.providers.addresses import url_error
from cupel_core.providers.call_guard import no_guard
from cupel_core.providers.file_support import agent_file_error, file_error
from cupel_core.providers.parameters import omitted_parameters, parameter_errors, without_unknown
from cupel_core.scoring.grading.concurrency import MAX_CONCURRENT_CALLS, ConcurrencyLimiter
from cupel_core.scoring.grading.graders import GraderFactory

_OPTIONS = {JUDGE: "judge_model", EMBEDDER: "embedding_model"}


@dataclass(frozen=True)
class EvaluationPlan:
    id: str
    definition: LoadedDefinition
    probe_plan: Plan
    cases: tuple[EvaluationCase, ...]
    targets: tuple[ResolvedTarget, ...]
    grader_accounts: Mapping[str, Account]
    narrator_account: Account | None
    seed: int
    saved: SavedEvaluation | None
    options: EvaluationOptions = field(repr=False)
    settings: RunSettings
    """The settings hold the options that a run on a stack has as well."""
    profile: RunProfile | None = None

    @property
    def grader_config(self) -> GraderConfig:
        return self.settings.grader_config

    @property
    def call_timeout_seconds(self) -> float:
        return self.settings.call_timeout_seconds or CALL_TIMEOUT_SECONDS

    @property
    def max_concurrency(self) -> int:
        return self.settings.max_concurrency or IN_PROCESS_CONCURRENCY

    @property
    def retry_round(self) -> int:
        return self.saved.next_round if self.saved else 1

    def probe(self, index: int, retry_round: int | None = None) -> Probe:
        case, column, repeat = self.probe_plan.probe(index)
        scenario, persona = self.cases[case]
        thread = thread_id(self.id, index, retry_round or self.retry_round)
        plan = self.probe_plan
        return Probe(index, scenario, plan.columns[column], persona, repeat, plan.repeats, plan.total, thread)

    def target_of(self, probe: Probe) -> ResolvedTarget:
        return next(each for each in self.targets if each.spec == probe.column.target)

    @property
    def digests(self) -> dict[str, str]:
        """Return a digest for each part, without keys and values of headers. A function is represented by its name."""
        accounts = {name: account.base_url for name, account in self.grader_accounts.items()}
        options: dict[str, Any] = {"params": self.params, "max_turns": self.settings.max_turns}
        if self.profile is not None:
            options["profile"] = asdict(self.profile.pipeline)
        cases = [[asdict(scenario), persona and persona.to_json()] for scenario, persona in self.cases]
        targets = [[encode(target.spec), account_json(target.account)] for target in self.targets]
        configuration = [asdict(self.grader_config), accounts, options, self.probe_plan.repeats, self.seed]
        return {
            "definition": digest([asdict(self.definition.content), cases]),
            "targets": digest(targets),
            "configuration": digest(configuration),
        }

    def open_file(self, path: Path) -> OutcomeFile:
        return OutcomeFile.open(path, FileHeader(self.id, self.seed, self.digests), self.saved)

    @cached_property
    def params(self) -> ParameterFields:
        return merge_parameters(self.definition.content.params, self.settings.params)

    def conversation_spec(self, probe: Probe, graders: GraderFactory, executor: Executor) -> ConversationSpec:
        is_withheld = self._withholds_headers(probe)
        target, prompt = probe.column.target, self.definition.content.prompt(probe.column.prompt_id)
        wanted = merge_parameters(self.params, target.params, prompt.params if prompt else {})
        params = without_unknown(target, wanted)
        return ConversationSpec(
            index=probe.index,
            scenario=probe.scenario,
            content=self.definition.content,
            graders=graders,
            thread_id=probe.thread_id,
            persona=probe.persona,
            persona_headers=probe.persona.headers if probe.persona and not is_withheld else {},
            omitted_parameters=omitted_parameters(wanted.keys() - params.keys(), withholds_headers=is_withheld),
            prompt=prompt,
            params=params,
            variant=probe.column.variant,
            max_turns=self.settings.max_turns,
            repeat=probe.repeat,
            seed=self.seed,
            retry_round=self.retry_round,
            code_runner=self.code_runner,
            tool_executor=self._tool_executor(probe, params, graders, executor),
            profile=self.profile,
        )

    def _tool_executor(
        self, probe: Probe, params: ParameterFields, graders: GraderFactory, executor: Executor
    ) -> ConnectorTools | FunctionTools | None:
        connector_id, functions = params.get("toolConnectorId"), self.options.get("tools")
        connector = connector_id and ConnectorTools(
            connector=self.definition.connectors[connector_id],
            guard=no_guard,
            probe=probe_fields(self.id, probe.index, probe.scenario, probe.column, probe.persona, probe.repeat),
            conversation_id=probe.thread_id,
            timeout_seconds=self.call_timeout_seconds,
            rng=graders.rng,
            allow_private=True,
        )
        if not functions:
            return connector or None
        return FunctionTools(functions, executor, self.call_timeout_seconds, connector or None)

    def _withholds_headers(self, probe: Probe) -> bool:
        """Return whether the persona's headers were made for other connectors. A function of the caller gets them
        all."""
        connector = self.target_of(probe).account.connector
        if probe.persona is None or not probe.persona.has_headers or connector is None:
            return False
        return not probe.persona.sends_headers_to(connector.address)

    @cached_property
    def code_runner(self) -> ProcessCodeRunner | None:
        """Return the one runner of the evaluation, so that all its code shares the processors."""
        return ProcessCodeRunner(self.definition.folder) if self.definition.allow_code else None

    @cached_property
    def graders(self) -> GraderFactory:
        """Return the one factory of the evaluation, so that all its graders share one limiter."""
        return GraderFactory(
            workspace="",
            config=self.grader_config,
            accounts=self.grader_accounts,
            limiter=ConcurrencyLimiter(max(MAX_CONCURRENT_CALLS, self.max_concurrency)),
            call_timeout_seconds=self.call_timeout_seconds,
            max_wait_seconds=MAX_WAIT_SECONDS,
            evaluator_headers=self.options.get("evaluator_headers") or {},
            allow_private=True,  # The caller's own process makes the requests, so no other network needs protection.
        )

    @property
    def sample(self) -> RunSample:
        defined, chosen = self.definition.scenarios, len({id(case.scenario) for case in self.cases})
        if sample_percentage_of(self.options) == RunSpec.sample_percentage:
            return RunSample(chosen, len(defined), self.seed, is_drawn=False)
        all_cases = sum(1 for _ in self.definition.cases(range(len(defined))))
        return drawn_sample(chosen, len(defined), self.seed, self.probe_plan, all_cases)


def plan_evaluation(
    definition: DefinitionSource,
    targets: Targets,
    options: EvaluationOptions,
    accounts: AccountResolver | None = None,
) -> EvaluationPlan:
    """Plan the evaluation. Raises UsageError, naming the option or field, if anything cannot be executed.

    `accounts` are by default those of an execution, which needs keys.
    """
    options = checked_options(options)
    settings = settings_of(options)
    loaded = _load_definition(definition, options)
    accounts = accounts or AccountResolver(options.get("providers") or {})
    resolved_targets = tuple(resolve_targets(targets, loaded, accounts))
    path = resume_path(options)
    saved = read_saved(path) if path else None
    seed = options.get("seed")
    if seed is None:
        seed = saved.seed if saved else randbelow(SEED_COUNT)
    positions = sample(len(loaded.scenarios), sample_percentage_of(options), seed)
    cases = tuple(loaded.cases(positions))
    _check_grader_config(settings.grader_config, loaded, cases)
    max_concurrency = settings.max_concurrency or IN_PROCESS_CONCURRENCY
    _check_files(resolved_targets, loaded, cases)
    profile = load_profile(options.get("profile"), accounts, (each.account for each in resolved_targets))
    plan = EvaluationPlan(
        id=saved.id if saved else new_id("run"),
        definition=loaded,
        probe_plan=_probe_plan(resolved_targets, loaded, len(cases), settings.repeats),
        cases=cases,
        targets=resolved_targets,
        grader_accounts=grader_accounts(loaded, settings.grader_config, profile, accounts, max_concurrency),
        narrator_account=narrator_account(options.get("analysis_model"), accounts),
        seed=seed,
        saved=saved,
        options=options,
        settings=settings,
        profile=profile,
    )
    _check_tools(plan)
    if path and saved:
        check_same_plan(path, saved, plan.digests, plan.probe_plan.total)
    return plan


def _check_tools(plan: EvaluationPlan) -> None:
    """Raise UsageError for connectors that are not the definition's or not of type tools, and functions that are no
    tools."""
    content = plan.definition.content
    layers = [plan.params, *(each.spec.params for each in plan.targets), *(each.params for each in content.prompts)]
    for connector_id in filter(None, (params.get("toolConnectorId") for params in layers)):
        connector = plan.definition.connectors.get(connector_id)
        if connector is None or connector.type is not ConnectorType.TOOLS:
            known = [each.name for each in plan.definition.connectors.values() if each.type is ConnectorType.TOOLS]
            names = ", ".join(known) or "none"
            raise UsageError(f"params.toolConnectorId: unknown connector {connector_id} of type tools; known: {names}")
    offered = {tool["name"] for params in layers for tool in params.get("tools") or ()}
    check_functions(plan.options.get("tools") or {}, offered)


def _load_definition(definition: DefinitionSource, options: EvaluationOptions) -> LoadedDefinition:
    loaded = load_definition(definition, allow_code=options.get("allow_code", False))
    scenarios, personas = options.get("scenarios"), options.get("personas")
    loaded = loaded if scenarios is None else loaded.with_scenarios(scenarios)
    check_code(chain(loaded.content.assertions, *(each.assertions for each in loaded.scenarios)), loaded.folder)
    return loaded if personas is None else loaded.with_personas(personas)


def _check_grader_config(
    grader_config: GraderConfig, loaded: LoadedDefinition, cases: Iterable[EvaluationCase]
) -> None:
    if grader_config.evaluator_url and (problem := url_error(grader_config.evaluator_url)):
        raise UsageError(f"evaluator_url: {problem}")
    for field_name, message in missing_models(grader_config, loaded.content, (case.scenario for case in cases)):
        raise UsageError(f"{_OPTIONS[field_name]}: {message}")


def _probe_plan(targets: tuple[ResolvedTarget, ...], loaded: LoadedDefinition, cases: int, repeats: int) -> Plan:
    names = [each.spec.id for each in targets]
    for position, (name, target) in enumerate(zip(names, targets, strict=True)):
        if name in names[:position]:
            hint = (
                "; functions are named after their __name__"
                if target.agent
                else ": give one of them a label, in `targets`"
            )
            raise UsageError(f"targets.{position}: {name} is listed twice{hint}")
        for error in parameter_errors(target.spec, f"targets.{position}.params"):
            raise UsageError(f"{error.field}: {error.message}")
    prompt_ids = tuple(prompt.id for prompt in loaded.content.prompts)
    labels = prompt_labels(loaded.content.prompts)
    plan = Plan(tuple(each.spec for each in targets), (cases,), repeats, prompt_ids, labels)
    if not 0 < plan.total <= MAX_PROBES:
        raise UsageError(f"targets: the evaluation has {plan.total:,} probes; expected 1 to {MAX_PROBES:,}")
    return plan


def _check_files(
    targets: tuple[ResolvedTarget, ...], loaded: LoadedDefinition, cases: Iterable[EvaluationCase]
) -> None:
    """Raise UsageError if a target cannot be sent an image or a PDF of the messages. Functions read notes instead."""
    largest = largest_files_sent(loaded.content, (case.scenario for case in cases))
    for position, target in enumerate(targets if largest else ()):
        connector = target.account.connector
        if connector is not None:
            problem = agent_file_error(connector.type, largest)
        else:
            problem = None if target.agent else file_error(target.spec.model, largest)
        if problem:
            raise UsageError(f"targets.{position}: {target.spec.model} {problem}")
