from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, NamedTuple

from cupel_core.domain.conversations.model_request import Message
from cupel_core.domain.conversations.parts import FilePart, LargestFiles, MessagePart, PartType, largest_files
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.prompts import Prompt
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.files.data_urls import decode
from cupel_core.domain.files.formats import FileInfo, InvalidFile, digest_of, file_id

MAX_TOTAL_BYTES = 20 * 1024 * 1024
"""All files in the messages of a scenario or a prompt have at most this many bytes, because providers limit requests to
20 to 50 MB."""

type Find = Callable[[str], FileInfo | None]
"""Returns the info of a file by its id; None if there is none."""


class FileProblem(NamedTuple):
    field: str
    message: str


class NewFile(NamedTuple):
    name: str
    content: bytes
    info: FileInfo


class References:
    """Replaces data URLs by ids, looks up the files' info, and collects problems."""

    def __init__(self, find: Find) -> None:
        self._find = find
        self.problems: list[FileProblem] = []
        self.new_files: dict[str, NewFile] = {}

    def scenario(self, scenario: Scenario, field: str) -> Scenario:
        if not scenario.has_files:
            return scenario
        return replace(
            scenario,
            messages=self._messages(scenario.messages, f"{field}messages"),
            messages_by_prompt={
                prompt_id: self._messages(messages, f"{field}messagesByPrompt.{prompt_id}")
                for prompt_id, messages in scenario.messages_by_prompt.items()
            },
        )

    def prompt(self, prompt: Prompt, field: str) -> Prompt:
        return replace(prompt, messages=self._messages(prompt.messages, f"{field}messages"))

    def _messages(self, messages: tuple[Message, ...], field: str) -> tuple[Message, ...]:
        resolved = tuple(
            Message.of_parts(message.role, self._parts(message.parts, f"{field}.{number}.content"))
            if message.parts
            else message
            for number, message in enumerate(messages)
        )
        total = sum(file.info.size for message in resolved for file in message.files if file.info)
        if total > MAX_TOTAL_BYTES:
            self.problems.append(
                FileProblem(field, f"have files of {total:,} bytes together; the maximum is {MAX_TOTAL_BYTES:,}")
            )
        return resolved

    def _parts(self, parts: Iterable[MessagePart], field: str) -> Iterator[MessagePart]:
        for number, part in enumerate(parts):
            yield self._resolved(part, f"{field}.{number}") if isinstance(part, FilePart) else part

    def _resolved(self, part: FilePart, field: str) -> FilePart:
        resolved = self._of_data_url(part, field) if part.data_url is not None else self._of_id(part, field)
        if resolved.info is not None and resolved.info.format.is_image != (part.type is PartType.IMAGE):
            right = PartType.IMAGE if resolved.info.format.is_image else PartType.FILE
            self.problems.append(FileProblem(f"{field}.type", f"must be {right}: it is a {resolved.info.format.label}"))
        return resolved

    def _of_data_url(self, part: FilePart, field: str) -> FilePart:
        try:
            content, info = decode(part.data_url or "")
        except InvalidFile as error:
            self.problems.append(FileProblem(f"{field}.dataUrl", str(error)))
            return part
        new_id = file_id(digest_of(content))
        self.new_files[new_id] = NewFile(part.name or f"{part.type}.{info.format}", content, info)
        return replace(part, file_id=new_id, data_url=None, info=info)

    def _of_id(self, part: FilePart, field: str) -> FilePart:
        info = self._find(part.file_id or "")
        if info is None:
            self.problems.append(FileProblem(f"{field}.fileId", f"there is no file {part.file_id}"))
        return replace(part, info=info)


def ids_of(messages: Iterable[Message]) -> set[str]:
    return {file.file_id for message in messages if message.parts for file in message.files if file.file_id}


def largest_files_sent(content: Content, scenarios: Iterable[Scenario]) -> LargestFiles:
    prompts = (message.parts for prompt in content.prompts for message in prompt.messages)
    own = (message.parts for scenario in scenarios for message in scenario.all_messages)
    return largest_files(chain.from_iterable(chain(prompts, own)))


def prompts_with_files(content: Mapping[str, Any]) -> bool:
    prompts = content.get("prompts") or ()
    return any(isinstance(each.get("content"), list) for prompt in prompts for each in prompt.get("messages") or ())
