"""Texts for models that write definitions."""

GUIDE = """# How to write a definition

A definition says what targets are asked and how their answers are read. Its scenarios are the cases.

## Content

- `system`: the system prompt.
- `template`: the user's message, with a `[placeholder]` for each dimension, by the dimension's name.
- `dimensions`: what varies between scenarios. Each has a `name` and `levels`, each with a `score` (a number), a
  `label`, and `options`, texts that replace the placeholder (the label if there are none).
- `matchingRules`: which combinations of levels make a scenario: `{"exclude": {"stakes": 1}}`, or `only` and `when`.
- `decision`: how a number from 1 to 5 is read from an answer: a `pattern` (a regular expression with one group), or a
  `rubric` that a `judgeModel` applies.
- `assertions`: checks of every answer, such as `{"type": "contains", "value": "refund"}`.
- `prompts`: several ways to ask the same scenarios.

## Advice

1. Vary one thing per dimension, in three to five levels whose scores ascend with what the dimension means.
2. Let levels be independent: a design with every combination, or a random part of it, separates effects.
3. When two dimensions oppose each other, such as honesty and kindness, write options of equal length and tone, and put
   each in both places in half of the scenarios: position and length have effects of their own.
4. A system prompt that asks for the form of the answer ("end with: Rating: 1 to 5") is cheaper and more reliable than a
   judge; a pattern such as `Rating: ([1-5])` reads it.
5. 30 scenarios detect large differences between targets only; estimates and comparisons name what they can detect.
6. Try it with `sim/steady` first, which is free, then with a sample of the scenarios, then with all of them.
7. Change a definition by a new version or a fork, and compare runs: one change at a time.
"""

TERMS = """# Terms

- definition: what is evaluated: system prompt, template, dimensions, decision rule, assertions; versions never change.
- scenario: one concrete case of a definition, with a score in each dimension.
- target: a model, or an agent behind HTTP, with parameters.
- prompt: one of several ways in which a definition asks.
- run: every target with every prompt, scenario, persona and repeat; `samplePercentage` takes part of the scenarios.
- probe: one conversation of a run. Completed: the target answered. Errored: the infrastructure failed, which says
  nothing about the target.
- transcript: the record of a completed probe.
- decision: 1 to 5, or `other`, read from an answer. It is neither right nor wrong.
- result: whether assertions and criteria passed.
- analysis: figures of one run. Intervals are 95 % intervals, clustered by scenario.
- comparison: a paired test of two runs or targets, by scenario.
- experiment: runs under one hypothesis, with a baseline.
- rescore: grades existing transcripts again without calling targets.
- budget: a spending limit; calls that would exceed it are not made.
"""
