"""Records the grades that models have given so far, so that an interrupted scoring requests only the missing ones."""

from collections.abc import Callable, Mapping
from dataclasses import field

from cupel_core.base.deferred import dataclass
from cupel_core.domain.conversations.conversation import AssertionGrade
from cupel_core.domain.conversations.spend import Spend
from cupel_core.scoring.check_result import SpendLog


@dataclass
class GradeLog:
    """Grades are keyed by an assertion's path: its position, preceded in a set by that of the set (`2`, `2.0`)."""

    grades: dict[str, AssertionGrade] = field(default_factory=dict)
    on_grade: Callable[[], None] = lambda: None
    interrupted: Spend = field(default_factory=Spend)
    """The spend of assertions whose grading was interrupted, so that they have no result."""

    @classmethod
    def resuming(cls, grades: Mapping[str, AssertionGrade], on_grade: Callable[[], None]) -> "GradeLog":
        return cls(dict(grades), on_grade)

    @property
    def spend(self) -> Spend:
        return sum((grade.spend for grade in self.grades.values()), self.interrupted)

    def add(self, path: str, grade: AssertionGrade) -> None:
        self.grades[path] = grade
        self.on_grade()

    def add_interrupted(self, spend_log: SpendLog) -> None:
        self.interrupted = sum(spend_log, self.interrupted)
