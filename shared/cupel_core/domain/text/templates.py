"""Templates with `[placeholders]`.

A placeholder is a name in brackets that begins with a letter and has letters, digits, spaces, `_` and `-`. Case does
not count, and spaces, `_` and `-` are alike, so `[Risk level]` stands for a dimension `risk_level`. `[1-5]` or `[a, b]`
is plain text, and so is a name after a backslash: `\\[name]` is rendered as `[name]`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_PLACEHOLDER = re.compile(r"(\\?)\[([^\W\d_][\w \-]{0,99})\]")
_SEPARATORS = re.compile(r"[\s_-]+")


def normal_name(name: str) -> str:
    """What a placeholder and the dimension it stands for have in common."""
    return _SEPARATORS.sub(" ", name).strip().casefold()


def placeholders(template: str) -> list[str]:
    """The names in brackets as written, each once, in order of appearance."""
    found: dict[str, str] = {}
    for escape, name in _PLACEHOLDER.findall(template):
        if not escape:
            found.setdefault(normal_name(name), name)
    return list(found.values())


@dataclass(frozen=True)
class Template:
    """A template taken apart once and rendered many times: texts, with a placeholder's normal name between each two."""

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
            names.append(normal_name(match[2]))
            text = ""
        return cls((*texts, text + template[end:]), tuple(names))

    def render(self, values: Mapping[str, str]) -> str:
        """`values` by normal name; KeyError for a placeholder without one."""
        pieces = [piece for text, name in zip(self.texts, self.names, strict=False) for piece in (text, values[name])]
        return "".join((*pieces, self.texts[-1]))


def render(template: str, values: Mapping[str, str]) -> str:
    """`values` by name of the dimension, however it is written."""
    return Template.parse(template).render({normal_name(name): value for name, value in values.items()})
