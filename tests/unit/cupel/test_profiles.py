"""`cupel profiles`, against the real API function."""

import json
from pathlib import Path

import pytest

from cupel_core.store.settings import Settings
from tests.conftest import ROOT
from tests.unit.cupel.fake_api import Cupel
from tests.unit.cupel.test_compare import cupel as cupel

SAMPLES = sorted((ROOT / "samples/profiles").glob("*.yaml"))
VALID = """name: polite
operations:
  - id: tone
    name: Tone
    kind: template
    hooks: [before_main_llm]
    order: 1
    params: { template: Be polite. }
    artifact: { tag: tone }
"""
INVALID = VALID.replace("order: 1", "order: 1\n    dependsOn: [other]").replace("Be polite.", "'{{ x'")


def written(folder: Path, text: str) -> str:
    file = folder / "profile.yaml"
    file.write_text(text)
    return str(file)


def test_there_are_three_samples() -> None:
    assert [path.stem for path in SAMPLES] == ["guarded", "planned", "summarized"]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_is_valid_and_stored(cupel: Cupel, sample: Path) -> None:
    checked = cupel("profiles", "check", str(sample))
    assert (checked.exit_code, checked.stderr) == (0, "")
    created = json.loads(cupel("profiles", "create", str(sample), "--json").stdout)
    assert (created["name"], created["warnings"]) == (sample.stem, [])


def test_a_profile_is_created_shown_updated_listed_and_deleted(cupel: Cupel, tmp_path: Path) -> None:
    created = cupel("profiles", "create", written(tmp_path, VALID))
    profile_id, *rest = created.stdout.split()
    assert rest == ["polite", "version", "1"]
    assert "warning: operations.0.artifact: nothing uses art.tone" in created.stderr
    shown = cupel("profiles", "show", profile_id)
    assert "mode: concurrent" in shown.stdout
    assert "template" in shown.stdout
    changes = written(tmp_path, "executionMode: sequential\n")
    assert "version 2" in cupel("profiles", "update", profile_id, changes).stdout
    assert json.loads(cupel("profiles", "show", profile_id, "--version", "1", "--json").stdout)["version"] == 1
    assert profile_id in cupel("profiles", "list").stdout
    assert cupel("profiles", "delete", profile_id).stdout == f"deleted {profile_id}\n"
    assert profile_id not in cupel("profiles", "list").stdout


def test_a_check_prints_the_plan_of_each_trigger(cupel: Cupel, tmp_path: Path) -> None:
    text = VALID.replace("order: 1", "order: 1\n    triggers: [generate]")
    printed = cupel("profiles", "check", written(tmp_path, text)).stdout
    assert "on generate:" in printed
    assert "left out: tone (trigger_mismatch)" in printed


@pytest.mark.parametrize("command", ["check", "create"])
def test_errors_name_the_line(cupel: Cupel, cloud: Settings, tmp_path: Path, command: str) -> None:
    refused = cupel("profiles", command, written(tmp_path, INVALID))
    assert refused.exit_code == 2
    assert "profile.yaml:8: operations.0.dependsOn.0: there is no operation other" in refused.stderr
    assert "profile.yaml:9: operations.0.params.template: does not compile" in refused.stderr


def test_a_check_as_json_has_the_errors(cupel: Cupel, tmp_path: Path) -> None:
    checked = cupel("profiles", "check", written(tmp_path, INVALID), "--json")
    assert len(json.loads(checked.stdout)["errors"]) == 2


def test_a_run_names_a_profile_by_its_name(cupel: Cupel, tmp_path: Path) -> None:
    created = json.loads(cupel("profiles", "create", written(tmp_path, VALID), "--json").stdout)
    arguments = ("samples/value-dilemma.yaml", "--models", "sim/steady", "--sample", "10")
    for name in ("Polite", created["id"]):
        started = json.loads(cupel("run", *arguments, "--profile", name, "--json").stdout)["run"]
        assert (started["config"]["profileId"], started["config"]["profileVersion"]) == (created["id"], 1)
    refused = cupel("run", *arguments, "--profile", "rude")
    assert refused.exit_code == 2
    assert "--profile: there is no profile rude; profiles of the workspace: polite" in refused.stderr
    assert "--profile: polite: No such file" in cupel("run", *arguments, "--profile", "polite", "--in-process").stderr


def test_an_estimate_names_a_profile(cupel: Cupel, tmp_path: Path) -> None:
    cupel("profiles", "create", str(SAMPLES[1]))
    arguments = ("samples/value-dilemma.yaml", "--models", "sim/steady", "--profile", "planned", "--json")
    roles = [each["role"] for each in json.loads(cupel("estimate", *arguments).stdout)["graders"]]
    assert "operation" in roles
