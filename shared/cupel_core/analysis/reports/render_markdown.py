"""Renders a report as Markdown. Texts of other people are inert: within a line, or in code blocks that they cannot
end."""

import re
from collections.abc import Iterator, Sequence

from cupel_core.analysis.reports import formats
from cupel_core.analysis.reports.formats import ReportTable
from cupel_core.contract.report_content import ReportContentResponse
from cupel_core.contract.reports import ExcerptResponse, FailedReplyResponse, ReportResponse, ReportSummaryResponse
from cupel_core.domain.text.control_characters import single_line, without_control_characters
from cupel_core.domain.text.counts import count_of
from cupel_core.domain.text.transcript_lines import transcript_lines

MAX_CONVERSATIONS = 50
_SPECIAL = re.compile(r"([\\`*_\[\]|~$:@]|(?<=www)\.)", re.IGNORECASE)
_AT_THE_START = re.compile(r"^(\d*)([-+#=]|(?<=\d)[.)](?=\s|$))")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_FENCES = re.compile(r"`{3,}")


def render_markdown(report: ReportResponse, content: ReportContentResponse) -> str:
    return "\n".join(_lines(report, content)) + "\n"


def inline(text: str) -> str:
    """Return the text within a line, so that nothing in it is Markdown, HTML or a link."""
    escaped = "".join(_ENTITIES.get(character, character) for character in single_line(text))
    return _AT_THE_START.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", escaped))


def fenced(text: str) -> str:
    shown = without_control_characters(text)
    longest = max((len(match[0]) for match in _FENCES.finditer(shown)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{shown}\n{fence}"


def _lines(report: ReportResponse, content: ReportContentResponse) -> Iterator[str]:
    yield f"# Report: {inline(formats.title_of(content))}"
    yield ""
    yield _description(report, content)
    if report.is_stale:
        yield "\n**The run has other outcomes or labels by now: this report is about earlier ones.**"
    yield from _list("Notes", content.notes)
    yield from _summary(formats.summary_of(report))
    yield from _list("Trial of the revised prompt", formats.trial_lines(report))
    yield from _section("Outcome", formats.outcome_table(content))
    yield from _section("Accuracy of the judge", formats.judge_table(content))
    for by, breakdown in formats.breakdown_tables(content):
        yield from _section(f"Pass rate by {inline(by)}", breakdown)
    yield from _section("Differences between targets", formats.difference_table(content))
    yield from _section("Failed scenarios", formats.scenario_table(content))
    yield from _failed_answers(report.texts.failed_answers if report.texts else ())
    if content.errors:
        errors = tuple((each.code, formats.number(each.probes)) for each in content.errors)
        yield from _section("Infrastructure errors", ReportTable(("code", "conversations"), errors))
    yield from _section("Not scored", formats.unscored_table(content))
    yield from _section("Failure modes", formats.failure_table(content))
    yield from _excerpts(report.texts.excerpts if report.texts else ())
    yield from _section("Assertions", formats.check_table(content))
    yield from _section("Agreement between graders", formats.agreement_table(content))
    yield from _section("Turns and latency", formats.operations_table(content))
    yield from _section("Tokens", formats.token_table(content))
    yield from _section("Tokens of other models", formats.role_table(content))
    yield from _section("Cost", formats.cost_table(content))
    yield f"\n{inline(formats.cost_sentence(content.cost))}"
    yield from _conversations(content)


def _description(report: ReportResponse, content: ReportContentResponse) -> str:
    definition = f"{content.definition_name}, version {content.definition_version}"
    ended = f", ended {content.completed_at:%Y-%m-%d %H:%M} UTC" if content.completed_at else ""
    probes = f"{content.run_status}, {count_of(content.probes, 'conversation')}{ended}"
    return f"Run {inline(report.run_id)} of {inline(definition)}: {probes}."


def _list(heading: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield f"\n## {heading}\n"
        yield from (f"- {inline(line)}" for line in lines)


def _summary(summary: ReportSummaryResponse | None) -> Iterator[str]:
    if summary is None:
        return
    yield f"\n## Summary\n\n{inline(formats.summary_note(summary))}"
    if summary.error:
        return
    yield f"\n{inline(summary.text)}"
    for heading, finding in formats.findings_of(summary):
        yield f"\n### {heading}: {inline(finding.title)}\n\n{inline(finding.description)}\n"
        yield from (f"- {inline(each.conversation_id)}: “{inline(each.quote)}”" for each in finding.evidence)
    yield "\n## Revised system prompt\n"
    if summary.revised_prompt_issue:
        yield f"None is offered: {inline(summary.revised_prompt_issue)}."
    else:
        yield f"{inline(summary.rationale)}\n\n{fenced(summary.diff)}\n\n{fenced(summary.revised_prompt)}"


def _section(heading: str, table: ReportTable) -> Iterator[str]:
    if table.rows:
        yield f"\n## {heading}\n"
        yield _row(table.header)
        yield f"|{'|'.join(['---', *('---:' for _ in table.header[1:])])}|"
        yield from map(_row, table.rows)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(map(inline, cells))} |"


def _failed_answers(answers: Sequence[FailedReplyResponse]) -> Iterator[str]:
    if answers:
        yield "\n## Failed answers"
    for each in answers:
        title = formats.conversation_title(each.scenario_name, each.persona_name, "")
        yield f"\n### {inline(title)}, {inline(each.column)}\n"
        yield f"- Question: {inline(each.question)}"
        if each.expected:
            yield f"- Expected: {inline(each.expected)}"
        yield f"- Answer: {inline(each.answer)}"
        yield f"- {inline(each.reason)}"


def _excerpts(excerpts: Sequence[ExcerptResponse]) -> Iterator[str]:
    for excerpt in excerpts:
        yield f"\n### {inline(excerpt.tag)}: {inline(excerpt.conversation_id)}\n"
        scenario = inline(excerpt.scenario_name or excerpt.scenario_id)
        yield f"{inline(excerpt.column)}, {scenario}. {inline(excerpt.reason)}\n"
        yield fenced(transcript_lines((message.role, message.content) for message in excerpt.messages))


def _conversations(content: ReportContentResponse) -> Iterator[str]:
    yield from _section("Failed conversations", formats.conversation_table(content, MAX_CONVERSATIONS))
    if len(formats.failed_conversations(content)) > MAX_CONVERSATIONS:
        yield f"\nThe first {MAX_CONVERSATIONS} are shown; the JSON of the report has more."
