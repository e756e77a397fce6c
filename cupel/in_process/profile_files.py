"""The operation profile of an evaluation: a file, or a mapping with its fields, checked as in a stack."""

from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from cupel.definition_rules import shape_problems
from cupel.errors import RefusedField, UsageError
from cupel.in_process.accounts import AccountResolver
from cupel.source_files import SourceFile
from cupel_core.domain.pipeline.profiles import Pipeline
from cupel_core.domain.pipeline.run_profile import RunProfile
from cupel_core.domain.resources.connectors import ConnectorType
from cupel_core.providers.account import Account

type ProfileSource = str | Path | Mapping[str, Any]
_OPTION = "profile"


def load_profile(
    source: ProfileSource | None, accounts: AccountResolver, targets: Iterable[Account]
) -> RunProfile | None:
    """None without one, and for one that is not enabled. UsageError names every invalid field."""
    if source is None:
        return None
    # The models of the contract take a while to import.
    from cupel_core.contract.profiles import CreateProfile
    from cupel_core.resources.profile_validation import profile_issues

    file = SourceFile(_OPTION, dict(source)) if isinstance(source, Mapping) else _read(Path(source))
    body = {"name": Path(file.name).stem[:200], **file.mapping()}
    if problems := [_inside(each) for each in shape_problems(CreateProfile, body, _OPTION)]:
        raise file.refusal(problems)
    document = CreateProfile.model_validate(body)
    if issues := profile_issues("", document.content(), partial(_account_of, accounts)):
        raise file.refusal(RefusedField(*issue) for issue in issues)
    if not document.enabled:
        return None
    profile = RunProfile(document.name, document.name, 1, Pipeline.from_json(document.content()))
    if profile.changes_prompt and any(_has_thread(account) for account in targets):
        message = "its operations change the prompt, which a LangGraph agent does not read: it keeps its own thread"
        raise UsageError(f"{_OPTION}: {message}")
    return profile


def _read(path: Path) -> SourceFile:
    try:
        return SourceFile.read(path)
    except UsageError as error:
        raise UsageError(f"{_OPTION}: {error}") from None


def _inside(problem: RefusedField) -> RefusedField:
    return RefusedField(problem.field.removeprefix(f"{_OPTION}."), problem.message)


def _account_of(accounts: AccountResolver, provider: str) -> Account:
    return accounts.for_model(f"{provider}/*", _OPTION)


def _has_thread(account: Account) -> bool:
    return account.connector is not None and account.connector.type is ConnectorType.LANGGRAPH
