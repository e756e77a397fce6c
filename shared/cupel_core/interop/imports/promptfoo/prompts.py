"""Reads the prompts of a configuration (text, chats in JSON or YAML, files) and renders them to messages."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import field, replace
from typing import Any

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.drafts import ImportReport
from cupel_core.interop.imports.files import SCHEME, FileSource, NotImportable, matching_paths, read_file
from cupel_core.interop.imports.json_documents import InvalidDocument, from_json, to_json
from cupel_core.interop.imports.media import ImportedMedia, check_texts, read_content
from cupel_core.interop.imports.promptfoo.configuration_keys import PROMPT
from cupel_core.interop.imports.promptfoo.key_reports import report_keys
from cupel_core.interop.imports.promptfoo.parameters import read_parameters
from cupel_core.interop.imports.promptfoo.tabular_tests import read_records
from cupel_core.interop.imports.promptfoo.templates import escape_unclosed_tags, render
from cupel_core.interop.imports.promptfoo.variables import CODE_SUFFIXES, is_code, render_variables
from cupel_core.interop.imports.promptfoo.yaml_documents import from_yaml

_CODE_FILES = (*CODE_SUFFIXES, ".sh", ".bash", ".exe", ".bat", ".cmd", ".ps1", ".pl")
_PATH = re.compile(r"[\w./-]+\.\w+(:\w+)?")
_REMOTE = ("exec:", "portkey://", "langfuse://", "helicone://", "package:", "http://", "https://")
_ROLES = {"developer": MessageRole.SYSTEM, "model": MessageRole.ASSISTANT} | {
    str(role): role for role in MessageRole if role is not MessageRole.TOOL
}


@dataclass(frozen=True)
class PromptfooPrompt:
    raw: str
    label: str
    id: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    """The target gets these parameters with this prompt; the names are those of the API."""

    def matches(self, reference: str) -> bool:
        names = [self.label, *([self.id] if self.id else [])]
        if reference.endswith("*") and any(name.startswith(reference[:-1]) for name in names):
            return True
        return any(name == reference or name.startswith(f"{reference}:") for name in names)


def read_prompts(config: Mapping[str, Any], files: FileSource, report: ImportReport) -> list[PromptfooPrompt]:
    """Return the prompts of a configuration and report unreadable ones. Raises `InvalidDocument`."""
    entries = config.get("prompts", [])
    if isinstance(entries, str):
        entries = [entries]
    elif isinstance(entries, Mapping):  # The old format maps texts to labels.
        entries = [{"raw": raw, "label": label} for raw, label in entries.items()]
    if not isinstance(entries or [], list):
        raise InvalidDocument("prompts must be a list")
    prompts: list[PromptfooPrompt] = []
    for number, entry in enumerate(entries or ["{{prompt}}"]):
        try:
            params = _params(entry, f"prompts.{number}", files, report)
            prompts.extend(replace(prompt, params=params) for prompt in _read_entry(entry, files))
        except (NotImportable, InvalidDocument) as error:
            report.skip(f"prompts.{number}", _truncated(entry), str(error))
    return _distinct(prompts, report)


def _distinct(prompts: list[PromptfooPrompt], report: ImportReport) -> list[PromptfooPrompt]:
    """Return equal prompts once, as promptfoo does; they cannot be hashed because they have mappings."""
    seen: list[PromptfooPrompt] = []
    for prompt in prompts:
        if prompt in seen:
            report.note_change("prompts", prompt.label[:80], "an equal prompt is asked once")
        else:
            seen.append(prompt)
    return seen


def _params(entry: Any, where: str, files: FileSource, report: ImportReport) -> dict[str, Any]:
    if not isinstance(entry, Mapping):
        return {}
    report_keys(PROMPT, entry, where, report)
    config = entry.get("config")
    params, problems = read_parameters(config, files) if isinstance(config, Mapping) else ({}, [])
    if "extraBody" in params:
        problems += [(name, "write it in the `config` of a provider") for name in params.pop("extraBody")]
    for name, why in sorted(problems):
        report.skip(f"{where}.config.{name}", name, why)
    return params


def _read_entry(entry: Any, files: FileSource) -> Iterator[PromptfooPrompt]:
    if isinstance(entry, list):
        entry = {"raw": to_json(entry)}
    if isinstance(entry, str):
        entry = {"raw": entry}
    if not isinstance(entry, Mapping) or "function" in entry:
        raise NotImportable("a prompt must be a text, a chat or a file")
    raw = entry.get("raw", entry.get("id"))
    label = entry.get("label") or entry.get("display")
    if isinstance(raw, list):
        raw = to_json(raw)
    if not isinstance(raw, str):
        raise NotImportable("a prompt must have a text in raw or id")
    if raw.startswith(_REMOTE):
        raise NotImportable("prompts from programs and other services are not fetched")
    if not _is_file(raw, files):
        yield PromptfooPrompt(raw, str(label or raw), entry.get("id"))
        return
    for path in matching_paths(files, raw):
        if is_code(path, _CODE_FILES):
            raise NotImportable(f"{path} is code, which is not executed")
        yield from _from_file(path, read_file(files, path), str(label) if label else None)


def _is_file(raw: str, files: FileSource) -> bool:
    """Return whether a prompt is a file: it starts with `file://`, looks like code, or a file of that name exists."""
    if raw.startswith(SCHEME) or (_PATH.fullmatch(raw) and is_code(raw, _CODE_FILES)):
        return True
    try:
        return (
            "\n" not in raw
            and len(raw) < 500
            and any(files.read(path) is not None for path in matching_paths(files, raw))
        )
    except NotImportable:
        return False


def _from_file(path: str, text: str, label: str | None) -> Iterator[PromptfooPrompt]:
    name = path.rpartition("/")[2]
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    match suffix:
        case ".txt":
            parts = [part.strip() for part in _split_at_separators(text)]
            yield from (PromptfooPrompt(part, f"{label or path}: {part}") for part in parts if part)
        case ".json":
            yield PromptfooPrompt(_json_prompt(text, path), label or path)
        case ".yaml" | ".yml":
            yield PromptfooPrompt(to_json(from_yaml(text, path)), label or path)
        case ".jsonl":
            lines = [line for line in text.splitlines() if line]
            yield from (
                PromptfooPrompt(line, label or path if len(lines) == 1 else f"{label or path}: {line}")
                for line in lines
            )
        case ".csv":
            yield from _from_csv(text, label)
        case _:
            yield PromptfooPrompt(text, label or path)


def _json_prompt(text: str, path: str) -> str:
    """Return the template as it is if it is not JSON before it is rendered: it may have loops and unquoted values."""
    try:
        return to_json(from_json(text, path))
    except InvalidDocument:
        if "{{" in text or "{%" in text:
            return text
        raise


def _split_at_separators(text: str) -> Iterator[str]:
    part: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.strip() == "---":
            yield "\n".join(part)
            part = []
        else:
            part.append(line)
    yield "\n".join(part)


def _from_csv(text: str, label: str | None) -> Iterator[PromptfooPrompt]:
    raws = _csv_prompts(text)
    if raws is None:
        lines = [line for line in text.splitlines() if line.strip()]
        raws = [(line, None) for line in lines[lines[:1] == ["prompt"] :]]
    for number, (raw, row_label) in enumerate(raws, start=1):
        yield PromptfooPrompt(raw, row_label or label or f"Prompt {number} - {raw}")


def _csv_prompts(text: str) -> list[tuple[str, str | None]] | None:
    """Return the text and label of each row, or None if the text is no table with a column `prompt`."""
    if "," not in text:
        return None
    try:
        header, *rows = [[cell.strip() for cell in record.cells] for record in read_records(text, "it")]
    except (InvalidDocument, ValueError):
        return None
    if "prompt" not in header or any(len(cells) != len(header) for cells in rows):
        return None
    prompts = [dict(zip(header, cells, strict=True)) for cells in rows]
    return [(row["prompt"], row.get("label")) for row in prompts if row["prompt"]]


def render_messages(raw: str, variables: Mapping[str, Any], media: ImportedMedia) -> tuple[Message, ...]:
    """Return the messages of a prompt with these variables. Raises `RenderError`, `InvalidDocument` or
    `NotImportable`."""
    text = render_prompt(raw, variables)
    chat = read_chat(text) or [{"role": "user", "content": text}]
    return tuple(check_texts(_message(message, media)) for message in chat)


def read_chat(text: str) -> list[Mapping[str, Any]] | None:
    if not text.lstrip().startswith(("[", "- role:", "{")):
        return None
    try:
        chat = from_yaml(text, "the prompt")
    except InvalidDocument:
        return None
    if isinstance(chat, Mapping):
        chat = _google_chat(chat)
    is_chat = isinstance(chat, list) and all(isinstance(each, Mapping) and "role" in each for each in chat)
    return chat or None if is_chat else None


def _google_chat(request: Mapping[str, Any]) -> list[Any] | None:
    contents, system = request.get("contents"), request.get("system_instruction", request.get("systemInstruction"))
    if not isinstance(contents, list):
        return None
    instruction = [{**system, "role": "system"}] if isinstance(system, Mapping) else []
    return [*instruction, *({"role": "user", **each} if isinstance(each, Mapping) else each for each in contents)]


def render_prompt(raw: str, variables: Mapping[str, Any]) -> str:
    try:
        parsed = from_json(raw, "the prompt")
    except InvalidDocument:
        return render(escape_unclosed_tags(raw), render_variables(variables))
    return to_json(_rendered(parsed, variables), indent=2)


def _rendered(value: Any, variables: Mapping[str, Any]) -> Any:
    match value:
        case str():
            return render(value, variables)
        case list():
            return [_rendered(item, variables) for item in value]
        case dict():
            return {key: _rendered(item, variables) for key, item in value.items()}
    return value


def _message(data: Mapping[str, Any], media: ImportedMedia) -> Message:
    role = _ROLES.get(str(data["role"]))
    if role is None:
        raise InvalidDocument(f"the message role {data['role']} is not supported")
    content = data["content"] if "content" in data else _google_parts(data.get("parts"))
    if isinstance(content, list):
        message = read_content(content, role, media)
        if message.parts:
            return message
        content = message.content
    if not isinstance(content, str):
        raise InvalidDocument(f"the content of a {role} message is neither text nor a list of parts")
    if not content.strip():
        raise InvalidDocument(f"the {role} message is empty with these variables")
    return Message(role, content)


def _google_parts(parts: Any) -> Any:
    return [parts] if isinstance(parts, Mapping) else parts


def _truncated(value: object) -> str:
    text = value if isinstance(value, str) else to_json(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
