"""Renders a report as one HTML file for screens and print, without scripts and without external resources."""

from collections.abc import Iterator, Sequence

from cupel_core.analysis.reports import formats
from cupel_core.analysis.reports.charts import Bar, bar_chart
from cupel_core.analysis.reports.formats import ReportTable
from cupel_core.analysis.reports.markup import Element, MarkupNode, element
from cupel_core.contract.report_content import ReportContentResponse
from cupel_core.contract.reports import ExcerptResponse, FailedReplyResponse, ReportResponse, ReportSummaryResponse
from cupel_core.domain.text.counts import count_of
from cupel_core.domain.text.figures import format_percent

MAX_CONVERSATIONS = 200
SECURITY_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_STYLE = """
:root { color-scheme: light dark; --text: #1d2530; --muted: #5b6776; --line: #d9dfe6; --bar: #3f6fb5; --back: #fff;
  --shade: #f4f6f9; }
@media (prefers-color-scheme: dark) { :root { --text: #e4e9ef; --muted: #9aa6b4; --line: #39424d; --bar: #7ba4e0;
  --back: #171c22; --shade: #20262e; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem; max-width: 60rem; background: var(--back); color: var(--text);
  font: 15px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1rem; margin: 1.4rem 0 .3rem; overflow-wrap: anywhere; }
p { margin: .4rem 0; overflow-wrap: anywhere; } .muted { color: var(--muted); }
.stale { border-left: 4px solid #c0392b; padding: .4rem .8rem; background: var(--shade); }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { padding: .3rem .6rem; text-align: right; border-bottom: 1px solid var(--line); vertical-align: top;
  font-variant-numeric: tabular-nums; overflow-wrap: break-word; }
th:first-child, td:first-child { text-align: left; min-width: 9rem; } td:last-child { max-width: 20rem; }
td:first-child { max-width: 20rem; overflow-wrap: anywhere; } td:last-child { overflow-wrap: anywhere; }
th { color: var(--muted); font-weight: 600; }
svg { width: 100%; min-width: 36rem; height: auto; margin: .5rem 0 1rem; font: 13px system-ui, sans-serif; }
svg text { fill: var(--text); } svg .bar { fill: var(--bar); } svg .whisker { stroke: var(--text); stroke-width: 1.5; }
.message { margin: .4rem 0; padding: .5rem .8rem; background: var(--shade); border-radius: .4rem;
  white-space: pre-wrap; overflow-wrap: anywhere; }
.code { font-family: ui-monospace, monospace; font-size: .85rem; }
.role { display: block; color: var(--muted); font-size: .8rem; }
@media print { :root { --text: #000; --muted: #444; --line: #bbb; --bar: #777; --back: #fff; --shade: #f2f2f2; }
  body { max-width: none; padding: 0; font-size: 10pt; } h2 { break-after: avoid; }
  tr, svg, .message { break-inside: avoid; }
  .wide { overflow: visible; } svg { min-width: 0; } }
"""


def render_html(report: ReportResponse, content: ReportContentResponse) -> str:
    title = formats.title_of(content)
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=SECURITY_POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", f"Report: {title}"),
    )
    body = element("body", element("main", element("h1", title), *_parts(report, content)))
    # The style is a constant with characters that the escaping of texts would change.
    styled = head.render().replace("</head>", f"<style>{_STYLE}</style></head>")
    return f'<!DOCTYPE html>\n<html lang="en">{styled}{body.render()}</html>\n'


def _parts(report: ReportResponse, content: ReportContentResponse) -> Iterator[MarkupNode]:
    yield element("p", _description(report, content), class_="muted")
    if report.is_stale:
        yield element(
            "p", "The run has other outcomes or labels by now: this report is about earlier ones.", class_="stale"
        )
    if content.notes:
        yield element("ul", *(element("li", note) for note in content.notes))
    yield from _summary(formats.summary_of(report))
    if lines := formats.trial_lines(report):
        yield element("h2", "Trial of the revised prompt")
        yield from (element("p", line) for line in lines)
    yield from _section("Outcome", formats.outcome_table(content), _pass_rates(content))
    yield from _section("Accuracy of the judge", formats.judge_table(content))
    for by, breakdown in formats.breakdown_tables(content):
        yield from _section(f"Pass rate by {by}", breakdown)
    yield from _section("Differences between targets", formats.difference_table(content))
    yield from _section("Failed scenarios", formats.scenario_table(content))
    yield from _failed_answers(report.texts.failed_answers if report.texts else ())
    errors = tuple((each.code, formats.number(each.probes)) for each in content.errors)
    yield from _section("Infrastructure errors", ReportTable(("code", "conversations"), errors))
    yield from _section("Not scored", formats.unscored_table(content))
    yield from _section("Failure modes", formats.failure_table(content), _failure_modes(content))
    yield from _excerpts(report.texts.excerpts if report.texts else ())
    yield from _section("Assertions", formats.check_table(content))
    yield from _section("Agreement between graders", formats.agreement_table(content))
    yield from _section("Turns and latency", formats.operations_table(content), _durations(content))
    yield from _section("Tokens", formats.token_table(content))
    yield from _section("Tokens of other models", formats.role_table(content))
    yield from _section("Cost", formats.cost_table(content), _costs(content))
    yield element("p", formats.cost_sentence(content.cost))
    yield from _conversations(content)


def _summary(summary: ReportSummaryResponse | None) -> Iterator[MarkupNode]:
    if summary is None:
        return
    yield element("h2", "Summary")
    yield element("p", formats.summary_note(summary), class_="muted")
    if summary.error:
        return
    yield element("p", summary.text)
    for heading, finding in formats.findings_of(summary):
        yield element("h3", f"{heading}: {finding.title}")
        yield element("p", finding.description)
        quotes = (element("li", f"{each.conversation_id}: “{each.quote}”") for each in finding.evidence)
        yield element("ul", *quotes)
    yield element("h2", "Revised system prompt")
    if summary.revised_prompt_issue:
        yield element("p", f"None is offered: {summary.revised_prompt_issue}.")
    else:
        yield element("p", summary.rationale)
        yield element("div", summary.diff, class_="message code")
        yield element("div", summary.revised_prompt, class_="message")


def _description(report: ReportResponse, content: ReportContentResponse) -> str:
    ended = f", ended {content.completed_at:%Y-%m-%d %H:%M} UTC" if content.completed_at else ""
    return (
        f"Run {report.run_id} of {content.definition_name}, version {content.definition_version}: "
        f"{content.run_status}, {count_of(content.probes, 'conversation')}{ended}"
    )


def _section(heading: str, table: ReportTable, chart: Element | None = None) -> Iterator[MarkupNode]:
    if table.rows:
        yield element("h2", heading)
        if chart is not None:
            yield element("div", chart, class_="wide")
        yield _table(table)


def _table(table: ReportTable) -> Element:
    header = element("tr", *(element("th", cell, scope="col") for cell in table.header))
    rows = (element("tr", *(element("td", cell) for cell in row)) for row in table.rows)
    return element("div", element("table", element("thead", header), element("tbody", *rows)), class_="wide")


def _pass_rates(content: ReportContentResponse) -> Element | None:
    bars = []
    for name, figures in formats.named_figures(content):
        share = figures.win_rate
        low, high = share.interval or (None, None)
        if share.share is not None:
            bars.append(Bar(name, share.share, format_percent(share.share), low, high))
    return bar_chart("Pass rate", bars, 1.0) if bars else None


def _failure_modes(content: ReportContentResponse) -> Element | None:
    modes = content.top_failure_modes
    bars = [Bar(mode.tag, mode.count, f"{mode.count:,}") for mode in modes]
    return bar_chart("Failure modes", bars, max(mode.count for mode in modes)) if modes else None


def _durations(content: ReportContentResponse) -> Element | None:
    """Draw the median as a bar, and the range up to the 95th percentile as a line."""
    bars = [
        Bar(name, each.p50, formats.seconds(each.p50), each.p50, each.p95)
        for name, figures in formats.named_figures(content)
        if (each := figures.duration_ms) is not None
    ]
    highest = max((bar.high or 0.0 for bar in bars), default=0.0)
    return bar_chart("Median duration, with a line to the 95th percentile", bars, highest) if highest else None


def _costs(content: ReportContentResponse) -> Element | None:
    bars = [
        Bar(formats.ROLE_NAMES[each.role], each.priced_usd, formats.role_cost_text(each))
        for each in content.overall.costs
    ]
    highest = max(bar.value for bar in bars)
    return bar_chart("Cost by role", [bar for bar in bars if bar.value], highest) if highest else None


def _failed_answers(answers: Sequence[FailedReplyResponse]) -> Iterator[MarkupNode]:
    if answers:
        yield element("h2", "Failed answers")
    for each in answers:
        title = formats.conversation_title(each.scenario_name, each.persona_name, "")
        yield element("h3", f"{title}, {each.column}")
        parts = (("question", each.question), ("expected", each.expected), ("answer", each.answer))
        for role, text in parts:
            if text:
                yield element("div", element("span", role, class_="role"), text, class_="message")
        yield element("p", each.reason, class_="muted")


def _excerpts(excerpts: Sequence[ExcerptResponse]) -> Iterator[MarkupNode]:
    for excerpt in excerpts:
        yield element("h3", f"{excerpt.tag}: {excerpt.conversation_id}")
        scenario = excerpt.scenario_name or excerpt.scenario_id
        yield element("p", f"{excerpt.column}, {scenario}. {excerpt.reason}", class_="muted")
        for message in excerpt.messages:
            yield element("div", element("span", message.role, class_="role"), message.content, class_="message")


def _conversations(content: ReportContentResponse) -> Iterator[MarkupNode]:
    yield from _section("Failed conversations", formats.conversation_table(content, MAX_CONVERSATIONS))
    if len(formats.failed_conversations(content)) > MAX_CONVERSATIONS:
        yield element("p", f"The first {MAX_CONVERSATIONS} are shown; the JSON of the report has more.")
