"""`cupel experiments`, against the real API function."""

import json
from pathlib import Path

from cupel_core.store.settings import Settings
from tests.compared_runs import carry_out_jobs, run_of
from tests.unit.cupel.fake_api import Cupel
from tests.unit.cupel.test_compare import cupel as cupel


def created(cupel: Cupel, folder: Path, text: str = "name: Politeness\nhypothesis: Fewer pass.\n") -> str:
    file = folder / "experiment.yaml"
    file.write_text(text)
    return str(json.loads(cupel("experiments", "create", str(file), "--json").stdout)["id"])


def test_an_experiment_is_carried_out(cupel: Cupel, cloud: Settings, tmp_path: Path) -> None:
    baseline, run = (run_of("def_shared", passes) for passes in ("+", "-------+"))
    for each, name in ((baseline, "before"), (run, "after")):
        assert cupel("runs", "update", each.id, "--name", name).exit_code == 0
    experiment = created(cupel, tmp_path)
    (tmp_path / "changes.yaml").write_text(f"baselineRunId: {baseline.id}\ndirection: LOWER\n")
    assert cupel("experiments", "update", experiment, str(tmp_path / "changes.yaml")).exit_code == 0
    for each in (baseline, run):
        assert cupel("experiments", "add", experiment, each.id).exit_code == 0
    assert f"not compared: {run.id} (after): it is being compared" in cupel("experiments", "show", experiment).stdout
    carry_out_jobs()
    shown = cupel("experiments", "show", experiment).stdout
    assert "LOWER" in shown
    assert "suggested conclusion: SUPPORTED" in shown
    assert f"baseline: {baseline.id} (before)" in shown
    assert " after " in shown
    concluded = cupel("experiments", "conclude", experiment, "supported", "--note", "As expected.", "--json")
    assert json.loads(concluded.stdout)["status"] == "CONCLUDED"


def test_experiments_name_their_baselines(cupel: Cupel, cloud: Settings) -> None:
    named, nameless = run_of("def_shared", "+"), run_of("def_shared", "-")
    cupel("runs", "update", named.id, "--name", "Friday")
    for name, baseline in (("one", named), ("two", nameless), ("three", None)):
        options = ("--name", name, "--hypothesis", "It helps.", *(("--baseline", baseline.id) if baseline else ()))
        created = cupel("experiments", "create", *options).stdout
        assert ("Friday" in created) == (baseline is named)
    listed = cupel("experiments", "list").stdout
    assert (named.id in listed, " Friday " in listed, nameless.id in listed) == (False, True, True)


def test_an_experiment_is_created_and_given_a_baseline_by_options(
    cupel: Cupel, cloud: Settings, tmp_path: Path
) -> None:
    options = ("--name", "Politeness", "--hypothesis", "It helps.", "--direction", "higher", "--json")
    experiment = json.loads(cupel("experiments", "create", *options).stdout)
    run = run_of("def_shared", "+")
    changed = json.loads(cupel("experiments", "update", experiment["id"], "--baseline", run.id, "--json").stdout)
    assert (changed["baselineRunId"], changed["name"], changed["direction"]) == (run.id, "Politeness", "HIGHER")
    file = tmp_path / "changes.yaml"
    file.write_text("name: Tone\nhypothesis: It hurts.\n")
    both = json.loads(cupel("experiments", "update", experiment["id"], str(file), "--name", "Manners", "--json").stdout)
    assert (both["name"], both["hypothesis"], both["baselineRunId"]) == ("Manners", "It hurts.", run.id)


def test_a_change_of_an_experiment_needs_a_file_or_an_option(cupel: Cupel, cloud: Settings) -> None:
    answer = cupel("experiments", "update", "exp_1")
    assert (answer.exit_code, "such as --baseline RUN" in answer.stderr) == (2, True)


def test_runs_are_removed_and_experiments_deleted(cupel: Cupel, cloud: Settings, tmp_path: Path) -> None:
    experiment, run = created(cupel, tmp_path), run_of("def_shared", "+")
    cupel("experiments", "add", experiment, run.id)
    assert json.loads(cupel("experiments", "remove", experiment, run.id, "--json").stdout)["status"] == "PLANNED"
    assert experiment in cupel("experiments", "list").stdout
    assert cupel("experiments", "delete", experiment).exit_code == 0
    assert experiment not in cupel("experiments", "list").stdout


def test_a_run_is_started_in_an_experiment(cupel: Cupel, cloud: Settings, tmp_path: Path) -> None:
    refused = cupel("run", "samples/value-dilemma.yaml", "--models", "sim/steady", "--experiment", "exp_none")
    assert "there is no experiment exp_none" in refused.stderr
    experiment = created(cupel, tmp_path)
    started = cupel("run", "samples/value-dilemma.yaml", "--models", "sim/steady", "--experiment", experiment, "--json")
    assert json.loads(started.stdout)["run"]["experimentId"] == experiment


def test_runs_are_listed_by_experiment(cupel: Cupel, cloud: Settings, tmp_path: Path) -> None:
    experiment, member, other = created(cupel, tmp_path), run_of("def_shared", "+"), run_of("def_shared", "+")
    cupel("experiments", "add", experiment, member.id)
    listed = cupel("runs", "--experiment", experiment).stdout
    assert member.id in listed
    assert other.id not in listed
    assert "--experiment: there is no experiment exp_none" in cupel("runs", "--experiment", "exp_none").stderr


def test_show_has_the_verdict_against_the_experiments_baseline(cupel: Cupel, cloud: Settings, tmp_path: Path) -> None:
    baseline, run = (run_of("def_shared", passes) for passes in ("+", "-------+"))
    experiment = created(cupel, tmp_path)
    cupel("experiments", "add", experiment, run.id)
    named = f"experiment {experiment} (Politeness): "
    assert f"{named}it has no baseline yet" in cupel("show", run.id).stdout
    (tmp_path / "changes.yaml").write_text(f"baselineRunId: {baseline.id}\n")
    cupel("experiments", "update", experiment, str(tmp_path / "changes.yaml"))
    cupel("experiments", "add", experiment, baseline.id)
    assert f"{named}this run is the baseline" in cupel("show", baseline.id).stdout
    assert f"{named}not compared with the baseline {baseline.id} (answered) yet" in cupel("show", run.id).stdout
    carry_out_jobs()
    baseline_name = f"{baseline.id} (answered)"
    verdict = f"sim/steady is LOWER against the baseline {baseline_name} (−87.5 pp, adjusted p 0.008 over 1 comparison)"
    assert named + verdict in cupel("show", run.id).stdout
    assert [row["verdict"] for row in json.loads(cupel("show", run.id, "--json").stdout)["experimentRows"]] == ["LOWER"]


def test_pass_rates_of_an_experiment_are_percentages(cupel: Cupel, cloud: Settings, tmp_path: Path) -> None:
    baseline, run = (run_of("def_shared", passes) for passes in ("+", "-------+"))
    experiment = created(cupel, tmp_path, f"name: P\nhypothesis: H\nbaselineRunId: {baseline.id}\n")
    cupel("experiments", "add", experiment, run.id)
    carry_out_jobs()
    shown = cupel("experiments", "show", experiment).stdout
    assert "100.0%" in shown
    assert "−87.5 pp" in shown


def test_a_run_of_a_deleted_experiment_is_shown(cupel: Cupel, cloud: Settings, tmp_path: Path) -> None:
    experiment, run = created(cupel, tmp_path), run_of("def_shared", "+")
    cupel("experiments", "add", experiment, run.id)
    cupel("experiments", "delete", experiment)
    assert cupel("show", run.id).exit_code == 0
