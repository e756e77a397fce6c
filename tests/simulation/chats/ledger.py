"""The events of a turn, each checked when it is stored: numbers without gaps, and only what may follow."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.simulation.chats.profiles import AFTER, BEFORE, Operation
from tests.simulation.invariants import require

_PHASES = ("planning", "before_main_llm", "barrier", "main_llm", "after_main_llm", "commit", "finished")

type Data = Mapping[str, Any]
type Step = tuple[str, str]
"""A hook and an operation."""


@dataclass
class Ledger:
    turn_id: str
    plan: Mapping[str, list[Operation]]
    """The operations by hook, in commit order."""
    count: int = 0
    """Of the events."""
    phase: str = ""
    started: set[Step] = field(default_factory=set)
    finished: dict[Step, Data] = field(default_factory=dict)
    attempt: int = 0
    """The last one of the main call that has begun."""
    main: Data | None = None
    """The end of the last attempt."""
    report: list[Data] | None = None
    """What was committed."""
    end: Data | None = None

    def add(self, seq: int, kind: str, data: Data) -> None:
        require(seq == self.count + 1, f"11: event {seq} of {self.turn_id} follows {self.count}")
        require(self.end is None, f"11: {kind} follows the end of {self.turn_id}")
        require((seq == 1) == (kind == "turn.started"), f"11: event {seq} of {self.turn_id} is {kind}")
        self.count = seq
        if kind != "turn.started":
            getattr(self, f"_{kind.replace('.', '_')}")(data)

    def _turn_phase_changed(self, data: Data) -> None:
        phase, last = data["phase"], self.phase
        is_next = not last or _PHASES.index(phase) > _PHASES.index(last)
        require(is_next, f"11: {self.turn_id} enters {phase} after {last}")
        self.phase = phase

    def _operation_started(self, data: Data) -> None:
        step = data["hook"], data["operationId"]
        is_new = step not in self.started and step not in self.finished
        require(is_new, f"11: {step} of {self.turn_id} starts twice")
        require(step in self._steps(), f"11: {step} is not part of {self.turn_id}")
        is_answered = self.main is not None and self.main["status"] == "done"
        require(step[0] == BEFORE or is_answered, f"2: {step} of {self.turn_id} starts before there is an answer")
        for other in self._operation(step)["dependsOn"]:
            ended = self.finished.get((step[0], other), {})
            require(ended.get("status") == "done", f"3: {step} of {self.turn_id} starts before {other} is done")
        self.started.add(step)

    def _operation_finished(self, data: Data) -> None:
        step = data["hook"], data["operationId"]
        require(step not in self.finished, f"3: {step} of {self.turn_id} ends twice")
        require(step in self.started or data["status"] != "done", f"11: {step} of {self.turn_id} ends before its start")
        self.finished[step] = data

    def _main_llm_started(self, data: Data) -> None:
        require(data["attempt"] > self.attempt, f"11: attempt {data['attempt']} follows {self.attempt}")
        is_answered = self.main is not None and self.main["status"] == "done"
        require(not is_answered, f"1: {self.turn_id} has an answer and its main call begins again")
        for each in self.plan[BEFORE]:
            ended = self.finished.get((BEFORE, each["id"]))
            is_free = ended is not None and (ended["status"] == "done" or not each["required"])
            require(is_free, f"2: the main call of {self.turn_id} begins, and {each['id']} has ended as {ended}")
        self.attempt = data["attempt"]

    def _main_llm_finished(self, data: Data) -> None:
        require(data["attempt"] == self.attempt, f"11: attempt {data['attempt']} of {self.turn_id} never began")
        is_ended = self.main is not None and self.main["attempt"] == data["attempt"]
        require(not is_ended, f"1: the main call of {self.turn_id} ends twice")
        self.main = data

    def _commit_finished(self, data: Data) -> None:
        is_answered = self.main is not None and self.main["status"] == "done"
        require(is_answered and self.report is None, f"16: {self.turn_id} commits without an answer, or twice")
        self.report = data["report"]

    def _turn_finished(self, data: Data) -> None:
        require(self.phase == "finished", f"11: {self.turn_id} ends in the phase {self.phase}")
        missing = self._steps() - self.finished.keys()
        require(not missing, f"11: {missing} of {self.turn_id} have no end")
        is_ended = not self.attempt or (self.main is not None and self.main["attempt"] == self.attempt)
        require(is_ended, f"11: the main call of {self.turn_id} has no end")
        self.end = data

    def _steps(self) -> set[Step]:
        return {(hook, each["id"]) for hook in (BEFORE, AFTER) for each in self.plan[hook]}

    def _operation(self, step: Step) -> Operation:
        return next(each for each in self.plan[step[0]] if each["id"] == step[1])
