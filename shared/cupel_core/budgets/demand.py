"""How much a worker draws at a time: enough for some time, and little enough to lose when it dies."""

MAX_CONVERSATIONS = 100
"""For which a worker draws at a time."""
_SMOOTHING_FACTOR = 0.1


class Demand:
    """What a worker has to do for a run. Amounts are in billionths of a USD."""

    def __init__(self) -> None:
        self.pending = 0
        """Conversations that could start."""
        self.first_call = 0
        """What the cheapest of them needs to start."""
        self.open_conversations = 0
        self._mean_cost = 0.0
        """Of a conversation."""
        self._mean_reserved = 0.0
        """By a call."""
        self._ended = 0

    @property
    def conversations(self) -> int:
        return self.pending + self.open_conversations

    def forget_pending(self) -> None:
        """They start with another allowance."""
        self.pending = self.first_call = 0

    def note_reserved(self, amount: int) -> None:
        before = self._mean_reserved or amount
        self._mean_reserved = before + _SMOOTHING_FACTOR * (amount - before)

    def end_conversation(self, spent: int) -> None:
        """One has ended, after which so much was spent on all."""
        self.open_conversations -= 1
        self._ended += 1
        self._mean_cost = spent / self._ended

    def amount(self, waiting_calls: int) -> int:
        """For the conversations of the next time, and for what their calls reserve beyond their cost."""
        count = min(MAX_CONVERSATIONS, self.conversations + waiting_calls)
        return round(count * (self._mean_cost + max(self._mean_reserved, self.first_call)))


class OutputLengths:
    """How long answers are, for calls whose answers have no limit."""

    def __init__(self) -> None:
        self._means: dict[str, float] = {}

    def mean_tokens(self, model: str) -> float:
        """0 before the first answer."""
        return self._means.get(model, 0.0)

    def note(self, model: str, tokens: int) -> None:
        before = self._means.get(model, float(tokens))
        self._means[model] = before + _SMOOTHING_FACTOR * (tokens - before)
