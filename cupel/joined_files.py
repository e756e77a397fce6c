"""Joins several definition files that ask the same scenarios differently to one definition with several prompts.

Each file becomes a prompt, or contributes its own. Everything else must agree, because each scenario is run with each
prompt: the content besides `system`, `template` and `prompts`, and the scenarios besides their messages.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from cupel.errors import RefusedField, UsageError
from cupel.json_types import Json, without_none
from cupel.source_files import SourceFile
from cupel_core.domain.definitions.matrix import LevelOptionChoice
from cupel_core.domain.definitions.prompts import prompt_ids
from cupel_core.domain.text.templates import escape_placeholders, placeholder_names

_ASKING = ("system", "template", "prompts")
_MESSAGES = ("prompt", "messages", "messagesByPrompt")
_MAX_NAME_LENGTH = 200
_MAX_LABEL_LENGTH = 100


def join_files(sources: Sequence[SourceFile]) -> SourceFile:
    """Return one definition file with the prompts of valid ones. Raises UsageError if they differ in anything else."""
    first, *others = sources
    if len({source.name for source in sources}) < len(sources):
        raise UsageError(f"{', '.join(source.name for source in sources)}: name each file once")
    has_prompts = any(_own_prompts(source) for source in sources)
    for other in others:
        if problems := [*_differences(first, other, has_prompts=has_prompts)]:
            raise other.refusal(problems)
    ids = _ids(sources)
    scenarios = _scenarios(sources, ids)
    prompts = _prompts(sources, ids, scenarios)
    same = {key: value for key, value in _content(first).items() if key not in _ASKING}
    content = {**same, **without_none(system=_common(sources, "system"), template=_template(sources))}
    document = {
        **_labels(sources),
        "content": {**content, "prompts": prompts},
        **({"generate": first.document["generate"]} if scenarios is None else {"scenarios": scenarios}),
        **{key: named for key in ("personas", "connectors") if (named := _named(sources, key))},
    }
    warnings = dict.fromkeys(warning for source in sources for warning in source.warnings)
    return SourceFile(", ".join(source.name for source in sources), document, warnings=tuple(warnings))


def _differences(first: SourceFile, other: SourceFile, *, has_prompts: bool) -> Iterator[RefusedField]:
    why = f"differs from {first.name}; the files of one run may only differ in their prompts"
    for key in sorted(_content(first).keys() | _content(other).keys()):
        if key not in _ASKING and _content(first).get(key) != _content(other).get(key):
            yield RefusedField(f"content.{key}", why)
    if first.document.get("generate") != other.document.get("generate"):
        yield RefusedField("generate" if "generate" in other.document else "scenarios", why)
    elif "generate" in other.document:
        yield from _template_differences(first, other, why, has_prompts=has_prompts)
    else:
        yield from _scenario_differences(first, other, why, has_prompts=has_prompts)
    for key in ("personas", "connectors"):
        known = {each["name"]: each for each in first.document.get(key, ())}
        for position, each in enumerate(other.document.get(key, ())):
            if known.get(each["name"], each) != each:
                yield RefusedField(f"{key}.{position}", f"differs from {each['name']} in {first.name}")


def _template_differences(
    first: SourceFile, other: SourceFile, why: str, *, has_prompts: bool
) -> Iterator[RefusedField]:
    if _content(first).get("template") == _content(other).get("template"):
        return
    generate = other.document["generate"]
    if has_prompts:
        yield RefusedField("content.template", why)
    elif generate["mode"] != "matrix" or generate.get("options") not in (None, LevelOptionChoice.FIRST):
        yield RefusedField("content.template", f"{why}, and only with {{mode: matrix, options: first}} in the template")


def _scenario_differences(
    first: SourceFile, other: SourceFile, why: str, *, has_prompts: bool
) -> Iterator[RefusedField]:
    known, scenarios = first.document["scenarios"], other.document["scenarios"]
    if len(known) != len(scenarios):
        yield RefusedField("scenarios", f"has {len(scenarios):,}, {first.name} {len(known):,}")
        return
    for position, (one, two) in enumerate(zip(known, scenarios, strict=True)):
        different = [key for key in one.keys() | two.keys() if key not in _MESSAGES and one.get(key) != two.get(key)]
        if has_prompts and _messages(one) != _messages(two):
            different.append("prompt" if "prompt" in two else "messages")
        yield from (RefusedField(f"scenarios.{position}.{key}", why) for key in sorted(different))


def _ids(sources: Sequence[SourceFile]) -> list[list[str]]:
    own = [[prompt["id"] for prompt in _own_prompts(source)] for source in sources]
    taken: set[str] = set()
    for source, ids in zip(sources, own, strict=True):
        if again := [position for position, each in enumerate(ids) if each in taken]:
            why = "another file has a prompt with this id"
            raise source.refusal(RefusedField(f"content.prompts.{position}.id", why) for position in again)
        taken.update(ids)
    named = prompt_ids([Path(source.name).stem for source in sources], taken)
    return [ids or [name] for ids, name in zip(own, named, strict=True)]


def _scenarios(sources: Sequence[SourceFile], ids: Sequence[Sequence[str]]) -> list[Json] | None:
    if "generate" in sources[0].document:
        return None
    variants = zip(*(source.document["scenarios"] for source in sources), strict=True)
    lists = [list(each) for each in variants]
    differ = any(_messages(each) != _messages(same[0]) for same in lists for each in same)
    return [_by_prompt(same, ids) if differ else _with_own(same) for same in lists]


def _by_prompt(variants: Sequence[Json], ids: Sequence[Sequence[str]]) -> Json:
    """Map ids to messages. Files whose messages differ have no prompts of their own, so each has one id."""
    common = {key: value for key, value in variants[0].items() if key not in _MESSAGES}
    messages = {each: _messages(variant) for (each,), variant in zip(ids, variants, strict=True) if _messages(variant)}
    return {**common, "messagesByPrompt": messages} if messages else common


def _with_own(variants: Sequence[Json]) -> Json:
    own = {key: value for variant in variants for key, value in variant.get("messagesByPrompt", {}).items()}
    return {**variants[0], **({"messagesByPrompt": own} if own else {})}


def _prompts(sources: Sequence[SourceFile], ids: Sequence[Sequence[str]], scenarios: list[Json] | None) -> list[Json]:
    """Return prompts by file; a file without prompts of its own is one prompt with the differences of its content."""
    asked = [
        without_none(system=system, template=template)
        for system, template in zip(_systems(sources, ids, scenarios), _templates(sources, scenarios), strict=True)
    ]
    is_named = len(_names(sources)) == len(sources)
    prompts = []
    for source, (first_id, *_), fields in zip(sources, ids, asked, strict=True):
        label = {"label": source.document["name"][:_MAX_LABEL_LENGTH]} if is_named else {}
        prompts += [{**fields, **prompt} for prompt in _own_prompts(source) or [{"id": first_id, **label}]]
    return prompts


def _templates(sources: Sequence[SourceFile], scenarios: list[Json] | None) -> list[str | None]:
    templates = [_content(source).get("template") for source in sources]
    return templates if scenarios is None and len(set(templates)) > 1 else [None] * len(sources)


def _systems(
    sources: Sequence[SourceFile], ids: Sequence[Sequence[str]], scenarios: list[Json] | None
) -> list[str | None]:
    """Return the system prompt of each file, if they differ, so that it is sent as it is written.

    A prompt's system text is rendered, except with messages by prompt.
    """
    systems = [_content(source).get("system") for source in sources]
    if len(set(systems)) == 1:
        return [None] * len(systems)
    if not any("messagesByPrompt" in scenario for scenario in scenarios or ()):
        return [text and escape_placeholders(text) for text in systems]
    for source, own, text in zip(sources, ids, systems, strict=True):
        is_sent_as_written = all(scenario.get("messagesByPrompt", {}).keys() >= {*own} for scenario in scenarios or ())
        if text and placeholder_names(text) and not is_sent_as_written:
            why = "has a placeholder in brackets, so that every scenario needs messages of its own in each file"
            raise source.refusal([RefusedField("content.system", why)])
    return systems


def _labels(sources: Sequence[SourceFile]) -> Json:
    """Return labels without an id: this is a new definition."""
    folders = {source.document.get("folder") for source in sources}
    tags = dict.fromkeys(tag for source in sources for tag in source.document.get("tags", ()))
    folder = folders.pop() if len(folders) == 1 else None
    return {
        "name": " + ".join(_names(sources))[:_MAX_NAME_LENGTH],
        **without_none(folder=folder),
        **({"tags": list(tags)} if tags else {}),
    }


def _names(sources: Sequence[SourceFile]) -> list[str]:
    return list(dict.fromkeys(source.document["name"] for source in sources))


def _template(sources: Sequence[SourceFile]) -> str | None:
    """Return the template for scenarios; without generation, it has no effect and is left out if files differ."""
    template = _content(sources[0]).get("template") if "generate" in sources[0].document else None
    return template or _common(sources, "template")


def _common(sources: Sequence[SourceFile], key: str) -> str | None:
    values = {_content(source).get(key) for source in sources}
    return values.pop() if len(values) == 1 else None


def _named(sources: Sequence[SourceFile], key: str) -> list[Json]:
    return list({each["name"]: each for source in sources for each in source.document.get(key, ())}.values())


def _content(source: SourceFile) -> Mapping[str, Any]:
    content: Mapping[str, Any] = source.document["content"]
    return content


def _own_prompts(source: SourceFile) -> list[Json]:
    return _content(source).get("prompts") or []


def _messages(scenario: Json) -> list[Json]:
    if scenario.get("prompt") is not None:
        return [{"role": "user", "content": scenario["prompt"]}]
    return scenario.get("messages") or []
