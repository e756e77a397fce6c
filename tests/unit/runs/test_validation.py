"""Checks of what a run is to call."""

import pytest

from cupel_core.accounts.keys import ModelChecks
from cupel_core.base.errors import Invalid
from cupel_core.domain.definitions.scenarios import Manifest
from cupel_core.domain.runs.spec import RunSpec
from cupel_core.domain.runs.targets import Target
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.runs.validation import check_spec
from cupel_core.store.settings import Settings
from tests.large_runs import counted_requests


def test_the_account_of_many_targets_and_graders_is_read_once(cloud: Settings) -> None:
    targets = tuple(Target("sim/steady", label=f"target {number}") for number in range(50))
    graders = GraderConfig("sim/judge", persona_model="sim/judge", embedding_model="sim/steady")
    with counted_requests() as requests, pytest.raises(Invalid, match="no scenarios"):
        check_spec("ws_a", RunSpec("def_1", targets), graders, Manifest(), ModelChecks("ws_a"))
    assert requests == ["GetItem"]
