"""Data frames of evaluations and of runs, with the pandas that people have."""

import sys
from typing import Any

import pandas
import pytest

import cupel
from cupel.errors import UsageError
from cupel_core.domain.conversations.model_request import Message, MessageRole
from cupel_core.domain.definitions.scenarios import Scenario
from cupel_core.domain.scoring.scoring import AssertionResult, build_scoring
from cupel_core.store.settings import Settings
from tests.answered_runs import AnsweredRun
from tests.unit.cupel.api_function import connect_to_api_function


def definition(**content: Any) -> dict[str, Any]:
    scenarios = [
        {"name": "France", "prompt": "France?", "metadata": {"vars": {"city": "Paris"}, "language": "en"}},
        {"name": "Italy", "prompt": "Italy?", "metadata": {"vars": {"city": "Rome"}}, "dimensions": {"size": 2}},
    ]
    assertions = [{"type": "contains", "value": "{{city}}", "metric": "right"}]
    return {"name": "Capitals", "content": {"assertions": assertions, **content}, "scenarios": scenarios}


def capital(_: Any) -> str:
    return "It is Paris."


def test_a_row_per_probe_has_typed_columns() -> None:
    frame = cupel.evaluate(definition(), capital).to_dataframe()
    assert list(frame["scenario"]) == ["France", "Italy"]
    assert (frame["success"].mean(), frame["score"].sum(), frame["cost_usd"].isna().all()) == (0.5, 1.0, True)
    types = {name: str(frame[name].dtype) for name in ("success", "score", "cost_usd", "turns", "answer")}
    assert types == {
        "success": "boolean",
        "score": "Float64",
        "cost_usd": "Float64",
        "turns": "Int64",
        "answer": "string",
    }
    assert list(frame["question"]) == ["France?", "Italy?"]
    assert frame["messages"][0][-1]["content"] == "It is Paris."
    assert frame["metrics"][1] == {"right": 0.0}


def test_rows_are_grouped_by_what_their_cases_have() -> None:
    frame = cupel.evaluate(definition(), capital, repeats=3).to_dataframe()
    assert frame.groupby("variable.city")["success"].mean().to_dict() == {"Paris": 1.0, "Rome": 0.0}
    assert frame["metadata.language"].count() == 3
    assert frame["dimension.size"].max() == 2


def test_decisions_are_a_column_if_the_definition_has_a_rule() -> None:
    ruled = cupel.evaluate(definition(decision={"pattern": "(5)"}), capital).to_dataframe()
    assert set(ruled["decision"]) == {"other"}
    assert "decision" not in cupel.evaluate(definition(), capital).to_dataframe()


def test_an_errored_probe_has_its_error_and_no_result() -> None:
    frame = cupel.evaluate(definition(), lambda _: 5).to_dataframe()
    assert set(frame["status"]) == {"ERROR"}
    assert set(frame["error_code"]) == {"provider_error"}
    assert frame[["success", "answer", "score"]].isna().all(axis=None)


def test_a_run_has_the_columns_of_an_evaluation(cloud: Settings) -> None:
    cases = tuple(
        Scenario("", name, (Message(MessageRole.USER, "?"),), metadata={"vars": {"city": name}, "language": "en"})
        for name in ("Paris", "Rome")
    )
    run = AnsweredRun(
        cases,
        ("sim/steady", "sim/bold"),
        answer=lambda index: None if index == 3 else f"answer {index}",
        scoring=lambda index: build_scoring(None, None, (AssertionResult("contains", index == 0, 1.0, ""),)),
        workspace="acme",
    ).completed()
    frame = connect_to_api_function().get_data_frame(run.id)
    assert frame[["target", "scenario"]].values.tolist() == [
        ["sim/steady", "Paris"],
        ["sim/steady", "Rome"],
        ["sim/bold", "Paris"],
        ["sim/bold", "Rome"],
    ]
    assert list(frame["success"].fillna(False)) == [True, False, False, False]
    assert (frame["status"][3], frame["error_code"][3], frame["variable.city"][3]) == ("ERROR", "timeout", "Rome")
    assert (str(frame["success"].dtype), pandas.isna(frame["success"][3])) == ("boolean", True)
    in_process = cupel.evaluate(definition(), capital).to_dataframe()
    of_cases = ("variable.", "metadata.", "dimension.")
    assert {name for name in frame if not name.startswith(of_cases)} - {"decision"} == {
        name for name in in_process if not name.startswith(of_cases)
    }


def test_without_pandas_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(UsageError, match="pip install pandas"):
        cupel.evaluate(definition(), capital).to_dataframe()
