"""Tests by the providers that they are run with: all of the configuration, some of them, or one of their own.

A run asks each of its targets all of its scenarios, so tests with other providers are a definition of their own. So
are the tests of providers that transform their answers differently, because assertions have the transforms.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace

from cupel_core.base.deferred import dataclass
from cupel_core.domain.definitions.drafts import ImportReport
from cupel_core.interop.imports.files import FileSource
from cupel_core.interop.imports.json_documents import to_json
from cupel_core.interop.imports.promptfoo.providers import PromptfooProvider, read_provider
from cupel_core.interop.imports.promptfoo.tests import PromptfooTest

_OWN = "becomes a definition of its own, for the tests with the same provider"


@dataclass
class ProviderGroup:
    """`name` says which providers these are; None for all of the configuration."""

    name: str | None
    providers: Sequence[PromptfooProvider]
    transform: str | None = None
    tests: list[PromptfooTest] = field(default_factory=list)


def group_by_providers(
    tests: Sequence[PromptfooTest],
    providers: Sequence[PromptfooProvider],
    files: FileSource,
    report: ImportReport,
    azure_address: str,
) -> list[ProviderGroup]:
    """Group tests by the providers that they ask, in the order of each group's first test.

    Tests whose providers cannot be called are reported and left out.
    """
    groups: dict[str, list[ProviderGroup]] = {}
    for test in tests:
        own = test.data.get("provider")
        allowed = _allowed(providers, test.data.get("providers"))
        key = to_json(allowed if own is None else own)
        if key not in groups:
            found = _group(providers, allowed) if own is None else _own_group(test, own, files, report, azure_address)
            groups[key] = list(_by_transform(found))
        for group in groups[key]:
            group.tests.append(replace(test, provider_transform=group.transform))
    return [group for same in groups.values() for group in same if _can_be_called(group, report)]


def _allowed(providers: Sequence[PromptfooProvider], references: object) -> list[int]:
    """The numbers of the configuration's providers that are allowed; all if nothing is said about it."""
    numbers = range(len(providers))
    if not isinstance(references, list):
        return list(numbers)
    return [number for number in numbers if any(providers[number].matches(str(each)) for each in references)]


def _group(providers: Sequence[PromptfooProvider], allowed: Sequence[int]) -> ProviderGroup:
    found = [providers[number] for number in allowed]
    return ProviderGroup(None if len(found) == len(providers) else _names(found), found)


def _own_group(
    test: PromptfooTest, own: object, files: FileSource, report: ImportReport, azure_address: str
) -> ProviderGroup:
    where = f"{test.where}.provider"
    report.note_change(where, str(own.get("id") if isinstance(own, Mapping) else own), _OWN)
    found = read_provider(own, where, files, report, azure_address)
    return ProviderGroup(_names(found), found)


def _by_transform(group: ProviderGroup) -> Iterator[ProviderGroup]:
    """Yield the group, or one for each transform of its providers, if they have several."""
    asked = [provider for provider in group.providers if provider.is_callable]
    transforms = list(dict.fromkeys(provider.transform for provider in asked))
    if len(transforms) < 2:
        yield replace(group, transform=next(iter(transforms), None))
        return
    for transform in transforms:
        alike = [provider for provider in asked if provider.transform == transform]
        yield ProviderGroup(_names(alike), alike, transform)


def _names(providers: Sequence[PromptfooProvider]) -> str:
    return ", ".join(str(provider.label or provider.name) for provider in providers)


def _can_be_called(group: ProviderGroup, report: ImportReport) -> bool:
    """Return whether the group's tests can be asked; report them if not.

    None of the configuration's own providers needs to be callable, because a run names its targets.
    """
    if group.name is None or any(each.is_callable for each in group.providers):
        return True
    for test in group.tests:
        report.skip(test.where, test.title, "none of its providers can be called")
    return False
