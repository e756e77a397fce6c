"""A configuration's prompts: texts, chats in JSON or YAML, files with one or several; and their messages, rendered."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from typing import Any

from cupel_core.domain.turns.model_request import Message, Role
from cupel_core.imports.drafts import Report
from cupel_core.imports.files import SCHEME, Files, Missing, matching, read
from cupel_core.imports.json_documents import Unreadable, from_json, to_json
from cupel_core.imports.promptfoo.templates import closed, render
from cupel_core.imports.promptfoo.variables import CODE, rendered
from cupel_core.imports.promptfoo.yaml_documents import from_yaml

_CODE = (*CODE, ".sh", ".bash", ".exe", ".bat", ".cmd", ".ps1", ".pl")
_REMOTE = ("exec:", "portkey://", "langfuse://", "helicone://", "package:", "http://", "https://")
_ROLES = {"developer": Role.SYSTEM, "model": Role.ASSISTANT} | {str(role): role for role in Role}


@dataclass(frozen=True)
class Prompt:
    raw: str
    label: str
    id: str | None = None

    def matches(self, reference: str) -> bool:
        """By label or id, or the beginning of one: `group:*`, or `group` for `group:a`."""
        names = [self.label, *([self.id] if self.id else [])]
        if reference.endswith("*") and any(name.startswith(reference[:-1]) for name in names):
            return True
        return any(name == reference or name.startswith(f"{reference}:") for name in names)


def prompts_of(config: Mapping[str, Any], files: Files, report: Report) -> list[Prompt]:
    written = config.get("prompts", [])
    if isinstance(written, str):
        written = [written]
    elif isinstance(written, Mapping):  # the old way: text to label
        written = [{"raw": raw, "label": label} for raw, label in written.items()]
    if not isinstance(written or [], list):
        raise Unreadable("prompts must be a list")
    found: list[Prompt] = []
    for number, entry in enumerate(written or ["{{prompt}}"]):
        try:
            found.extend(_read(entry, files))
        except (Missing, Unreadable) as error:
            report.leave(f"prompts.{number}", _shortened(entry), str(error))
    return found


def _read(entry: Any, files: Files) -> Iterator[Prompt]:
    if isinstance(entry, list):
        entry = {"raw": to_json(entry)}
    if isinstance(entry, str):
        entry = {"raw": entry}
    if not isinstance(entry, Mapping) or "function" in entry:
        raise Missing("a prompt must be a text, a chat or a file")
    raw = entry.get("raw", entry.get("id"))
    label = entry.get("label") or entry.get("display")
    if isinstance(raw, list):
        raw = to_json(raw)
    if not isinstance(raw, str):
        raise Missing("a prompt must have a text in raw or id")
    if raw.startswith(_REMOTE):
        raise Missing("prompts out of programs and other services are not fetched")
    if not _is_file(raw, files):
        yield Prompt(raw, str(label or raw), entry.get("id"))
        return
    for path in matching(files, raw):
        yield from _of_file(path, read(files, path), str(label) if label else None)


def _is_file(raw: str, files: Files) -> bool:
    """What has no `file://` is a text unless there is such a file."""
    if raw.startswith(SCHEME):
        return True
    try:
        return "\n" not in raw and len(raw) < 500 and any(files.read(path) is not None for path in matching(files, raw))
    except Missing:
        return False


def _of_file(path: str, text: str, label: str | None) -> Iterator[Prompt]:
    name = path.rpartition("/")[2]
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    if suffix.split(":")[0] in _CODE:
        raise Missing(f"{path} is code, which is not run")
    match suffix:
        case ".txt":
            parts = [part.strip() for part in _split(text)]
            yield from (Prompt(part, f"{label or path}: {part}") for part in parts if part)
        case ".json":
            yield Prompt(to_json(from_json(text, path)), label or path)
        case ".yaml" | ".yml":
            yield Prompt(to_json(from_yaml(text, path)), label or path)
        case ".jsonl":
            lines = [line for line in text.splitlines() if line]
            yield from (
                Prompt(line, label or path if len(lines) == 1 else f"{label or path}: {line}") for line in lines
            )
        case ".csv":
            yield from _of_csv(text, label)
        case _:
            yield Prompt(text, label or path)


def _split(text: str) -> Iterator[str]:
    """At lines that are `---`."""
    part: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if line.strip() == "---":
            yield "\n".join(part)
            part = []
        else:
            part.append(line)
    yield "\n".join(part)


def _of_csv(text: str, label: str | None) -> Iterator[Prompt]:
    rows = csv.DictReader(StringIO(text.removeprefix("\N{BYTE ORDER MARK}"), newline=""))
    if "," not in text or "prompt" not in (rows.fieldnames or ()):
        lines = [line for line in text.splitlines() if line.strip()]
        raws: list[tuple[str, str | None]] = [(line, None) for line in lines[lines[:1] == ["prompt"] :]]
    else:
        raws = [(row["prompt"].strip(), row.get("label")) for row in rows if row.get("prompt")]
    for number, (raw, own) in enumerate(raws, start=1):
        yield Prompt(raw, own or label or f"Prompt {number} - {raw}")


def messages_of(raw: str, variables: Mapping[str, Any]) -> tuple[Message, ...]:
    """What a prompt says with these variables; Unrenderable or Unreadable when it cannot be said."""
    text = rendered_text(raw, variables)
    start = text.lstrip()[:1]
    try:
        chat = from_yaml(text, "the prompt") if start == "[" or text.lstrip().startswith("- role:") else None
    except Unreadable:
        chat = None
    if not isinstance(chat, list) or not all(isinstance(each, Mapping) and "role" in each for each in chat):
        chat = [{"role": "user", "content": text}]
    return tuple(_message(each) for each in chat)


def rendered_text(raw: str, variables: Mapping[str, Any]) -> str:
    """In a prompt that is JSON, each text is a template of its own."""
    try:
        parsed = from_json(raw, "the prompt")
    except Unreadable:
        return render(closed(raw), rendered(variables))
    return to_json(_filled(parsed, variables), indent=2)


def _filled(value: Any, variables: Mapping[str, Any]) -> Any:
    match value:
        case str():
            return render(value, variables)
        case list():
            return [_filled(each, variables) for each in value]
        case dict():
            return {key: _filled(each, variables) for key, each in value.items()}
    return value


def _message(written: Mapping[str, Any]) -> Message:
    role = _ROLES.get(str(written["role"]))
    if role is None:
        raise Unreadable(f"the role {written['role']} is not supported")
    content = written.get("content")
    if isinstance(content, list) and all(isinstance(part, Mapping) and "text" in part for part in content):
        content = "".join(str(part["text"]) for part in content)
    if not isinstance(content, str) or not content.strip():
        raise Unreadable(f"the content of a message of the {role} is no text, or empty")
    return Message(role, content)


def _shortened(value: object) -> str:
    text = value if isinstance(value, str) else to_json(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
