"""A check of whether a workspace can call the models that definitions, scenarios and rescores name themselves.

They are called besides those of a run's configuration. Without this check, every result that needs such a model would
be an error.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import chain
from typing import NamedTuple

from cupel_core.accounts.keys import ModelChecks
from cupel_core.base.errors import FieldError, Invalid
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.required_models import ModelUse, content_models, scenario_models
from cupel_core.domain.definitions.scenarios import Manifest
from cupel_core.store import scenarios

MAX_ERRORS = 20
"""A response reports at most this many errors: a definition may name as many models as it has assertions."""


class UncallableModel(NamedTuple):
    use: ModelUse
    why: str

    @property
    def message(self) -> str:
        return f"{self.use.used_by} that calls {self.use.model}: {self.why}"


def check_named_models(
    checks: ModelChecks, content: Content, manifest: Manifest, positions: Sequence[int], field: str = "definitionId"
) -> None:
    """Raise Invalid if the definition or its scenarios at these positions name models that cannot be called. The errors
    name `field`. The account of each provider is read once, and only the pages with such scenarios."""
    found = find_uncallable(checks, content_models(content), manifest, positions)
    if found:
        raise Invalid.fields(FieldError(field, each.message) for each in found)


def find_uncallable(
    checks: ModelChecks, uses: Iterable[ModelUse], manifest: Manifest, positions: Sequence[int]
) -> list[UncallableModel]:
    """Return each uncallable model of these uses, and of the scenarios at these positions, with its first use."""
    find_error = _find_error(checks)
    named = scenarios.iterate_naming(manifest, positions, lambda model: find_error(model, True) is not None)
    return _first_of_each(chain(uses, chain.from_iterable(map(scenario_models, named))), find_error)


def list_uncallable(workspace: str, uses: Iterable[ModelUse]) -> list[UncallableModel]:
    return _first_of_each(uses, _find_error(ModelChecks(workspace)))


def _first_of_each(uses: Iterable[ModelUse], find_error: Callable[[str, bool], str | None]) -> list[UncallableModel]:
    found: dict[str, UncallableModel] = {}
    for use in uses:
        if use.model not in found and (why := find_error(use.model, use.answers)):
            found[use.model] = UncallableModel(use, why)
            if len(found) == MAX_ERRORS:
                break
    return list(found.values())


def _find_error(checks: ModelChecks) -> Callable[[str, bool], str | None]:
    @cache
    def find_error(model: str, answers: bool) -> str | None:
        return checks.model_error(model) if answers else checks.account_error(model)

    return find_error
