"""Definition files from another tool's evaluation, without a stack: also for code, which a stack does not run."""

import os
from collections.abc import Iterator
from pathlib import Path

from cupel.definition_texts import scenario_fields, to_yaml, without_empty
from cupel.errors import UsageError
from cupel_core.domain.definitions.drafts import ConnectorDraft, DefinitionDraft, ImportedSuite


def code_folder(config: Path, output: Path) -> str:
    """The path of the configuration's folder from where the definition files are: empty, or one that ends with `/`."""
    path = os.path.relpath(config.parent.resolve(), output.parent.resolve())
    return "" if path == "." else f"{Path(path).as_posix()}/"


def output_paths(suite: ImportedSuite, output: Path) -> list[Path]:
    """A file for each definition: `a.yaml`, `a-2.yaml`, … UsageError if one exists."""
    paths = [output, *(output.with_stem(f"{output.stem}-{number}") for number in range(2, len(suite.drafts) + 1))]
    for path in paths:
        if path.exists():
            raise UsageError(f"--output: {path} exists already")
    return paths


def write_definitions(suite: ImportedSuite, paths: list[Path]) -> None:
    for draft, path in zip(suite.drafts, paths, strict=True):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(_text(draft, suite.connectors))
        except OSError as error:
            raise UsageError(f"--output: {path}: {error.strerror or error}") from error


def has_code(suite: ImportedSuite) -> bool:
    """Whether its assertions run code, for which `--allow-code` is needed."""
    from cupel.in_process.code_runner import codes_of

    return any(True for draft in suite.drafts for each in draft.scenarios for _ in codes_of(each.assertions))


def _text(draft: DefinitionDraft, connectors: tuple[ConnectorDraft, ...]) -> str:
    agents = {"connectors": [without_empty(each.to_json()) for each in connectors]} if connectors else {}
    scenarios = [scenario_fields(each) for each in _scenarios(draft)]
    fields = {"name": draft.name, "tags": list(draft.tags), "content": draft.content}
    return to_yaml({**fields, **agents, "scenarios": scenarios})


def _scenarios(draft: DefinitionDraft) -> Iterator[dict[str, object]]:
    for scenario in draft.scenarios:
        yield {name: value for name, value in scenario.to_json().items() if value not in ("", {}, [])}
