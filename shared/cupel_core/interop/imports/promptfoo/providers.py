"""Converts the providers of a configuration to Cupel's models, and groups the tests by their providers.

A run asks each of its targets all of its scenarios, so tests with other providers become a separate definition. So do
tests of providers that transform their answers differently, because assertions have the transforms.
"""

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.definitions.drafts import (
    ConnectorDraft,
    ImportReport,
)
from cupel_core.domain.text.control_characters import single_line
from cupel_core.interop.imports.files import FileSource, NotImportable, read_file, resolve_path
from cupel_core.interop.imports.json_documents import InvalidDocument, to_json
from cupel_core.interop.imports.promptfoo.configuration_keys import PROVIDER
from cupel_core.interop.imports.promptfoo.http_providers import is_http, to_connector
from cupel_core.interop.imports.promptfoo.key_reports import report_keys
from cupel_core.interop.imports.promptfoo.parameters import read_parameters
from cupel_core.interop.imports.promptfoo.provider_services import Conversion, azure_address, convert
from cupel_core.interop.imports.promptfoo.tests import PromptfooTest
from cupel_core.interop.imports.promptfoo.yaml_documents import from_yaml
from cupel_core.providers import is_own_server

_IN_FILE = re.compile(r"file://.*\.(?:ya?ml|json)")
_ADDRESS_OPTIONS = frozenset({"apiBaseUrl", "apiHost"})
"""Options that are part of the model's name; see `provider_services`."""
_NO_FURTHER_FIELDS = "only a server of your own takes fields that are no parameters of a target"
_OWN = "becomes a definition of its own, for the tests with the same provider"


@dataclass(frozen=True)
class PromptfooProvider:
    """Describes a provider. `model` is None if no Cupel model corresponds; `prompts` is set if it applies to some
    only."""

    name: str
    model: str | None
    label: str | None
    config: Mapping[str, Any]
    prompts: tuple[str, ...] | None = None
    connector: ConnectorDraft | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    transform: str | None = None

    @property
    def is_callable(self) -> bool:
        return bool(self.model or self.connector)

    def matches(self, reference: str) -> bool:
        names = [self.name, *([str(self.label)] if self.label else [])]
        if reference.endswith("*") and any(name.startswith(reference[:-1]) for name in names):
            return True
        return any(name == reference or name.startswith(f"{reference}:") for name in names)


def read_providers(
    config: Mapping[str, Any], files: FileSource, report: ImportReport, azure_address: str = ""
) -> list[PromptfooProvider]:
    """Return the providers of a configuration and report unsupported ones. Raises `InvalidDocument`."""
    return [
        provider
        for number, entry in enumerate(_entries(config))
        for provider in read_provider(entry, f"providers.{number}", files, report, azure_address)
    ]


def first_azure_address(config: Mapping[str, Any]) -> str:
    written = (_as_mapping(entry) for entry in _entries(config))
    return next(filter(None, (azure_address(entry) for entry in written if entry is not None)), "")


def _entries(config: Mapping[str, Any]) -> list[Any]:
    value = config.get("providers", config.get("targets", []))
    entries = [value] if isinstance(value, str | Mapping) else value or []
    if not isinstance(entries, list):
        raise InvalidDocument("providers must be a list")
    return entries


def read_provider(
    entry: Any, where: str, files: FileSource, report: ImportReport, azure_address: str = ""
) -> list[PromptfooProvider]:
    """Return the provider, or those of the file that `file://providers.yaml` names."""
    reference = entry.get("id") if isinstance(entry, Mapping) else entry
    if not isinstance(reference, str) or not _IN_FILE.fullmatch(reference):
        return [provider for provider in [_provider(entry, where, files, report, azure_address)] if provider]
    try:
        path = resolve_path(reference)
        content = from_yaml(read_file(files, path), path)
    except (NotImportable, InvalidDocument) as error:
        report.skip(where, reference, str(error))
        return []
    listed = content if isinstance(content, list) else [content]
    found = [_provider(each, f"{path}.{number}", files, report, azure_address) for number, each in enumerate(listed)]
    return [provider for provider in found if provider]


def _as_mapping(entry: Any) -> Mapping[str, Any] | None:
    if isinstance(entry, Mapping) and "id" not in entry and len(entry) == 1:  # The old format is {id: options}.
        ((identifier, options),) = entry.items()
        return {"id": identifier, **(options if isinstance(options, Mapping) else {})}
    if isinstance(entry, str):
        return {"id": entry}
    return entry if isinstance(entry, Mapping) else None


def _provider(
    written: Any, where: str, files: FileSource, report: ImportReport, azure_address: str
) -> PromptfooProvider | None:
    entry = _as_mapping(written) or {}
    identifier = entry.get("id")
    if not isinstance(identifier, str):
        report.skip(where, "a provider without an id", "its model is unknown")
        return None
    written_config = entry.get("config")
    config = written_config if isinstance(written_config, Mapping) else {}
    written_transform = entry.get("transform")
    transform = written_transform if isinstance(written_transform, str) else None
    if is_http(identifier):
        connector = _connector(identifier, entry, config, where, files, report)
        return PromptfooProvider(identifier, None, entry.get("label"), config, connector=connector, transform=transform)
    conversion = convert(identifier, config, azure_address=azure_address)
    params = _report_provider(where, identifier, conversion, config, entry, files, report)
    prompts = entry.get("prompts")
    allowed = tuple(map(str, prompts)) if isinstance(prompts, list) else None
    label, model = entry.get("label"), conversion.model
    return PromptfooProvider(identifier, model, label, config, allowed, params=params, transform=transform)


def _connector(
    identifier: str,
    entry: Mapping[str, Any],
    config: Mapping[str, Any],
    where: str,
    files: FileSource,
    report: ImportReport,
) -> ConnectorDraft | None:
    try:
        connector = to_connector(identifier, entry.get("label"), config, where, files, report)
    except NotImportable as error:
        report.skip(where, identifier, str(error))
        return None
    report_keys(PROVIDER, entry, where, report)
    if entry.get("prompts"):
        report.skip(f"{where}.prompts", "prompts", "a connector is asked with every prompt")
    report.count_imported("connectors")
    report.note_change(where, identifier, f"becomes the connector {connector.name}; {{{{prompt}}}} is the last message")
    return connector


def _report_provider(
    where: str,
    identifier: str,
    conversion: Conversion,
    config: Mapping[str, Any],
    entry: Mapping[str, Any],
    files: FileSource,
    report: ImportReport,
) -> Mapping[str, Any]:
    model, note = conversion
    if model is None:
        report.skip(where, identifier, note)
        return {}
    report.count_imported("models")
    if model != identifier:
        report.note_change(where, identifier, "; ".join(filter(None, (f"becomes the model {model}", note))))
    options = {name: each for name, each in config.items() if name not in _ADDRESS_OPTIONS or not isinstance(each, str)}
    params, problems = read_parameters(options, files)
    if "extraBody" in params and not is_own_server(model.partition("/")[0]):
        problems += [(name, _NO_FURTHER_FIELDS) for name in params.pop("extraBody")]
    for name, why in sorted(problems):
        report.skip(f"{where}.config.{name}", name, why)
    report_keys(PROVIDER, entry, where, report)
    return params


def distinct(providers: Iterable[PromptfooProvider]) -> list[PromptfooProvider]:
    """Return equal providers once; they cannot be hashed because they have mappings."""
    seen: list[PromptfooProvider] = []
    for provider in providers:
        if provider not in seen:
            seen.append(provider)
    return seen


def common_temperature(providers: Iterable[PromptfooProvider]) -> float | None:
    temperatures = {provider.params.get("temperature") for provider in providers if provider.model}
    return temperatures.pop() if len(temperatures) == 1 else None


def targets_of(providers: Iterable[PromptfooProvider]) -> tuple[dict[str, Any], ...]:
    """Return the targets of a run, as in a request. Those of one model have different labels; equal ones are one
    target."""
    seen: list[dict[str, Any]] = []
    targets: list[dict[str, Any]] = []
    labels: Counter[str] = Counter()
    for provider in providers:
        if provider.model is None:
            continue
        label = single_line(str(provider.label))[:100] if provider.label else None
        own = {"params": dict(provider.params)} if provider.params else {}
        target = {"model": provider.model, **({"label": label} if label else {}), **own}
        if target in seen:
            continue
        seen.append(target)
        name = label or provider.model
        labels[name] += 1
        targets.append(target if labels[name] == 1 else {**target, "label": f"{name[:90]} ({labels[name]})"})
    return tuple(targets)


@dataclass
class ProviderGroup:
    """Groups tests by their providers; `name` describes these, and is None for all of the configuration."""

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
    """Return whether the group's tests can be asked, and report them if not.

    None of the configuration's own providers needs to be callable, because a run names its targets.
    """
    if group.name is None or any(each.is_callable for each in group.providers):
        return True
    for test in group.tests:
        report.skip(test.where, test.title, "none of its providers can be called")
    return False


def connectors_of(providers: Iterable[PromptfooProvider]) -> tuple[ConnectorDraft, ...]:
    connectors: list[ConnectorDraft] = []
    seen: list[ConnectorDraft] = []
    names: set[str] = set()
    for connector in (provider.connector for provider in providers):
        if connector is not None and connector not in seen:
            seen.append(connector)
            name = _free_name(connector.name, names)
            names.add(name.casefold())
            connectors.append(replace(connector, name=name))
    return tuple(connectors)


def _free_name(name: str, taken: Collection[str]) -> str:
    """Return the name, numbered if it is taken: names of connectors in a workspace must differ, ignoring case."""
    numbered = (name if count == 1 else f"{name[:190]} {count}" for count in itertools.count(1))
    return next(each for each in numbered if each.casefold() not in taken)
