import pytest

from cupel_core.interop.imports.promptfoo.templates import escape_unclosed_tags, render
from cupel_core.sandbox.templating.errors import RenderError


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("{{ x }}", "blue"),
        ("{{x|upper}}", "BLUE"),
        ("{% if yes %}a{% else %}b{% endif %}", "a"),
        ("{% for each in list %}{{ loop.index }}{{ each }} {% endfor %}", "1a 2b "),
        ("{% for key, value in object %}{{ key }}={{ value }}{% endfor %}", "k=1"),
        ("{{ object.k }} {{ object['k'] }}", "1 1"),
        ("{{ list.length }} {{ x.length }}", "2 4"),
        ("{{ missing }}{{ missing.deeper.still }}", ""),
        ("{{ null }} {{ yes }} {{ list }} {{ object }} {{ whole }}", " true a,b [object Object] 2"),
        ("{{ object | dump }}", '{"k":1}'),
        ("{{ ('[1]' | load)[0] }}", "1"),
        ("{{ list | join('-') }} {{ x | replace('b', 'g') }} {{ missing | default('d') }}", "a-b glue d"),
        ("{{ 'a' ~ 1 }} {{ 'a' + 1 }} {{ 4 / 2 }}", "a1 a1 2"),
        ("{% raw %}{{ x }}{% endraw %}\n", "{{ x }}\n"),
        ("{% set y = x %}{{ y }}{# nothing #}", "blue"),
    ],
)
def test_a_template_is_rendered_as_nunjucks_would(template: str, text: str) -> None:
    variables = {"x": "blue", "yes": True, "list": ["a", "b"], "object": {"k": 1}, "null": None, "whole": 2.0}
    assert render(template, variables) == text


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__subclasses__() }}",
        "{{ x.format(x) }}",
        "{{ list.append(1) }}",
        "{{ env.HOME }}",
        "{{ range(9999999999) }}",
        "{% include 'x' %}",
        "{% import 'x' as y %}",
        "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
        "{{ x | attr('__class__') }}",
        "{{ x | pprint }}",
        "{{ x === 'blue' }}",
        "{{ x.toUpperCase() }}",
        "{% for a in range(999) %}{% for b in range(999) %}{% endfor %}{% endfor %}",
        "{{ 'x' * 999999999 }}",
        "{{ 9 ** 999 }}",
        "{{ '%999999999d' % 1 }}",
        "{% set a = 'aaaaaaaaaa' %}" + "{% set a = a | replace('a', a) %}" * 9 + "{{ a }}",
        "{% set a = 'aaaaaaaaaa' %}" + "{% set a = a ~ a %}" * 30 + "{{ a }}",
        "{% set a = 'aaaaaaaaaa' %}" + "{% set a = a + a %}" * 30 + "{{ a }}",
        "{{ " + "(" * 500 + "1" + ")" * 500 + " }}",
        "{% if x %}" * 200 + "{% endif %}" * 200,
        "{{ x ",
    ],
)
def test_an_unsupported_or_too_expensive_template_is_rejected(template: str) -> None:
    with pytest.raises(RenderError):
        render(template, {"x": "blue", "list": []})


def test_python_internals_are_not_accessible() -> None:
    assert render("{{ x.__class__ }}{{ x['__class__'] }}{{ list.__class__.__mro__[1] }}", {"x": "a", "list": []}) == ""


def test_an_unclosed_tag_is_plain_text() -> None:
    assert render(escape_unclosed_tags("a {{ b"), {}) == "a {{ b"


def test_the_steps_of_loops_are_limited() -> None:
    with pytest.raises(RenderError, match="loops"):
        render("{% for a in l %}{% for b in l %}{% endfor %}{% endfor %}", {"l": ["x"] * 1_000})


@pytest.mark.parametrize("template", ["a\r\nb\rc", "a\r\n{{ x }}\r\n{% if x %}\r\nb{% endif %}"])
def test_carriage_returns_of_a_text_stay(template: str) -> None:
    assert render(template, {"x": ""}).count("\r") == template.count("\r") - ("if" in template)


def test_a_list_has_no_element_before_its_first() -> None:
    assert render("[{{ list[-1] }}{{ x[-1] }}{{ list[1] }}]", {"list": ["a", "b"], "x": "y"}) == "[b]"


def test_numbers_are_printed_as_in_javascript() -> None:
    variables = {"large": 1e21, "small": 1e-7, "long": 12345678901234567}
    assert render("{{ large }} {{ small }} {{ long }}", variables) == "1e+21 1e-7 12345678901234568"
