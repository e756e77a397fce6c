"""JUnit's XML, as GitHub, GitLab and Jenkins read it: a suite per model, a case per scenario, persona and repeat.

A conversation that did not pass is a failure; what errored or could not be scored is an error; what nobody judged, and
what was not run, is skipped.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal
from xml.etree import ElementTree as ET

from cupel.json_types import Json
from cupel.results import is_unscored

MOST_CHARACTERS = 20_000
"""Of a conversation: some readers refuse large files."""
# What XML 1.0 cannot hold, also not as a reference.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

type Verdict = Literal["failure", "error", "skipped"]


@dataclass(frozen=True)
class Case:
    """`verdict` is None for what passed; `kind` and `reason` tell about the others."""

    name: str
    seconds: float = 0.0
    verdict: Verdict | None = None
    kind: str = ""
    reason: str = ""
    messages: Sequence[Json] = ()


@dataclass(frozen=True)
class Suite:
    name: str
    cases: Sequence[Case] = field(default_factory=list)


def case_of(name: str, transcript: Json) -> Case:
    """Of a transcript as the API tells it."""
    seconds, result, scoring = transcript["durationMs"] / 1_000, transcript.get("result"), transcript.get("scoring")
    messages = (transcript.get("content") or {}).get("messages") or ()
    if result is not None and result["success"]:
        return Case(name, seconds, messages=messages)
    if result is not None:
        kind = ", ".join((scoring or {}).get("tags") or ()) or "failed"
        return Case(name, seconds, "failure", kind, result.get("reason") or "did not pass", messages)
    if scoring is not None and is_unscored(transcript):
        return Case(name, seconds, "error", "unscored", scoring["reason"], messages)
    return Case(name, seconds, "skipped", "unjudged", "nothing was judged", messages)


def case_of_probe(name: str, probe: Json) -> Case:
    """Of a probe that has no transcript."""
    error = probe.get("error")
    if error is None:
        return Case(name, verdict="skipped", kind="not run", reason=f"was not run: {probe['status']}")
    return Case(name, verdict="error", kind=error["code"], reason=error["message"])


def case_name(scenario: str, persona: str | None, repeat: int, repeats: int) -> str:
    """`Book a haircut (Ada) #2`."""
    who = f" ({persona})" if persona else ""
    return f"{scenario}{who}{f' #{repeat + 1}' if repeats > 1 else ''}"


def document(name: str, suites: Iterable[Suite]) -> str:
    root = ET.Element("testsuites", name=_fit(name))
    counts: Counter[str] = Counter()
    for suite in suites:
        counts += _add(root, suite)
    _tell(root, counts)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _add(root: ET.Element, suite: Suite) -> Counter[str]:
    element = ET.SubElement(root, "testsuite", name=_fit(suite.name))
    for case in suite.cases:
        _add_case(element, suite.name, case)
    counts = Counter[str](case.verdict for case in suite.cases if case.verdict)
    counts.update({"tests": len(suite.cases), "ms": round(sum(case.seconds for case in suite.cases) * 1_000)})
    _tell(element, counts)
    return counts


def _tell(element: ET.Element, counts: Counter[str]) -> None:
    for attribute, name in (("tests", "tests"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        element.set(attribute, str(counts[name]))
    element.set("time", f"{counts['ms'] / 1_000:.3f}")


def _add_case(parent: ET.Element, suite: str, case: Case) -> None:
    element = ET.SubElement(parent, "testcase", classname=_fit(suite), name=_fit(case.name))
    element.set("time", f"{case.seconds:.3f}")
    if case.verdict:
        told = ET.SubElement(element, case.verdict, message=_fit(case.reason))
        if case.verdict != "skipped":
            told.set("type", _fit(case.kind))
            told.text = _fit(case.reason)
    if case.messages:
        ET.SubElement(element, "system-out").text = _fit(_conversation(case.messages))


def _conversation(messages: Sequence[Json]) -> str:
    text = "\n\n".join(f"[{message['role']}]\n{message['content']}" for message in messages)
    left = len(text) - MOST_CHARACTERS
    return text if left <= 0 else f"{text[:MOST_CHARACTERS]}\n… and {left:,} characters more"


def _fit(text: str) -> str:
    return _FORBIDDEN.sub(lambda found: f"\\x{ord(found[0]):02x}", text)
