"""Finds access to the models that are called besides the targets: judges, simulated users, operations and so on."""

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from cupel.errors import UsageError
from cupel.in_process.accounts import AccountResolver
from cupel.in_process.definition import LoadedDefinition
from cupel_core.domain.pipeline.run_profile import RunProfile
from cupel_core.domain.scoring.assertion_rules import ASSERTION_KINDS
from cupel_core.domain.scoring.assertions import flatten
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers import simulated_model_error
from cupel_core.providers.account import Account

_SIMULATED = "sim"


class _GraderModel(NamedTuple):
    model: str
    field: str
    is_embedder: bool = False
    """Simulated embeddings may have any name."""


def grader_accounts(
    loaded: LoadedDefinition,
    config: GraderConfig,
    profile: RunProfile | None,
    accounts: AccountResolver,
    max_concurrency: int,
) -> dict[str, Account]:
    """Return accounts by provider, each with at least as many parallel requests as there are conversations.

    Raises UsageError, naming the field, for a model that cannot be called.
    """
    found = dict[str, Account]()
    operations = sorted(profile.models) if profile is not None else ()
    for each in (*_models(loaded, config), *(_GraderModel(model, "profile") for model in operations)):
        account = accounts.for_model(each.model, each.field)
        if not each.is_embedder and (message := simulated_model_error(each.model)):
            raise UsageError(f"{each.field}: {message}")
        found[account.provider] = replace(
            account, max_parallel_requests=max(account.max_parallel_requests, max_concurrency)
        )
    return found


def narrator_account(model: str | None, accounts: AccountResolver) -> Account | None:
    if model is None:
        return None
    account = accounts.for_model(model, "analysis_model")
    if message := simulated_model_error(model):
        raise UsageError(f"analysis_model: {message}")
    return None if account.provider == _SIMULATED else account


def _models(loaded: LoadedDefinition, config: GraderConfig) -> Iterator[_GraderModel]:
    decision = loaded.content.decision
    configured = {
        "judge_model": config.judge_model,
        "persona_model": config.persona_model,
        "content.decision.judgeModel": decision and decision.judge_model,
    }
    yield from (_GraderModel(model, field) for field, model in configured.items() if model)
    if config.embedding_model:
        yield _GraderModel(config.embedding_model, "embedding_model", is_embedder=True)
    yield from sorted(set(_assertion_models(loaded)))


def _assertion_models(loaded: LoadedDefinition) -> Iterator[_GraderModel]:
    for assertions in (loaded.content.assertions, *(scenario.assertions for scenario in loaded.scenarios)):
        for each in flatten(tuple(assertions)):
            if each.provider is not None:
                kind = ASSERTION_KINDS.get(each.kind)
                is_judge = kind is not None and kind.needs_judge
                yield _GraderModel(each.provider, "assertions", is_embedder=not is_judge)
