"""Writes JUnit XML, as GitHub, GitLab and Jenkins read it: a suite per model, a case per scenario, persona and repeat.

A conversation that failed is a failure; a probe that errored or could not be scored is an error; one that was not
judged, or not run, is skipped.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal
from xml.etree import ElementTree as ET

from cupel.json_types import Json
from cupel.message_texts import content_text
from cupel.unscored_answers import is_unscored, left_out_checks
from cupel_core.domain.scoring.left_out_checks import NOTHING_LEFT, describe_checks

MAX_CHARACTERS = 20_000
"""Limits a conversation; some readers reject large files."""
# XML 1.0 cannot represent these characters, not even as references, or they would control a terminal.
_ESCAPED = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

type JunitOutcome = Literal["failure", "error", "skipped"]


@dataclass(frozen=True)
class JunitCase:
    """Describes a case. `outcome` is None if it passed; `failure_type` and `reason` describe the others."""

    name: str
    seconds: float = 0.0
    outcome: JunitOutcome | None = None
    failure_type: str = ""
    reason: str = ""
    messages: Sequence[Json] = ()
    left_out_checks: Mapping[str, int] = field(default_factory=dict)
    """Counts the checks that the scenario's import left out, by type; the outcome covers only the others."""


@dataclass(frozen=True)
class JunitSuite:
    name: str
    cases: Sequence[JunitCase] = field(default_factory=list)


def transcript_case(name: str, transcript: Json) -> JunitCase:
    return replace(_judged_case(name, transcript), left_out_checks=left_out_checks(transcript))


def _judged_case(name: str, transcript: Json) -> JunitCase:
    seconds, result, scoring = transcript["durationMs"] / 1_000, transcript.get("result"), transcript.get("scoring")
    messages = (transcript.get("content") or {}).get("messages") or ()
    if result is not None and result["success"]:
        return JunitCase(name, seconds, messages=messages)
    if result is not None:
        failure_type = ", ".join((scoring or {}).get("tags") or ()) or "failed"
        return JunitCase(name, seconds, "failure", failure_type, result.get("reason") or "failed", messages)
    if scoring is not None and is_unscored(transcript):
        return JunitCase(name, seconds, "error", "unscored", scoring["reason"], messages)
    left_out = left_out_checks(transcript)
    reason = f"nothing was judged: {NOTHING_LEFT}" if left_out else "nothing was judged"
    return JunitCase(name, seconds, "skipped", "unjudged", reason, messages)


def probe_case(name: str, probe: Json) -> JunitCase:
    error = probe.get("error")
    if error is None:
        return JunitCase(name, outcome="skipped", failure_type="not run", reason=f"was not run: {probe['status']}")
    return JunitCase(name, outcome="error", failure_type=error["code"], reason=error["message"])


def case_name(scenario: str, persona: str | None, repeat: int, repeats: int) -> str:
    """Return a name such as `Book a haircut (Ada) #2`."""
    who = f" ({persona})" if persona else ""
    return f"{scenario}{who}{f' #{repeat + 1}' if repeats > 1 else ''}"


def to_xml(name: str, suites: Iterable[JunitSuite]) -> str:
    root = ET.Element("testsuites", name=_escape(name))
    counts: Counter[str] = Counter()
    for suite in suites:
        counts += _add_suite(root, suite)
    _set_counts(root, counts)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _add_suite(root: ET.Element, suite: JunitSuite) -> Counter[str]:
    element = ET.SubElement(root, "testsuite", name=_escape(suite.name))
    for case in suite.cases:
        _add_case(element, suite.name, case)
    counts = Counter[str](case.outcome for case in suite.cases if case.outcome)
    counts.update({"tests": len(suite.cases), "ms": round(sum(case.seconds for case in suite.cases) * 1_000)})
    _set_counts(element, counts)
    return counts


def _set_counts(element: ET.Element, counts: Counter[str]) -> None:
    for attribute, name in (("tests", "tests"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(attribute, str(counts[name]))
    element.set("time", f"{counts['ms'] / 1_000:.3f}")


def _add_case(parent: ET.Element, suite: str, case: JunitCase) -> None:
    element = ET.SubElement(parent, "testcase", classname=_escape(suite), name=_escape(case.name))
    element.set("time", f"{case.seconds:.3f}")
    if case.left_out_checks:
        properties = ET.SubElement(element, "properties")
        described = _escape(describe_checks(case.left_out_checks))
        ET.SubElement(properties, "property", name="leftOutChecks", value=described)
    if case.outcome:
        outcome = ET.SubElement(element, case.outcome, message=_escape(case.reason))
        if case.outcome != "skipped":
            outcome.set("type", _escape(case.failure_type))
            outcome.text = _escape(case.reason)
    if case.messages:
        ET.SubElement(element, "system-out").text = _escape(_conversation(case.messages))


def _conversation(messages: Sequence[Json]) -> str:
    text = "\n\n".join(f"[{message['role']}]\n{content_text(message)}" for message in messages)
    omitted = len(text) - MAX_CHARACTERS
    return text if omitted <= 0 else f"{text[:MAX_CHARACTERS]}\n… and {omitted:,} more characters"


def _escape(text: str) -> str:
    return _ESCAPED.sub(lambda match: f"\\x{ord(match[0]):02x}", text)
