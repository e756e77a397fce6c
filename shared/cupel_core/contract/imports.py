"""What is asked and told about imports."""

from typing import Annotated, Any

from pydantic import Field

from cupel_core.contract.common import Answer, Request
from cupel_core.contract.definitions import Flag, Folder, Name
from cupel_core.imports.creation import Imported, Made
from cupel_core.imports.datasets import Scorer
from cupel_core.imports.drafts import Note, Report

MAX_TEXT = 5_000_000
"""A request to a function has at most 6 MB."""
Text = Annotated[str, Field(strict=True, min_length=1, max_length=MAX_TEXT)]


class ImportOptions(Request):
    folder: Annotated[Folder | None, Field(description="Of the definitions that are made")] = None
    dry_run: Annotated[Flag, Field(description="Only tells what would be made")] = False


class PromptfooRequest(ImportOptions):
    """Nothing in it is executed, and nothing is fetched."""

    config: Annotated[Text, Field(description="The text of promptfooconfig.yaml, or its JSON")]
    files: Annotated[
        dict[Annotated[str, Field(max_length=1_000)], Annotated[str, Field(strict=True, max_length=MAX_TEXT)]],
        Field(
            default_factory=dict,
            max_length=1_000,
            description="Texts of the files it names, by their path relative to its folder",
        ),
    ]


class DatasetRequest(ImportOptions):
    name: Annotated[Name, Field(description="Of the definition")]
    content: Annotated[Text, Field(description="The text of the file")]
    scorer: Annotated[
        Scorer | None,
        Field(description="How an answer is compared: `includes` unless told, `match` for OpenAI evals"),
    ] = None


class NoteAnswer(Answer):
    where: str
    what: str
    why: str

    @classmethod
    def of(cls, note: Note) -> "NoteAnswer":
        return cls(where=note.where, what=note.what, why=note.why)


class ReportAnswer(Answer):
    taken: Annotated[dict[str, int], Field(description="How many of each")]
    changed: list[NoteAnswer]
    left: list[NoteAnswer]

    @classmethod
    def of(cls, report: Report) -> "ReportAnswer":
        return cls(
            taken=dict(report.taken),
            changed=[NoteAnswer.of(note) for note in report.changes],
            left=[NoteAnswer.of(note) for note in report.leavings],
        )


class MadeAnswer(Answer):
    id: Annotated[str | None, Field(description="Null in a dry run")]
    name: str
    content: dict[str, Any]
    scenario_count: int
    models: Annotated[list[str], Field(description="With which the file runs it")]

    @classmethod
    def of(cls, made: Made) -> "MadeAnswer":
        draft = made.draft
        return cls(
            id=made.definition_id,
            name=draft.name,
            content=dict(draft.content),
            scenario_count=len(draft.scenarios),
            models=list(draft.models),
        )


class ImportAnswer(Answer):
    definitions: list[MadeAnswer]
    repeats: int
    temperature: float | None
    report: ReportAnswer

    @classmethod
    def of(cls, imported: Imported) -> "ImportAnswer":
        return cls(
            definitions=[MadeAnswer.of(made) for made in imported.made],
            repeats=imported.repeats,
            temperature=imported.temperature,
            report=ReportAnswer.of(imported.report),
        )
