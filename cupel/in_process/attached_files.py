"""Images and PDFs of an evaluation without a stack: read from the definition's folder, or from data URLs."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from cupel.errors import RefusedField
from cupel_core.domain.definitions.definitions import Content
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.files.formats import FileInfo, inspect
from cupel_core.domain.files.references import References


class AttachedFiles:
    """The files of a definition, by id."""

    def __init__(self, contents: Mapping[str, bytes] | None = None) -> None:
        self.contents = dict(contents or {})
        self._references = References(self._find)

    def in_content(self, content: Content) -> Content:
        prompts = (self._references.prompt(each, f"content.prompts.{n}.") for n, each in enumerate(content.prompts))
        return replace(content, prompts=tuple(prompts))

    def in_scenario(self, scenario: Scenario, place: str) -> Scenario:
        return self._references.scenario(scenario, place)

    def add(self, contents: Mapping[str, bytes]) -> None:
        self.contents |= contents

    def take_problems(self) -> list[RefusedField]:
        """What is wrong with the files since the last call. The others are attached."""
        self.contents |= {file_id: new.content for file_id, new in self._references.new_files.items()}
        problems = [RefusedField(*each) for each in self._references.problems]
        self._references.problems.clear()
        return problems

    async def read(self, file_ids: Iterable[str]) -> Mapping[str, bytes]:
        return {file_id: self.contents[file_id] for file_id in file_ids if file_id in self.contents}

    def _find(self, file_id: str) -> FileInfo | None:
        content = self.contents.get(file_id)
        return None if content is None else inspect(content)
