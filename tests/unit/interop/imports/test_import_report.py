"""A report has every cause, however often one of them occurs, and the command prints each cause once."""

from typing import Any

from cupel.imported_suites import MAX_LISTED, grouped_notes
from cupel_core.contract.imports import ImportReportResponse
from cupel_core.domain.codec import decode, encode
from cupel_core.domain.definitions.drafts import MAX_CAUSES, MAX_PLACES, ImportReport
from tests.unit.interop.imports.reading import read_suite


def response(report: ImportReport) -> Any:
    return ImportReportResponse.from_value(report).model_dump(by_alias=True)


def test_a_frequent_cause_does_not_hide_the_others() -> None:
    report = ImportReport()
    for number in range(5_000):
        report.skip(f"tests.{number}.x", "x", "not supported")
    report.skip("tests.4999.assert.0", "is-sql", "not supported")
    notes = response(report)["skipped"]
    assert len(notes) == MAX_PLACES + 2
    assert sum(note["count"] for note in notes) == 5_001
    assert "is-sql" in [note["what"] for note in notes]


def test_places_that_are_only_counted_are_counted_once() -> None:
    report = ImportReport()
    for number in (*range(200), *range(200)):
        report.skip(f"tests.{number}.x", "x", "not supported")
    assert [note.count for note in report.skipped][MAX_PLACES:] == [100]


def test_the_number_of_causes_is_bounded_and_said() -> None:
    report = ImportReport()
    for number in range(3_000):
        report.skip("tests.0", f"x{number}", "not supported")
    assert len(report.skipped) == MAX_CAUSES + 1
    assert list(report.skipped)[-1].why == "only the first 1,000 reasons are listed"


def test_a_report_is_the_same_after_the_sandbox() -> None:
    report = ImportReport()
    for number in range(300):
        report.skip(f"tests.{number}.x", "x", "not supported")
        report.note_change(f"tests.{number}", "y", f"why {number % 2}")
    assert decode(ImportReport, encode(report)) == report


def test_equal_notes_are_one_line_with_their_number() -> None:
    tests = [{"vars": {"q": str(n)}, "assert": [{"type": "contains", "value": "a", "note": "b"}]} for n in range(200)]
    report = read_suite({"prompts": ["{{q}}"], "providers": ["echo"], "defaultTest": {"x": 1}, "tests": tests}).report
    assert [(note["where"], note["what"]) for note in grouped_notes(response(report)["skipped"])] == [
        ("defaultTest.x", "x"),
        ("tests.0.assert.0.note and 199 more", "note"),
    ]


def test_many_causes_are_listed_in_part() -> None:
    notes = [{"where": "a", "what": str(n), "why": "b", "count": 2} for n in range(MAX_LISTED + 3)]
    lines = grouped_notes(notes)
    assert (len(lines), lines[0]["where"], lines[-1]["what"]) == (MAX_LISTED + 1, "a and 1 more", "6 more")
