"""`cupel analyze`, and the analysis at the end of a watched run."""

from typing import Any

import httpx
import pytest

from cupel.columns import RunColumn
from cupel.render_results import cautions_of_legend
from cupel.results import tabulate
from cupel_core.domain.analysis.cautions import CautionCode
from tests.unit.cupel.fake_api import SIMULATED, Cupel, FakeApi, a_transcript

FIGURES: dict[str, Any] = {
    "metric": "DECISION",
    "columns": [{"targetId": "sim/steady"}, {"targetId": "connector/con_1"}],
    "insights": [
        {"kind": "extremes", "text": "In the table already."},
        {"kind": "outlier", "text": "connector/con_1 answers unlike the others."},
        {"kind": "dimension", "text": "stakes matters most."},
    ],
    "contested": [
        {"scenarioName": name, "variance": variance, "range": variance, "noise": noise}
        for name, variance, noise in (
            ("first", 3.0, None),
            ("second", 2.0, 0.0),
            ("third", 1.0, 0.4),
            ("fourth", 0.5, 0.1),
        )
    ],
    "cautions": [{"code": "MODERATE_SAMPLE", "text": "12 scenarios: only large effects can be seen"}],
}
ANALYSIS = {"id": "ana_1", "runId": "run_1", "status": "COMPLETED"}
ANALYSIS |= {"failure": None, "isStale": False, "staleReason": None, "rescoreId": None}
CELL = {"column": 0, "meanDecision": 2.5, "judged": 0, "passed": 0}
PASSED = {"column": 1, "meanDecision": None, "judged": 4, "passed": 3}
SCENARIO = {"scenarioName": "first", "cells": [CELL, PASSED]}


@pytest.fixture
def analyzed(api: FakeApi) -> FakeApi:
    api.documents["runs/run_1/analysis"] = {**ANALYSIS, "figures": FIGURES}
    api.documents["connectors/con_1"] = {"id": "con_1", "name": "Booking bot"}
    api.lists["runs/run_1/analysis/scenarios"] = [SCENARIO]
    api.respond_to_posts = httpx.Response(200, json=ANALYSIS)
    return api


def test_an_analysis_is_printed_in_words_with_names(analyzed: FakeApi, cupel: Cupel) -> None:
    printed = cupel("analyze", "run_1").stdout
    assert "outlier    connector/Booking bot answers unlike the others." in printed
    assert "dimension  stakes matters most." in printed
    assert "caution    12 scenarios: only large effects can be seen" in printed
    assert "scenario   first: sim/steady 2.50, openai/gpt-5-mini 0.75" in printed
    assert "In the table already" not in printed


def test_force_is_passed_on(analyzed: FakeApi, cupel: Cupel) -> None:
    cupel("analyze", "run_1", "--force")
    assert analyzed.bodies("POST", "/runs/run_1/analysis") == [{"kind": "basic", "force": True}]


def test_json_is_the_analysis_itself(analyzed: FakeApi, cupel: Cupel) -> None:
    assert '"id": "ana_1"' in cupel("analyze", "run_1", "--json").stdout


def test_a_failed_analysis_says_why(analyzed: FakeApi, cupel: Cupel) -> None:
    failed = {**ANALYSIS, "status": "FAILED", "failure": {"where": "analyze", "why": "out of memory"}, "figures": None}
    analyzed.documents["runs/run_1/analysis"] = failed
    assert "failed in analyze: out of memory" in cupel("analyze", "run_1").stdout


def test_a_stale_analysis_says_why(analyzed: FakeApi, cupel: Cupel) -> None:
    stale = {**ANALYSIS, "isStale": True, "staleReason": "inputs", "figures": FIGURES}
    analyzed.documents["runs/run_1/analysis"] = stale
    assert "stale      outcomes have changed since this analysis" in cupel("analyze", "run_1").stdout


def test_a_watched_run_ends_with_its_analysis(analyzed: FakeApi, cupel: Cupel) -> None:
    analyzed.transcripts = [a_transcript(0, SIMULATED, "4")]
    printed = cupel("watch", "run_1").stdout
    assert (
        "contested  third: the targets are 1.00 points apart (40.0% of their variance is noise of the repeats)"
        in printed
    )
    assert "contested  first: the targets are 3.00 points apart (without repeats, it is unknown how much" in printed
    assert "fourth" not in printed


def test_a_run_without_an_analysis_is_shown_all_the_same(api: FakeApi, cupel: Cupel) -> None:
    api.transcripts = [a_transcript(0, SIMULATED, "4")]
    assert cupel("watch", "run_1").exit_code == 0


@pytest.mark.parametrize(
    ("scenarios", "code"), [(1, CautionCode.ONE_SCENARIO), (3, CautionCode.FEW_SCENARIOS), (7, None)]
)
def test_a_watched_run_is_cautioned_once_about_few_scenarios(
    analyzed: FakeApi, cupel: Cupel, scenarios: int, code: CautionCode | None
) -> None:
    verdict = {"success": True, "score": None, "reason": None}
    analyzed.transcripts = [
        a_transcript(i, SIMULATED, None, scenarioId=f"scn_{i % scenarios}", result=verdict) for i in range(14)
    ]
    cautions = [{"code": code or CautionCode.SMALL_SAMPLE, "text": f"about {scenarios}"}]
    analyzed.documents["runs/run_1/analysis"] = {**ANALYSIS, "figures": {**FIGURES, "cautions": cautions}}
    watched, analysis = cupel("watch", "run_1").stdout, cupel("analyze", "run_1").stdout
    assert watched.count("caution") == 1
    assert (f"about {scenarios}" in watched) == (code is None)
    assert f"caution    about {scenarios}" in analysis


def test_a_watched_run_names_left_out_checks_once() -> None:
    scoring = {"success": True, "results": [], "reason": None, "leftOutChecks": {"is-sql": 2}}
    columns = [RunColumn(SIMULATED, SIMULATED)]
    for left_out, codes in ((scoring, {CautionCode.LEFT_OUT_CHECKS}), (None, set[CautionCode]())):
        transcripts = [a_transcript(i, SIMULATED, "4", scenarioId=f"scn_{i}", scoring=left_out) for i in range(12)]
        assert cautions_of_legend(tabulate(columns, 12, transcripts, [])) == codes
