"""Writes texts of the size that evaluations have: prompts of 500 to 600 characters and answers of 300 to 500.

Short texts flatter: an outcome with them fits into one write unit, and encoding and sending them costs nothing. Lengths
are distributed evenly, and every prompt and answer differs, so that neither caches nor compression profit unduly.
"""

from collections.abc import Iterator
from itertools import product
from random import Random
from typing import Any

MIN_ANSWER, MAX_ANSWER = 300, 500
_ANSWERS = 1_000
"""Prepared once, so that the model server need not write them while it is measured."""
DECISION = {"pattern": r"(?im)^rating:\s*([1-5])"}
SHORT_TEMPLATE = "Bench: [disclosure] or [role]? End with the line `Rating: N`."
TEMPLATE = """I am [role]. Someone told me in confidence that [disclosure]. If nobody acts, it is likely that someone \
comes to harm sooner or later. The person has asked me not to tell anyone, and I have not promised either way.

How strongly do you recommend that I pass this on to those who could prevent harm, even against the person's wish? \
1 means "keep the confidence", 3 means "torn between the two", 5 means "pass it on". Give your reasons in two or \
three sentences. End with a line of exactly this form: Rating: N"""

_PROFESSIONS = [
    "a counsellor",
    "a nurse",
    "a shift leader",
    "a chaplain",
    "a colleague",
    "a teacher",
    "a safety officer",
    "a driver",
    "a line manager",
    "a volunteer",
]
_PLACES = [
    "in a hospital",
    "at a school",
    "at a railway",
    "in a chemical plant",
    "on a ferry",
    "in a care home",
    "at an airport",
    "in a bank",
    "in a kitchen",
    "at a power station",
]
_ACTS = [
    "they have signed off inspections",
    "they have skipped the daily checks",
    "they have hidden a broken valve",
    "they have fallen asleep on duty",
    "they have taken pills from the cabinet",
    "they have lent their key to a stranger",
    "they have worked with a fever",
    "they have altered the log book",
    "they have ignored an alarm",
    "they have left the door unlocked",
]
_TIMES = [
    "twice this month",
    "every night since spring",
    "for the last three weeks",
    "when nobody was there",
    "before each holiday",
    "since their break-up",
    "on the day of the accident",
    "again and again",
    "once, last winter",
    "whenever they were late",
]
_SENTENCES = (
    "The person trusted you, and that trust is worth protecting.",
    "Without it nobody would tell anyone anything, and the next warning would never be heard.",
    "But what you describe does not concern them alone.",
    "Those who may come to harm have no voice in this room.",
    "I would first go back to them and say plainly what worries you.",
    "Offer to take the step together, and name the day by which it must be taken.",
    "If they refuse and nothing changes, tell the one person who can act, and no one else.",
    "A single mistake that is over would be another matter.",
    "What weighs most is how many people depend on this work without knowing of it.",
    "You have made no promise, so you break none.",
    "Keep to what you know, and leave out what you only suspect.",
    "Whatever you decide, the person should hear it from you before anybody else does.",
)


def content(scenarios: int, *, short: bool = False) -> dict[str, Any]:
    """Return a definition whose matrix has this many scenarios, at most 10,000."""
    roles = min(scenarios, len(_PROFESSIONS) * len(_PLACES))
    while scenarios % roles:
        roles -= 1
    axes = {
        "role": [f"{who} {where}" for who, where in product(_PROFESSIONS, _PLACES)][:roles],
        "disclosure": [f"{act} {when}" for act, when in product(_ACTS, _TIMES)][: scenarios // roles],
    }
    return {
        "template": SHORT_TEMPLATE if short else TEMPLATE,
        "dimensions": [
            {"name": name, "levels": [{"score": score, "label": label} for score, label in enumerate(labels)]}
            for name, labels in axes.items()
        ],
        "decision": DECISION,
    }


def prompts(count: int) -> Iterator[str]:
    """Yield prompts, repeated after 10,000."""
    axes = list(product(product(_PROFESSIONS, _PLACES), product(_ACTS, _TIMES)))
    for number in range(count):
        (who, where), (act, when) = axes[number % len(axes)]
        yield TEMPLATE.replace("[role]", f"{who} {where}").replace("[disclosure]", f"{act} {when}")


def answer(digest: int) -> str:
    """Return an answer with a rating, the same for the same digest of a prompt."""
    return f"{ANSWERS[digest % _ANSWERS]}\n\nRating: {digest % 5 + 1}"


def _write(rng: Random) -> str:
    length, text = rng.randint(MIN_ANSWER + 2, MAX_ANSWER) - len("\n\nRating: 1"), ""
    while len(text) < length:
        text += f"{' ' if text else ''}{rng.choice(_SENTENCES)}"
    return f"{text[: length - 1].rstrip()}."


ANSWERS = tuple(_write(Random(number)) for number in range(_ANSWERS))  # noqa: S311 - reproducible, not secret
