"""`cupel show`, `runs`, `transcripts`, `export`, and the table of results."""

import csv
import io
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from cupel.cli import app
from cupel.client import Client
from cupel.columns import RunColumn
from cupel.json_types import Json
from cupel.printable import printable
from cupel.render import format_duration, run_lines
from cupel.render_results import bar_chart, results_tables
from cupel.results import collect, tabulate
from cupel.session import Session
from cupel_core.domain.analysis.distributions import t_quantile
from cupel_core.domain.statistics import wilson_interval
from tests.unit.cupel.fake_api import REAL, SIMULATED, Connect, Cupel, FakeApi, a_run, a_spend, a_transcript, an_error


@pytest.fixture
def finished(api: FakeApi) -> FakeApi:
    api.transcripts = [a_transcript(index, SIMULATED, code) for index, code in enumerate(["2", "3", "4"])]
    api.transcripts += [a_transcript(3, REAL, "5", costUsd=0.25), a_transcript(4, REAL, "other", costUsd=0.25)]
    api.errors = [an_error(5, REAL)]
    return api


def row(table: str, model: str) -> list[str]:
    return next(line for line in table.splitlines() if line.startswith(model)).split()


@pytest.mark.usefixtures("finished")
def test_the_table_has_a_row_of_figures_per_model(cupel: Cupel):
    table = cupel("show", "run_1").stdout
    assert row(table, SIMULATED) == [
        *(SIMULATED, "3", "3", "0", "3.00", "1.00"),
        *("·", "█", "█", "█", "·", "0", "300", "40", "ms", "$0"),
    ]
    assert row(table, REAL) == [
        *(REAL, "3", "2", "1", "5.00", "–"),
        *("·", "·", "·", "·", "█", "1", "200", "40", "ms", "$0.50"),
    ]


@pytest.mark.usefixtures("finished")
def test_the_reasons_of_failed_probes_are_listed_below_the_table(cupel: Cupel):
    assert f"{REAL}: 1 errored with timeout: no answer in 60 s" in cupel("show", "run_1").stdout


def unjudged(**result: object) -> Json:
    """The scoring of an answer whose judge gave no usable reply."""
    cause = {"code": "judge_reply", "model": "custom/sphinx", "providerCode": None}
    failed = {"type": "g-eval", "passed": None, "weight": 1.0, "error": "no [red]valid[/red] reply", "cause": cause}
    passed = {"type": "contains", "passed": True, "weight": 1.0, "error": None}
    return {"success": None, "results": [passed, {**failed, **result}]}


def test_why_answers_were_not_scored_is_said_below_the_table(api: FakeApi, cupel: Cupel):
    api.transcripts = [a_transcript(index, SIMULATED, None, scoring=unjudged()) for index in range(3)]
    shown = cupel("show", "run_1").stdout
    assert f"{SIMULATED}: 3 could not be scored and count neither as passed nor as failed\n" in shown
    assert f"{SIMULATED}: 3 not scored, judge_reply of custom/sphinx: no [red]valid[/red] reply\n" in shown
    assert "cupel rescore run_1 --judge-model PROVIDER/NAME --watch scores the stored answers again\n" in shown


def test_whole_conversations_have_a_line_for_each_check_without_a_result(api: FakeApi, cupel: Cupel):
    part = {"type": "similar", "passed": None, "weight": 0.0, "error": "no vector"}
    api.transcripts = [a_transcript(0, SIMULATED, None, scoring=unjudged(metric="depth", parts=[part]))]
    shown = cupel("transcripts", "run_1", "--full").stdout
    assert "not scored: depth (g-eval) (judge_reply of custom/sphinx): no [red]valid[/red] reply\n" in shown
    assert "  not scored: similar: no vector\n" in shown
    assert "contains" not in shown


@pytest.mark.usefixtures("finished")
def test_simulated_models_are_named(cupel: Cupel):
    assert f"simulated, no real model was called: {SIMULATED}\n" in cupel("show", "run_1").stdout


def test_correct_answers_are_shown_with_their_interval(api: FakeApi, cupel: Cupel):
    verdicts = [{"success": index != 0, "score": None, "reason": None} for index in range(3)]
    api.transcripts = [a_transcript(index, SIMULATED, "1", result=verdict) for index, verdict in enumerate(verdicts)]
    assert "66.7% (20.8% to 93.9%)" in cupel("show", "run_1").stdout


def test_repeats_of_a_scenario_narrow_the_interval_only_as_far_as_they_are_independent(api: FakeApi, client: Client):
    """Thirty conversations of five scenarios are little more than five observations; the API computes the same."""
    verdict = {"success": True, "score": None, "reason": None}
    api.transcripts = [a_transcript(i, SIMULATED, "1", scenarioId=f"scn_{i % 5}", result=verdict) for i in range(30)]
    rate = collect(client, a_run()).models[0].pass_rate
    assert rate
    assert rate.interval == pytest.approx(wilson_interval(5, 5, t_quantile(0.975, 4)))


def test_the_interval_of_few_scenarios_is_about_exactly_these(api: FakeApi, cupel: Cupel):
    verdict = {"success": True, "score": None, "reason": None}
    api.transcripts = [a_transcript(i, SIMULATED, "1", scenarioId=f"scn_{i % 2}", result=verdict) for i in range(12)]
    shown = cupel("show", "run_1").stdout
    assert "100.0% (75.8% to 100.0%)" in shown
    assert (
        "caution: 2 scenarios: the interval of a pass rate holds for exactly these, and says nothing about other "
        "scenarios\n" in shown
    )


def test_errors_bound_the_pass_rate(api: FakeApi, cupel: Cupel):
    verdict = {"success": True, "score": None, "reason": None}
    api.transcripts = [a_transcript(i, SIMULATED, "1", scenarioId=f"scn_{i}", result=verdict) for i in range(8)]
    api.errors = [{**an_error(8 + i, SIMULATED), "scenarioId": f"scn_{i}"} for i in range(4)]
    assert (
        f"{SIMULATED}: the pass rate is 75.0% if all errored conversations had failed, and 100.0% if they had passed\n"
        in cupel("show", "run_1").stdout
    )


def test_the_pass_rate_of_one_scenario_has_no_interval(api: FakeApi, cupel: Cupel):
    verdict = {"success": True, "score": None, "reason": None}
    api.transcripts = [a_transcript(0, SIMULATED, "1", result=verdict)]
    table = cupel("show", "run_1").stdout
    assert "100.0%" in table
    assert "100.0% (" not in table


def test_results_without_decisions_have_no_columns_for_them(api: FakeApi, cupel: Cupel):
    api.transcripts = [a_transcript(0, SIMULATED, None)]
    table = cupel("show", "run_1").stdout
    assert "1 2 3 4 5" not in table
    assert json.loads(cupel("show", "run_1", "--json").stdout)["results"][0]["decision"] is None


def test_a_model_whose_decisions_could_not_be_read_is_named(api: FakeApi, cupel: Cupel):
    api.transcripts = [a_transcript(0, SIMULATED, "1"), a_transcript(1, REAL, "other")]
    assert f"{REAL}: no decision could be read from its 1 answer\n" in cupel("show", "run_1").stdout


def test_a_cost_that_is_not_known_for_all_is_not_summed(api: FakeApi, client: Client):
    api.transcripts = [a_transcript(0, REAL, "1", costUsd=1.0), a_transcript(1, REAL, "1", costUsd=None)]
    assert collect(client, a_run()).models[1].cost_usd is None


def test_a_scenario_with_many_answers_counts_as_much_as_one_with_few(api: FakeApi, client: Client):
    api.transcripts = [a_transcript(0, SIMULATED, "1", scenarioId="hard")]
    api.transcripts += [a_transcript(index, SIMULATED, "5", scenarioId="easy") for index in range(1, 10)]
    assert collect(client, a_run()).models[0].decisions.mean == 3


def test_other_answers_do_not_move_the_mean(api: FakeApi, client: Client):
    api.transcripts = [a_transcript(index, SIMULATED, code) for index, code in enumerate(["2", "4", "other", "maybe"])]
    decisions = collect(client, a_run()).models[0].decisions
    assert (decisions.mean, decisions.decided, decisions.ruled) == (3, 2, 4)


def test_transcripts_without_summary_are_no_decisions(api: FakeApi, client: Client):
    api.transcripts = [a_transcript(0, SIMULATED, None), a_transcript(1, SIMULATED, "4")]
    steady = collect(client, a_run()).models[0]
    assert (steady.completed, steady.decisions.mean, sum(steady.decisions.distribution.values())) == (2, 4.0, 1)


def test_errored_probes_are_counted_by_code(api: FakeApi, client: Client):
    api.errors = [an_error(0, REAL, "auth", "bad key"), an_error(1, REAL), an_error(2, REAL)]
    reasons = collect(client, a_run()).models[1].reasons
    assert [(reason.code, reason.count) for reason in reasons] == [("timeout", 2), ("auth", 1)]


@pytest.mark.usefixtures("finished")
def test_results_as_json(cupel: Cupel):
    steady, real = json.loads(cupel("show", "run_1", "--json").stdout)["results"]
    assert steady["simulated"] is True
    assert steady["decision"]["distribution"] == {"1": 0, "2": 1, "3": 1, "4": 1, "5": 0, "other": 0}
    assert real["errors"] == [{"code": "timeout", "count": 1, "example": "no answer in 60 s"}]
    assert (real["costUsd"], real["errored"], real["passRate"]) == (0.5, 1, None)


def test_the_pass_rate_as_json(api: FakeApi, cupel: Cupel):
    verdicts = [{"success": index != 0, "score": None, "reason": None} for index in range(3)]
    api.transcripts = [a_transcript(index, SIMULATED, "1", result=verdict) for index, verdict in enumerate(verdicts)]
    rate = json.loads(cupel("show", "run_1", "--json").stdout)["results"][0]["passRate"]
    assert (rate["passed"], rate["judged"]) == (2, 3)


REFUSED = {
    "status": "PAUSED",
    "pauseReason": "provider",
    "pauseCause": {"model": "custom/gpt-x", "message": "it refuses every call (auth): HTTP 401: no such key"},
}


def test_a_run_that_waits_for_a_repair_says_what_is_wrong_and_what_to_do(api: FakeApi, cupel: Cupel):
    api.runs = [a_run(**REFUSED)]
    shown = cupel("show", "run_1").stdout
    assert "PAUSED (provider)" in shown
    assert "custom/gpt-x cannot be called: it refuses every call (auth): HTTP 401: no such key" in shown
    assert "cupel providers set custom" in shown


SPEND = {
    "costUsd": None,
    "pricedUsd": 1.2,
    "lostUsd": 0.0,
    "budget": None,
    "models": [
        {"targetId": SIMULATED, "promptId": None, "costUsd": 0.0, "pricedUsd": 0.0},
        {"targetId": REAL, "promptId": None, "costUsd": None, "pricedUsd": 1.2},
    ],
}


def test_a_run_is_shown_with_what_each_model_has_spent(api: FakeApi, cupel: Cupel):
    api.runs = [a_run(status="RUNNING", spend=SPEND)]
    assert f"spent at least $1.20 ({SIMULATED} $0, {REAL} at least $1.20)" in cupel("show", "run_1").stdout


def test_the_list_of_runs_says_what_each_has_spent(api: FakeApi, cupel: Cupel):
    known = SPEND | {"costUsd": 2.5, "pricedUsd": 2.5}
    api.runs = [a_run(spend=known), a_run(id="run_2")]
    table = cupel("runs").stdout
    assert [row(table, run_id)[6] for run_id in ("run_1", "run_2")] == ["$2.50", "–"]


def test_suspended_models_are_shown(api: FakeApi, cupel: Cupel):
    suspended = {"model": REAL, "until": "2026-01-31T09:30:30.000Z", "reason": "10 of the last 20 calls failed"}
    api.runs = [a_run(status="RUNNING", suspendedModels=[suspended])]
    shown = cupel("show", "run_1").stdout
    assert f"{REAL} is suspended until" in shown
    assert "cupel retry run_1 runs the errored conversations again" in shown


@pytest.mark.parametrize(("graders", "option"), [({}, "--models"), ({"judgeModel": "custom/gpt-x"}, "--judge-model")])
def test_a_run_whose_model_may_be_misspelled_says_how_to_start_another(
    api: FakeApi, cupel: Cupel, graders: dict[str, str], option: str
):
    config = a_run()["config"]
    models = [*config["models"], *([] if graders else ["custom/gpt-x"])]
    api.runs = [a_run(**REFUSED, config={**config, "models": models, **graders})]
    assert f"cupel rerun run_1 {option} … and cupel cancel run_1" in cupel("show", "run_1").stdout


def test_runs_are_listed_up_to_the_limit(api: FakeApi, cupel: Cupel):
    api.runs = [a_run(id=f"run_{number}") for number in range(5)]
    assert [run["id"] for run in json.loads(cupel("runs", "--limit", "3", "--json").stdout)] == [
        "run_0",
        "run_1",
        "run_2",
    ]


def test_runs_in_a_table(cupel: Cupel):
    table = cupel("runs").stdout
    assert row(table, "run_1")[:6] == ["run_1", "Refunds", "COMPLETED", "6", "5", "1"]


@pytest.mark.usefixtures("finished")
def test_transcripts_of_one_model(cupel: Cupel):
    found = json.loads(cupel("transcripts", "run_1", "--model", REAL, "--json").stdout)
    assert [transcript["probeIndex"] for transcript in found] == [3, 4]


@pytest.mark.usefixtures("finished")
def test_transcripts_in_a_table(cupel: Cupel):
    assert row(cupel("transcripts", "run_1").stdout.replace("    0", "0"), "0")[:4] == ["0", SIMULATED, "case", "0"]


def test_a_conversation_cannot_control_the_terminal(api: FakeApi, cupel: Cupel):
    messages = [{"role": "assistant", "content": "\x1b[2Jhello [bold]there[/bold]"}]
    api.transcripts = [a_transcript(0, SIMULATED, "1", content={"messages": messages})]
    answer = cupel("transcripts", "run_1", "--full").stdout
    assert "[2Jhello [bold]there[/bold]" in answer
    assert "\x1b" not in answer


@pytest.mark.parametrize("options", [["--full"], [], ["--json"]])
def test_characters_that_the_encoding_of_a_pipe_does_not_have_are_printed_as_codes(
    api: FakeApi, connect: Connect, monkeypatch: pytest.MonkeyPatch, options: list[str]
):
    messages = [{"role": "assistant", "content": "名 😀"}]
    api.transcripts = [a_transcript(0, SIMULATED, "1", content={"messages": messages})]
    printed = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(printed, "cp1252", write_through=True))
    app(["transcripts", "run_1", *options], obj=Session(connect=connect), standalone_mode=False)
    text = printed.getvalue().decode("cp1252")
    codes = "\\u540d \\ud83d\\ude00" if "--json" in options else "\\u540d \\U0001f600"
    assert codes in text


def test_no_part_of_a_conversation_becomes_an_emoji(api: FakeApi, cupel: Cupel):
    messages = [{"role": "assistant", "content": "status :x: and :+1:"}]
    api.transcripts = [a_transcript(0, SIMULATED, "1", content={"messages": messages})]
    for options in (["--full"], []):
        assert "status :x: and :+1:" in cupel("transcripts", "run_1", *options).stdout


def test_labels_that_are_markup_only_together_are_shown_as_they_are(api: FakeApi, cupel: Cupel):
    api.runs = [a_run(metadata={"from": "[/x", "to": "y]", "path": "C:\\"})]
    assert "from=[/x  to=y]  path=C:\\\n" in cupel("show", "run_1").stdout


def test_what_requests_left_out_is_shown_and_exported(api: FakeApi, cupel: Cupel):
    api.transcripts = [a_transcript(0, SIMULATED, "1", omittedParameters=["systemRole", "temperature"])]
    assert "systemRole, temperature" in cupel("transcripts", "run_1", "--full").stdout
    rows = list(csv.DictReader(io.StringIO(cupel("export", "run_1", "--format", "csv").stdout)))
    assert rows[0]["omittedParameters"] == "systemRole temperature"


def test_a_run_says_what_its_requests_left_out(api: FakeApi, cupel: Cupel):
    left_out: tuple[list[str], ...] = (["seed", "jsonSchema"], ["seed"], [])
    api.transcripts = [
        a_transcript(number, SIMULATED, "1", omittedParameters=names) for number, names in enumerate(left_out)
    ]
    lines = cupel("show", "run_1").stdout.splitlines()
    assert [line for line in lines if "left out" in line] == [
        f"{SIMULATED}: seed was left out (refused by the model, or unknown to its provider) in 2 of 3 answers",
        f"{SIMULATED}: jsonSchema was left out (refused by the model), and the prompt asked for JSON instead, "
        "in 1 of 3 answers",
    ]


def test_expired_content_is_shown_as_empty(api: FakeApi, cupel: Cupel):
    api.transcripts = [a_transcript(0, SIMULATED, "1", content=None)]
    assert cupel("transcripts", "run_1").exit_code == 0
    assert cupel("transcripts", "run_1", "--full").exit_code == 0


@pytest.mark.usefixtures("finished")
def test_export_as_json_lines(cupel: Cupel):
    answer = cupel("export", "run_1", "--format", "jsonl")
    lines = [json.loads(line) for line in answer.stdout.splitlines()]
    assert [line["probeIndex"] for line in lines] == [0, 1, 2, 3, 4, 5]
    assert "definitionSnapshot" not in lines[0]
    assert "5 transcripts and 1 errored conversation" in answer.stderr


@pytest.mark.usefixtures("finished")
def test_export_as_csv(cupel: Cupel):
    rows = list(csv.DictReader(io.StringIO(cupel("export", "run_1", "--format", "csv").stdout)))
    assert len(rows) == 6
    assert rows[3]["modelId"] == REAL
    assert (rows[3]["question"], rows[3]["answer"]) == ("?", "Rating: 5")
    assert (rows[3]["inputTokens"], rows[3]["outputTokens"], rows[3]["passed"]) == ("80", "20", "")


def test_csv_keeps_line_breaks_commas_and_quotes(api: FakeApi, cupel: Cupel):
    text = 'first, "second"\nthird'
    content = {"messages": [{"role": "assistant", "content": text}]}
    api.transcripts = [a_transcript(0, SIMULATED, "1", content=content, decisionText=text)]
    rows = list(csv.DictReader(io.StringIO(cupel("export", "run_1", "--format", "csv").stdout)))
    assert (rows[0]["answer"], rows[0]["decisionText"]) == (text, text)


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@sum(a1)", "\t=1", "\n=1", "\0=1", "\r=1", '=cmd|" /c calc"!a1', "＝1"]
)
def test_csv_texts_are_never_formulas(api: FakeApi, cupel: Cupel, text: str):
    api.transcripts = [a_transcript(0, SIMULATED, "1", scenarioId=text, decisionText=text)]
    rows = list(csv.DictReader(io.StringIO(cupel("export", "run_1", "--format", "csv").stdout, newline="")))
    assert (rows[0]["scenarioId"], rows[0]["decisionText"]) == (f"'{printable(text)}", f"'{printable(text)}")


def test_csv_numbers_stay_numbers(api: FakeApi, cupel: Cupel):
    api.transcripts = [
        a_transcript(0, SIMULATED, "1", costUsd=-0.5, result={"success": True, "score": -1, "reason": "x"})
    ]
    rows = list(csv.DictReader(io.StringIO(cupel("export", "run_1", "--format", "csv").stdout)))
    assert (rows[0]["costUsd"], rows[0]["score"]) == ("-0.5", "-1")


def test_csv_amounts_have_neither_exponents_nor_noise(api: FakeApi, cupel: Cupel):
    api.transcripts = [a_transcript(0, SIMULATED, "1", costs=costs(4.5600000000000004e-07, 12.0))]
    (row,) = csv.DictReader(io.StringIO(cupel("export", "run_1", "--format", "csv").stdout))
    assert (row["costUsd"], row["judgeCostUsd"], row["totalCostUsd"]) == ("0.000000456", "12", "0")


def test_json_lines_contain_texts_unchanged(api: FakeApi, cupel: Cupel):
    api.transcripts = [a_transcript(0, SIMULATED, "1", decisionText="=1+1")]
    line = json.loads(cupel("export", "run_1", "--format", "jsonl").stdout)
    assert line["decisionText"] == "=1+1"


@pytest.mark.usefixtures("finished")
def test_export_to_a_file(cupel: Cupel, tmp_path: Path):
    output = tmp_path / "out.jsonl"
    answer = cupel("export", "run_1", "--format", "jsonl", "--output", str(output), "--json")
    assert json.loads(answer.stdout)["transcripts"] == 5
    assert len(output.read_text().splitlines()) == 6


def test_a_file_that_cannot_be_written_is_a_failure(cupel: Cupel, tmp_path: Path):
    answer = cupel("export", "run_1", "--format", "csv", "--output", str(tmp_path / "nowhere" / "out.csv"))
    assert answer.exit_code == 1
    assert "No such file or directory" in answer.stderr


def test_an_interrupted_export_leaves_no_file(finished: FakeApi, cupel: Cupel, tmp_path: Path):
    finished.failing_path = "/v1/runs/run_1/transcripts?limit=500&cursor=2"
    output = tmp_path / "out.csv"
    output.write_text("an earlier export")
    answer = cupel("export", "run_1", "--format", "csv", "--output", str(output))
    assert answer.exit_code == 1
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out.csv", "an earlier export")]


def test_export_needs_a_known_format(cupel: Cupel):
    assert cupel("export", "run_1", "--format", "xml").exit_code == 2
    assert cupel("export", "run_1").exit_code == 2
    assert cupel("export", "run_1", "--format", "csv", "--json").exit_code == 2


@pytest.mark.usefixtures("finished")
def test_a_narrow_terminal_gets_two_tables_instead_of_broken_cells(client: Client):
    found = collect(client, a_run()).models
    assert [len(results_tables(found, width)) for width in (None, 120, 80)] == [1, 1, 2]


def test_bars_show_shares_of_the_largest():
    assert bar_chart([8, 4, 1, 0, 0]) == "█ ▄ ▁ · ·"
    assert bar_chart([0, 0, 0, 0, 0]) == "· · · · ·"


def costs(target: float | None, judge: float | None) -> list[dict[str, Any]]:
    return [{"role": "target", "calls": 1, "costUsd": target}, {"role": "judge", "calls": 2, "costUsd": judge}]


def test_costs_of_targets_and_judges_are_apart_and_include_errored_probes(api: FakeApi, client: Client):
    api.transcripts = [a_transcript(0, REAL, "1", costs=costs(1.0, 0.5))]
    error = an_error(1, REAL)
    error["error"]["costs"] = costs(0.25, 0.0)
    (found,) = tabulate([RunColumn(REAL, REAL)], 2, api.transcripts, [error])
    assert [(each.role, each.calls, each.cost_usd) for each in found.costs] == [("target", 2, 1.25), ("judge", 4, 0.5)]
    assert found.cost_usd == 1.75


def test_the_table_has_a_column_for_each_role_that_was_called(api: FakeApi, cupel: Cupel):
    api.transcripts = [
        a_transcript(0, SIMULATED, "1", costs=costs(0.5, None)),
        a_transcript(1, REAL, "1", costs=costs(0.25, 0.125)),
    ]
    heading, steady, real, *_ = (line.split("  ") for line in show(cupel).splitlines() if "  cost" not in line)
    assert [cell.strip() for cell in heading if "cost" in cell] == ["target cost", "judge cost"]
    assert [[cell.strip() for cell in row if cell.strip()][-2:] for row in (steady, real)] == [
        ["$0.50", "–"],
        ["$0.25", "$0.13"],
    ]


def show(cupel: Cupel) -> str:
    """Return the table of the results."""
    lines = cupel("show", "run_1").stdout.splitlines()
    return "\n".join(lines[next(n for n, line in enumerate(lines) if line.startswith("target  ")) :])


def test_a_model_of_which_no_call_was_answered_has_no_cost(api: FakeApi, client: Client):
    assert tabulate([RunColumn(REAL, REAL)], 1, [], [an_error(0, REAL)])[0].cost_usd is None


def test_durations_of_every_size():
    assert [format_duration(ms) for ms in (None, 0.4, 999, 1500)] == ["–", "0 ms", "999 ms", "1.5 s"]


def test_plain_text_has_no_control_characters():
    assert printable("a\x1b]0;title\x07\tb\nc\r\x9b\u202e\ud800") == "a]0;title\tb\nc"


def test_plain_text_keeps_spaces_of_other_scripts_and_joined_emoji():
    text = "10\u00a0%, 全\u3000角, \N{MAN}\u200d\N{PERSONAL COMPUTER}"
    assert printable(text) == text


@pytest.mark.parametrize(("file_format", "unread"), [("csv", "a[2Jb"), ("jsonl", "a\x1b[2J\x9b\u202eb")])
def test_exports_cannot_control_the_terminal(api: FakeApi, cupel: Cupel, file_format: str, unread: str):
    api.transcripts = [a_transcript(0, SIMULATED, "1", decisionText="a\x1b[2J\x9b\u202eb")]
    exported = cupel("export", "run_1", "--format", file_format).stdout
    assert re.search(r"[\x1b\x9b\u202e]", exported) is None
    [row] = csv.DictReader(io.StringIO(exported)) if file_format == "csv" else map(json.loads, exported.splitlines())
    assert row["decisionText"] == unread


def test_names_cannot_control_the_terminal(api: FakeApi, cupel: Cupel):
    api.runs = [a_run(definitionName="Refund\x1b]0;title\x07s")]
    shown = cupel("show", "run_1")
    assert "Refund]0;titles" in shown.stdout
    assert "\x1b" not in shown.stdout + shown.stderr


def test_a_single_scenario_is_counted_in_the_singular():
    run = a_run(scenarioCount=1, scenarioTotal=1)
    assert any("1 of 1 scenario" in line and "scenarios" not in line for line in run_lines(run))


WITH_RULE = {"definitionSnapshot": {"decision": {"pattern": "x"}}}


def test_a_run_whose_decisions_are_all_unreadable_gets_a_warning(api: FakeApi, cupel: Cupel):
    api.runs[0]["config"] |= WITH_RULE
    api.transcripts = [a_transcript(n, SIMULATED, "other", **WITH_RULE) for n in range(3)]
    assert "warning: no decision could be read from 3 answers" in cupel("show", "run_1").stdout
    assert "other" in cupel("transcripts", "run_1").stdout


def test_nothing_is_said_of_decisions_without_a_rule(api: FakeApi, cupel: Cupel):
    api.runs[0]["config"] |= {"definitionSnapshot": {"system": "Be brief."}}
    api.transcripts = [a_transcript(0, SIMULATED, None)]
    assert "decision" not in cupel("show", "run_1").stdout
    assert "decision" not in cupel("export", "run_1", "--format", "csv").stdout
    shown = cupel("transcripts", "run_1").stdout + cupel("transcripts", "run_1", "--full").stdout
    assert "decision" not in shown


def test_a_cancelled_run_has_no_reason_of_a_pause(api: FakeApi, cupel: Cupel):
    api.runs = [a_run(status="CANCELLED", pauseReason="user")]
    assert "run_1  CANCELLED\n" in cupel("show", "run_1").stdout


NAMED = {
    "scenarioName": "Boiling point",
    "personaName": "Ada",
    "repeat": 1,
    "variables": {"unit": "°C"},
    "dimensions": {"stakes": 2.0},
    "metadata": {"source": "facts"},
}


def test_csv_names_scenario_persona_repeat_variables_and_metadata(api: FakeApi, cupel: Cupel):
    api.transcripts = [a_transcript(0, SIMULATED, "1", **NAMED)]
    (line,) = csv.DictReader(io.StringIO(cupel("export", "run_1", "--format", "csv").stdout))
    assert (line["scenarioName"], line["personaName"], line["repeat"]) == ("Boiling point", "Ada", "1")
    assert [json.loads(line[name]) for name in ("variables", "dimensions", "metadata")] == [
        *({"unit": "°C"}, {"stakes": 2.0}, {"source": "facts"}),
    ]


def test_csv_and_json_lines_contain_errored_probes_in_the_order_of_the_run(api: FakeApi, cupel: Cupel):
    api.transcripts = [a_transcript(index, SIMULATED, "1") for index in (0, 2)]
    api.errors = [an_error(1, SIMULATED)]
    lines = list(csv.DictReader(io.StringIO(cupel("export", "run_1", "--format", "csv").stdout)))
    assert [(line["probeIndex"], line["status"], line["errorCode"]) for line in lines] == [
        ("0", "COMPLETED", ""),
        ("1", "ERROR", "timeout"),
        ("2", "COMPLETED", ""),
    ]
    assert (lines[1]["scenarioName"], lines[1]["errorMessage"]) == ("case 2", "no answer in 60 s")
    exported = cupel("export", "run_1", "--format", "jsonl")
    items = [json.loads(line) for line in exported.stdout.splitlines()]
    assert [(item["probeIndex"], item["status"]) for item in items] == [
        (0, "COMPLETED"),
        (1, "ERROR"),
        (2, "COMPLETED"),
    ]
    assert items[1]["error"]["code"] == "timeout"
    assert "2 transcripts and 1 errored conversation; 3 conversations without an outcome yet" in exported.stderr


def test_csv_has_the_cost_with_and_without_graders(api: FakeApi, cupel: Cupel):
    api.transcripts = [a_transcript(0, SIMULATED, "1", costs=costs(0.5, 0.25), totalSpend=a_spend(0.75))]
    (line,) = csv.DictReader(io.StringIO(cupel("export", "run_1", "--format", "csv").stdout))
    assert (line["costUsd"], line["judgeCostUsd"], line["totalCostUsd"]) == ("0.5", "0.25", "0.75")
    assert (line["simulatedUserCostUsd"], line["operationsCostUsd"]) == ("", "")
