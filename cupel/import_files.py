"""Definition files from another tool's evaluation, without a stack: also for code, which a stack does not run."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from cupel.definition_texts import scenario_fields, to_yaml, without_empty
from cupel.errors import CupelError, UsageError
from cupel.whole_files import replace_file
from cupel_core.domain.definitions.drafts import DefinitionDraft, ImportedSuite


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


def write_definitions(suite: ImportedSuite, paths: list[Path], media: Mapping[str, str]) -> None:
    """`media` are the paths of images and PDFs from there, by id; others are in the suite's data URLs."""
    for draft, path in zip(suite.drafts, paths, strict=True):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, _text(draft, suite, media))
        except OSError as error:
            raise CupelError(f"{path} was not written: {error.strerror or error}") from error


def has_code(suite: ImportedSuite) -> bool:
    """Whether its assertions run code, for which `--allow-code` is needed."""
    from cupel.in_process.code_runner import codes_of

    return any(True for draft in suite.drafts for each in draft.scenarios for _ in codes_of(each.assertions))


def _text(draft: DefinitionDraft, suite: ImportedSuite, media: Mapping[str, str]) -> str:
    agents = {"connectors": [without_empty(each.to_json()) for each in suite.connectors]} if suite.connectors else {}
    scenarios = [_with_media(scenario_fields(each), suite, media) for each in _scenarios(draft)]
    fields = {"name": draft.name, "tags": list(draft.tags), "content": draft.content}
    return to_yaml({**fields, **agents, "scenarios": scenarios})


def _with_media(value: Any, suite: ImportedSuite, media: Mapping[str, str]) -> Any:
    """Messages as in a definition file: with paths or data URLs in place of ids."""
    if isinstance(value, list):
        return [_with_media(each, suite, media) for each in value]
    if not isinstance(value, dict):
        return value
    if "fileId" not in value or "type" not in value:
        return {name: _with_media(each, suite, media) for name, each in value.items()}
    own = {name: value[name] for name in ("name", "detail") if name in value}
    if value["fileId"] in suite.data_urls:
        return {"type": value["type"], "dataUrl": suite.data_urls[value["fileId"]], **own}
    return {value["type"]: media[value["fileId"]], **own}


def _scenarios(draft: DefinitionDraft) -> Iterator[dict[str, object]]:
    for scenario in draft.scenarios:
        yield {name: value for name, value in scenario.to_json().items() if value not in ("", {}, [])}
