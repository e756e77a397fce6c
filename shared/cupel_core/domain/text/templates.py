"""Templates with `[placeholders]`.

A placeholder is a name in brackets that starts with a letter and consists of letters, digits, spaces, `_` and `-`.
Case is ignored, and spaces, `_` and `-` are equivalent, so `[Risk level]` refers to the dimension `risk_level`.
`[1-5]` and `[a, b]` are plain text, and so is a name after a backslash: `\\[name]` is rendered as `[name]`.
"""

import re
from collections.abc import Mapping

from cupel_core.base.deferred import dataclass

_PLACEHOLDER = re.compile(r"(\\?)\[([^\W\d_][\w \-]{0,99})\]")
_SEPARATORS = re.compile(r"[\s_-]+")


def normalize_name(name: str) -> str:
    """Return the normalized name, which is equal for a placeholder and its dimension."""
    return _SEPARATORS.sub(" ", name).strip().casefold()


def placeholder_names(template: str) -> list[str]:
    """Return the names in brackets as written, each once, in order of appearance."""
    names: dict[str, str] = {}
    for escape, name in _PLACEHOLDER.findall(template):
        if not escape:
            names.setdefault(normalize_name(name), name)
    return list(names.values())


def escape_placeholders(text: str) -> str:
    """Return a template that is rendered as this text."""
    return _PLACEHOLDER.sub(lambda match: f"\\{match[0]}", text)


@dataclass(frozen=True)
class Template:
    """Contains a parsed template: texts, with a placeholder's normalized name between each two."""

    texts: tuple[str, ...]
    names: tuple[str, ...]

    @classmethod
    def parse(cls, template: str) -> "Template":
        texts, names, end, text = [], [], 0, ""
        for match in _PLACEHOLDER.finditer(template):
            text += template[end : match.start()]
            end = match.end()
            if match[1]:
                text += f"[{match[2]}]"
                continue
            texts.append(text)
            names.append(normalize_name(match[2]))
            text = ""
        return cls((*texts, text + template[end:]), tuple(names))

    def max_length(self, lengths: Mapping[str, int]) -> int:
        """Return the maximum length of the rendered text, given the maximum length of each value by normalized name."""
        return sum(map(len, self.texts)) + sum(lengths[name] for name in self.names)

    def render(self, values: Mapping[str, str]) -> str:
        """Render with `values` by normalized name. Raises KeyError for a placeholder without a value."""
        parts = [part for text, name in zip(self.texts, self.names, strict=False) for part in (text, values[name])]
        return "".join((*parts, self.texts[-1]))


def render(template: str, values: Mapping[str, str]) -> str:
    return Template.parse(template).render({normalize_name(name): value for name, value in values.items()})
