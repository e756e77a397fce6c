"""Models named on the command line."""

from collections.abc import Iterable

from cupel.errors import UsageError
from cupel.json_types import Json, without_none
from cupel.session import Session
from cupel_core.domain.text.near_names import near_name


def split_models(models: list[str]) -> list[str]:
    names = [name.strip() for option in models for name in option.split(",")]
    if not all(names):
        raise UsageError("--models: expected names such as openai/gpt-5-mini, separated by commas")
    return names


def run_config(
    session: Session,
    targets: Iterable[str] = (),
    *,
    temperature: float | None = None,
    max_turns: int | None = None,
    judge_model: str | None = None,
    persona_model: str | None = None,
    embedding_model: str | None = None,
    evaluator_url: str | None = None,
) -> Json:
    """The `config` of what starts runs. Warns about models, also of `targets`, that are perhaps misspelled."""
    warn_about_unlisted_models(session, (*targets, judge_model, persona_model, embedding_model))
    return without_none(
        temperature=temperature,
        maxTurns=max_turns,
        judgeModel=judge_model,
        personaModel=persona_model,
        embeddingModel=embedding_model,
        evaluatorUrl=evaluator_url,
    )


def warn_about_unlisted_models(session: Session, models: Iterable[str | None]) -> None:
    """Warn about models that are perhaps misspelled. They may also be newer than the price list, or private."""
    # The price list takes longer to import than the rest of the command.
    from cupel_core.providers import prices

    for model in dict.fromkeys(filter(None, models)):
        if prices.is_unlisted(model):
            provider, _, name = model.partition("/")
            listed = [known.id.partition("/")[2] for known in prices.known_models(provider)]
            near = near_name(name, listed)
            hint = f"did you mean {provider}/{near}? Otherwise" if near else "if the name is right,"
            session.remark(f"warning: {model} is not in the price list; {hint} its costs are unknown")
