"""Authors of templates, expressions and formulas cannot reach Python, files or names of others, nor run without end."""

import contextlib
import json
import time
from math import isfinite
from typing import Any

import pytest

from cupel_core import sandbox
from cupel_core.domain.scoring.derived_metrics import DerivedMetric, derive, expression_issue
from cupel_core.providers.connectors.expressions import evaluate_expressions, expression_error
from cupel_core.sandbox.templating.errors import RenderError
from cupel_core.sandbox.templating.operation_templates import is_quick, render, template_errors
from tests.in_one_test import in_one_test

CONTEXT: dict[str, Any] = {
    "user": {"text": "hello", "original": "hello"}, "messages": [{"role": "user", "content": "hello"}],
    "vars": {"a": 1, "b": [1, 2], "c": {"d": "e"}}, "art": {}, "now": "2026-01-01", "system": "s",
}  # fmt: skip
PYTHON = ("<class", "<function", "<module", "<built-in", "<bound method", "<generator", "<Undefined", "object at 0x",
          "__", "root:", "os.environ", "Permission denied")  # fmt: skip
"""Only Python, or a file of the system, could have written these."""
TEMPLATES = (
    "{{ ''.__class__.__mro__[1].__subclasses__() }}",
    "{{ user.__class__ }}", "{{ user['__class__'] }}", "{{ user.text['__class__'] }}",
    "{{ messages.__class__.__base__ }}", "{{ vars.a.__class__.__mro__ }}", "{{ vars.a.real }}{{ vars.a.to_bytes }}",
    "{{ (1.5).hex }}{{ (1.5).as_integer_ratio() }}", "{{ true.__class__ }}{{ none.__class__ }}",
    "{{ user | attr('__class__') }}", "{{ [user] | map(attribute='__class__') | list }}",
    "{{ [user] | selectattr('__class__') | list | length }}", "{{ messages | groupby('__class__') }}",
    "{{ messages | sort(attribute='__class__.__name__') }}", "{{ messages | sum(attribute='role.__class__') }}",
    "{{ range.__class__ }}", "{{ range.__init__.__globals__ }}", "{{ recent.__globals__ }}",
    "{{ recent.__closure__ }}", "{{ recent_text.__code__ }}", "{{ recent }}", "{{ range }}", "{{ range(3) }}",
    "{{ self }}", "{{ self.__class__ }}", "{{ self._TemplateReference__context }}", "{{ loop }}",
    "{% for x in [1] %}{{ loop.__class__ }}{{ loop._iterable }}{{ loop.cycle.__globals__ }}{% endfor %}",
    "{{ cycler.__init__.__globals__ }}", "{{ lipsum.__globals__ }}", "{{ joiner() }}", "{{ namespace() }}",
    "{{ get_flashed_messages }}{{ config }}{{ request }}{{ url_for }}",
    "{{ '{0.__class__}'.format(user) }}", "{{ '{0.__class__}' | format(user) }}", "{{ '%s' % user }}",
    "{{ 'a'.format_map(user) }}", "{{ 'a'.join(['b']) }}", "{{ messages.append(1) }}", "{{ user.update({'x': 1}) }}",
    "{{ user.items() }}", "{{ user.pop('text') }}", "{{ vars.c.keys() }}", "{{ __steps }}", "{{ __builtins__ }}",
    "{% set __steps = [9999999] %}{% for a in range(99999) %}{% endfor %}", "{% include '/etc/passwd' %}",
    "{% import 'os' as os %}{{ os }}", "{% from 'os' import environ %}", "{% extends '/etc/passwd' %}",
    "{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "{% call range(3) %}{% endcall %}",
    "{% block a %}{% endblock %}", "{% autoescape false %}{% endautoescape %}", "{% do messages.append(1) %}",
    "{% set user.text = 'x' %}", "{% debug %}", "{{ caller }}{{ varargs }}{{ kwargs }}", "{{ environment }}",
    "{{ context }}{{ resolve }}{{ super }}", "{{ user | pprint }}", "{{ user | tojson }}", "{{ user | xmlattr }}",
    "{{ messages | random }}", "{{ 'os' | import }}", "{{ user.text.encode('utf-16') }}", "{{ 'a' ~ range }}",
    "{{ ('__cla' ~ 'ss__') }}{{ user['__cla' ~ 'ss__'] }}", "{{ user['\\x5f\\x5fclass\\x5f\\x5f'] }}",
    "{{ 1 if user.__eq__(1) else 2 }}", "{{ [range][0].__self__ }}", "{{ {'a': range}.a }}", "{{ (range,)[0] }}",
    "{{ {'a': recent} | json }}", "{{ range | string }}{{ recent | string }}", "{{ user | length.__class__ }}",
)  # fmt: skip
ENDLESS = (
    "{% for a in range(999999999) %}{% endfor %}", "{{ 'a' * 999999999 }}", "{{ [0] * 999999999 }}",
    "{{ 2 ** 999999999 }}", "{{ 9 ** 9 ** 9 }}", "{{ 1e308 * 10 }}", "{{ 'a' | truncate(999999999) }}",
    "{{ range(999999999) | list | length }}", "{{ range(999999999) | sum }}", "{{ range(10 ** 9) | json }}",
    "{% set a = 'aaaaaaaaaa' %}" + "{% set a = a ~ a %}" * 60 + "{{ a }}",
    "{% set a = [1] %}" + "{% set a = a + a %}" * 60 + "{{ a | length }}",
    "{% set a = {'a': 1} %}" + "{% set a = {'a': a, 'b': a} %}" * 40 + "{{ a }}",
    "{{ " + "(" * 5_000 + "1" + ")" * 5_000 + " }}", "{{ " + "not " * 50_000 + "1 }}", "{{ 1" + " + 1" * 50_000 + " }}",
    "{{ '%999999999d' % 1 }}", "{{ 'a' | batch(999999999, 'b') | list }}", "{{ messages | slice(999999999) | list }}",
    "{{ 1 | round(999999999) }}", "{{ 'x' | urlencode" + " | urlencode" * 200 + " }}",
)  # fmt: skip
MAX_SECONDS = 15


async def rendered(template: str) -> str:
    """Render the template as an operation does: in the sandbox, unless it is quick."""
    if is_quick(template):
        return render(template, CONTEXT, strict=False)
    return str(
        await sandbox.run("cupel_core.sandbox.templating.operation_templates:render_task", template, CONTEXT, False)
    )


@in_one_test("template", TEMPLATES)
async def test_no_template_reaches_python(template: str) -> None:
    try:
        output = await rendered(template)
    except (RenderError, sandbox.ExpressionError):
        return
    assert not [mark for mark in PYTHON if mark in output.replace("__class__", "", 1)], output
    assert CONTEXT["user"] == {"text": "hello", "original": "hello"}


@pytest.mark.parametrize("template", ENDLESS, ids=range(len(ENDLESS)))
async def test_every_template_ends(template: str) -> None:
    started = time.process_time()
    with contextlib.suppress(RenderError, sandbox.ExpressionError):
        assert len(await rendered(template)) <= 1_000_000
    assert time.process_time() - started < MAX_SECONDS
    assert len(template_errors([template], [])[0]) == 1


EXPRESSIONS = (
    "__class__", '"__class__"."__mro__"', "@.__class__", "keys(@)[0].__class__", "type(`{}`)", "to_string(&a)",
    "map(&__class__, [@])", "sort_by([@], &__class__)", "eval('1')", "__import__('os')", "open('/etc/passwd')",
    "`{\"a\": \"" + "x" * 1_500 + "\"}`", "[" * 500 + "]" * 500, "@" + " | @" * 400, "a" + ".a" * 900,
    "*.*.*.*.*.*.*.*.*.*", "[*][*][*][*]", "join('', map(&to_string(@), [@, @, @]))", "reverse('abc')",
    "max_by([@], &a)", "not_null(__class__, 'x')", "@[?__class__ == 'dict']", "to_number('1e999')",
    "to_number('9' )", "sum([`1e308`, `1e308`])", "avg([])", "&a", "merge(@, @, @)",
)  # fmt: skip


@in_one_test("expression", EXPRESSIONS, ids=range(len(EXPRESSIONS)))
async def test_no_expression_reaches_python(expression: str) -> None:
    if expression_error(expression) is not None:
        return
    try:
        found = (await evaluate_expressions({"x": expression}, {"a": {"b": [1, "c"]}}, 30))["x"]
    except sandbox.ExpressionError:
        return
    json.dumps(found.value, allow_nan=False)
    assert not [mark for mark in PYTHON[:7] if mark in str(found.value)], found.value


FORMULAS = (
    "__class__", "a.__class__", "().__class__", "abs.__globals__", "exp(1e9)", "9^9^9", "pow(10, 10000)",
    "1/0", "0/0", "log(0)", "sqrt(-1)", "(" * 400 + "1" + ")" * 400, "-" * 499 + "1", "1" * 500, "1e999",
    "round(1e308)", "floor(exp(709))", "ceil(1e999)", "max()", "min(a, b, c)", "__import__", "a = 1", "lambda: 1",
    "1 ? 2 : 3 ? 4 : 5", "a[0]", "'x'", "1;2", "a\nb", "\u0661 + 1", "abs(1, 2)", "pow(2)", "pow(-8, 1/3)",
)  # fmt: skip


@in_one_test("formula", FORMULAS, ids=range(len(FORMULAS)))
def test_a_formula_gives_a_finite_number_or_none(formula: str) -> None:
    if expression_issue(formula) is not None:
        return
    derived = derive([DerivedMetric("x", formula)], {"a": 1.0, "b": 2.0}, 3)
    assert all(isinstance(value, float | int) and isfinite(value) for value in derived.values())
