"""Makes graders in one place: the models that judge, simulate users and embed texts."""

from collections.abc import Mapping
from dataclasses import field, replace
from functools import partial
from random import Random

from cupel_core.base.deferred import dataclass
from cupel_core.base.errors import Invalid
from cupel_core.domain.conversations.roles import ModelRole
from cupel_core.domain.scoring.grader_config import GraderConfig
from cupel_core.providers import PROVIDERS
from cupel_core.providers.account import Account
from cupel_core.providers.attempt_log import AttemptLog
from cupel_core.providers.call_guard import BeforeCall, CallLimiter, allow_call
from cupel_core.providers.completion import Attempt, complete
from cupel_core.providers.embeddings import EmbedAttempt, embed
from cupel_core.scoring.grading.grader import Grader, GraderRole


@dataclass(frozen=True)
class GraderFactory:
    """Makes the graders that a configuration names. No store is needed, because the accounts are passed in.

    Graders made with the same `limiter` share its limits. `before_call` runs before every attempt, retries included;
    what it raises (Halted, TimeIsUp) prevents the call and propagates to the grader's caller.
    """

    workspace: str
    config: GraderConfig
    accounts: Mapping[str, Account]
    limiter: CallLimiter
    call_timeout_seconds: float
    max_wait_seconds: float
    """All waits between the attempts of one call together take at most this long; a longer one raises RetryLater."""
    before_call: BeforeCall = allow_call
    attempt: Attempt = complete
    embed_attempt: EmbedAttempt = embed
    rng: Random = field(default_factory=Random)
    evaluator_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    log: AttemptLog = field(default_factory=AttemptLog)
    """The failed attempts of the calls of one conversation, or of one task."""
    allow_private: bool = False

    def judge(self, model: str | None = None) -> Grader:
        """Return the grader of this model, by default of the configured judge model. Raises Invalid when there is
        neither."""
        return self._configured(model or self.config.judge_model, "judgeModel")

    def user_simulator(self) -> Grader:
        """Return the grader that writes the simulated user's messages, by the persona model, else the judge model."""
        model = self._configured(self.config.persona_model or self.config.judge_model, "personaModel")
        return replace(model, role=GraderRole.SIMULATED_USER, model_role=ModelRole.PERSONA)

    def embedder(self, model: str | None = None) -> Grader:
        return self._configured(model or self.config.embedding_model, "embeddingModel")

    def grader(self, model: str) -> Grader:
        """Return the grader of this model (`provider/name`). Raises Invalid without an account for its provider."""
        account = self.accounts.get(model.partition("/")[0])
        if account is None:
            raise Invalid(f'unknown provider for model "{model}"; known providers: {", ".join(PROVIDERS)}')
        return Grader(
            account=account,
            model=model,
            timeout_seconds=self.call_timeout_seconds,
            max_wait_seconds=self.max_wait_seconds,
            rng=self.rng,
            attempt=self.attempt,
            embed_attempt=self.embed_attempt,
            guard=partial(self.limiter.slot, self.workspace, account, model, self.before_call),
            log=self.log,
            max_output_tokens=self.config.judge_max_output_tokens,
        )

    def _configured(self, model: str | None, field_name: str) -> Grader:
        if model is None:
            message = "is not configured: set it in the run, the eval or the workspace's settings"
            raise Invalid.field(field_name, message)
        return self.grader(model)
