"""Operation profiles of random shape. Their values are simple, so that what a turn must come to can be told."""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import Any

BEFORE, AFTER = "before_main_llm", "after_main_llm"
COUNTED = "x"
"""What a persisted artifact gets appended in each turn: it counts them."""
MODEL = "sim/steady"
_MAX_OPERATIONS = 5
_REWRITES = {BEFORE: "turn.user.rewrite", AFTER: "turn.assistant.rewrite"}
_EFFECTS: dict[str, tuple[dict[str, str], ...]] = {
    BEFORE: (
        {"type": "prompt.append_after_last_user", "role": "system"},
        {"type": "prompt.system_update", "mode": "append"},
    ),
    AFTER: ({"type": "turn.assistant.annotate"},),
}

type Operation = Mapping[str, Any]


def draw_profile(rng: Random) -> dict[str, Any]:
    """The content of a profile's version."""
    operations: list[dict[str, Any]] = []
    for number in range(rng.randint(1, _MAX_OPERATIONS)):
        operations.append(_draw_operation(rng, number, operations))
    return {"executionMode": rng.choice(("concurrent", "concurrent", "sequential")), "operations": operations}


def _draw_operation(rng: Random, number: int, earlier: Sequence[dict[str, Any]]) -> dict[str, Any]:
    hook = rng.choice((BEFORE, AFTER))
    name = f"{hook[0]}{number}"
    of_hook = [each for each in earlier if each["hooks"] == [hook]]
    is_counter = rng.random() < 0.25
    kind = "template" if is_counter else rng.choice(("template", "template", "llm", "llm", "guard"))
    effects = [dict(each) for each in _EFFECTS[hook] if rng.random() < 0.6]
    if rng.random() < 0.3 and not any(_rewrites(each) for each in of_hook):
        effects.append({"type": _REWRITES[hook]})
    depends_on = [each["id"] for each in of_hook if rng.random() < 0.3]
    guards = [each["id"] for each in of_hook if each["kind"] == "guard" and each["id"] in depends_on]
    return {
        "id": name,
        "name": f"Operation {name}",
        "kind": kind,
        "hooks": [hook],
        "triggers": ["generate"] if rng.random() < 0.15 else ["generate", "regenerate"],
        "order": rng.choice((10, 20, 30)),
        "enabled": rng.random() < 0.95,
        "required": rng.random() < 0.3,
        "dependsOn": depends_on,
        "runConditions": [
            {"operationId": each, "output": "isEven", "operator": rng.choice(("is_true", "is_false"))}
            for each in guards
        ],
        "params": _params(kind, name, is_counter=is_counter),
        "artifact": _artifact(rng, name, kind, hook, is_counter=is_counter),
        "effects": [] if kind == "guard" or is_counter else effects,
    }


def _rewrites(operation: Operation) -> bool:
    return any(effect["type"] in _REWRITES.values() for effect in operation["effects"])


def _params(kind: str, name: str, *, is_counter: bool) -> dict[str, Any]:
    if kind == "template":
        text = COUNTED if is_counter else f"{name} of {{{{ user.text }}}}"
        return {"template": text, "strictVariables": False, "skipWhenBlank": True}
    if kind == "guard":
        outputs = [{"key": "isEven", "title": "The message says that it is even", "when": "'even' in user.text"}]
        return {"engine": "rules", "outputs": outputs, "onError": "error", "strictVariables": False}
    prompt = f"[{name}] {{{{ user.text }}}}"
    return {"target": {"model": MODEL}, "prompt": prompt, "strictVariables": False, "output": {"mode": "text"}}


def _artifact(rng: Random, name: str, kind: str, hook: str, *, is_counter: bool) -> dict[str, Any]:
    artifact: dict[str, Any] = {
        "tag": name,
        "format": "json" if kind == "guard" else "text",
        "persistence": "persisted" if is_counter else "run_only",
        "usage": "internal",
        "semantics": "state",
        "writeMode": "append" if is_counter else "replace",
    }
    if is_counter and rng.random() < 0.5:
        artifact["retention"] = {"maxVersions": rng.choice((1, 2, 20))}
    if kind != "guard" and rng.random() < 0.3 and (is_counter or hook == BEFORE):
        artifact |= {"usage": "prompt_only", "inclusion": {"at": "system_append"}}
    return artifact


def commit_order(content: Mapping[str, Any], hook: str, trigger: str) -> list[Operation]:
    """The operations of a turn, always in the one order that the rules give: dependencies, then `order`, then id."""
    left = [
        each
        for each in content["operations"]
        if each["enabled"] and hook in each["hooks"] and trigger in each["triggers"]
    ]
    ordered: list[Operation] = []
    while left:
        waiting = {each["id"] for each in left}
        free = (each for each in left if not waiting.intersection(each["dependsOn"]))
        ordered.append(min(free, key=lambda each: (each["order"], each["id"])))
        left.remove(ordered[-1])
    return ordered


def counters(content: Mapping[str, Any], trigger: str) -> Iterator[Operation]:
    for hook in (BEFORE, AFTER):
        for each in commit_order(content, hook, trigger):
            if each["artifact"]["persistence"] == "persisted":
                yield each
