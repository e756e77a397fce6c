"""Digests of a planned evaluation, by which a continuation shows that it is of the same one."""

import hashlib
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cupel_core.domain.resources.personas import Persona
from cupel_core.providers.account import Account

if TYPE_CHECKING:
    from cupel.in_process.plan import EvaluationPlan


def plan_digests(plan: "EvaluationPlan") -> dict[str, str]:
    """By part. Neither keys nor the values of headers are part of any; a function is represented by its name."""
    accounts = {name: account.base_url for name, account in plan.grader_accounts.items()}
    options: dict[str, Any] = {"params": plan.params, "max_turns": plan.options.get("max_turns")}
    if plan.profile is not None:
        options["profile"] = asdict(plan.profile.pipeline)
    return {
        "definition": digest([asdict(plan.definition.content), [_case(*case) for case in plan.cases]]),
        "targets": digest([[target.spec.to_json(), _account(target.account)] for target in plan.targets]),
        "configuration": digest([asdict(plan.grader_config), accounts, options, plan.probe_plan.repeats, plan.seed]),
    }


def _case(scenario: Any, persona: Persona | None) -> list[Any]:
    return [asdict(scenario), persona and persona.to_json()]


def _account(account: Account) -> list[Any]:
    return [account.base_url, account.connector and account.connector.to_json()]


def digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=_plain).encode()).hexdigest()


def _plain(value: object) -> object:
    return sorted(value, key=str) if isinstance(value, set | frozenset) else str(value)
