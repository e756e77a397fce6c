"""Lists replies of judges and simulated users, each with its right reading and why.

The cases were written before the code that reads them; docs/assertions.md has the rules in words.

The question to answer for each: what would a person say who sees the reply and not what was judged? If two people could
disagree, there is no verdict.
"""

import json
from typing import Any, NamedTuple

UNUSABLE = None
"""It is the reading of a reply without a verdict, or with more than one."""


class Case(NamedTuple):
    name: str
    reply: str
    reading: Any
    """It is what the grader makes of the reply; UNUSABLE if a repair is to be requested."""
    why: str


def written(**fields: Any) -> str:
    return json.dumps(fields)


PASSED = '{"pass": true, "score": 0.9, "reason": "fine"}'
FAILED = '{"pass": false, "score": 0.1, "reason": "bad"}'

# Readings are (passed, score).
RUBRIC = [
    Case("plain", PASSED, (True, 0.9), "it is as asked"),
    Case("failing", FAILED, (False, 0.1), "it is as asked"),
    # These vary where the object is.
    Case("fence", f"```json\n{PASSED}\n```", (True, 0.9), "a fence is no part of the object"),
    Case("fence in prose", f"My verdict:\n```\n{PASSED}\n```\nDone.", (True, 0.9), "prose has no other verdict"),
    Case("prose around", f"I say {PASSED} since it is good.", (True, 0.9), "prose has no other verdict"),
    Case("braces in prose", f"Let me see {{x}}.\n{PASSED}\nIs {{it}} clear?", (True, 0.9), "{x} is no object"),
    Case("brackets before", f"[1] {PASSED}", (True, 0.9), "a list before it says nothing"),
    Case("in a list", f"[{PASSED}]", (True, 0.9), "it is the only object"),
    Case("in an object", f'{{"result": {PASSED}}}', (True, 0.9), "what wraps it is no verdict"),
    Case("deep in objects", f'{{"a": {{"b": [{PASSED}]}}}}', (True, 0.9), "what wraps it is no verdict"),
    Case("a JSON string", json.dumps(PASSED), (True, 0.9), "the whole reply is the text of an object"),
    Case("byte order mark", f"\ufeff{PASSED}", (True, 0.9), "it has no meaning"),
    Case("another object before", f'Given {{"n": 42}}: {PASSED}', (True, 0.9), "the other is no verdict"),
    # These have reasoning.
    Case("draft in think", f"<think>Maybe {FAILED}? No.</think>\n{PASSED}", (True, 0.9), "a thought is no verdict"),
    Case("draft before </think>", f"Maybe {FAILED}?\n</think>\n{PASSED}", (True, 0.9), "a thought is no verdict"),
    Case("only in think", f"<think>{PASSED}</think>", UNUSABLE, "nothing was answered"),
    Case("think never closed", f"<think>It is fine. {PASSED}", UNUSABLE, "nothing was answered"),
    Case("think in the reason", written(**{"pass": True, "score": 1, "reason": "a <think> tag"}), (True, 1.0),
         "a tag in a string is text"),
    # These may have two verdicts.
    Case("quoted after", f"{FAILED}\n\nI judged: The answer is 41. {PASSED}", UNUSABLE, "either may be the judge's"),
    Case("quoted before", f"I judged: The answer is 41. {PASSED}\n\n{FAILED}", UNUSABLE, "either may be the judge's"),
    Case("format as example", FAILED + '\n(The format was {"pass": true, "score": 1, "reason": "..."}.)', UNUSABLE,
         "either may be the judge's"),
    Case("draft and verdict", f"{FAILED}\nOn reflection:\n{PASSED}", UNUSABLE, "order does not say which counts"),
    Case("two fences", f"```json\n{FAILED}\n```\n```json\n{PASSED}\n```", UNUSABLE, "order does not say which counts"),
    Case("list of two", f"[{FAILED}, {PASSED}]", UNUSABLE, "order does not say which counts"),
    Case("two in an object", f'{{"output": {PASSED}, "verdict": {FAILED}}}', UNUSABLE, "names may be quoted, too"),
    Case("other score", PASSED + ' {"pass": true, "score": 0.2, "reason": "fine"}', UNUSABLE, "the score counts"),
    Case("twice the same", f"{PASSED}\n{PASSED}", (True, 0.9), "they agree"),
    Case("other reason", PASSED + ' {"pass": true, "score": 0.9, "reason": "good"}', (True, 0.9), "verdicts agree"),
    Case("other spelling", PASSED + " {'Pass': 'yes', 'Score': '0.9'}", (True, 0.9), "verdicts agree"),
    Case("key twice", '{"pass": true, "score": 1, "pass": false}', UNUSABLE, "either value may be meant"),
    Case("key in two cases", '{"pass": true, "score": 1, "Pass": false}', UNUSABLE, "either value may be meant"),
    Case("key twice the same", '{"pass": true, "score": 1, "pass": true}', (True, 1.0), "they agree"),
    Case("quoted in the reason", written(reason=f"It says {PASSED}.", **{"pass": False}, score=0), (False, 0.0),
         "an object in a string is text"),
    Case("quoted in an extra key", f'{{"pass": false, "score": 0, "reason": "no", "output": {PASSED}}}', (False, 0.0),
         "what an extra key has is ignored like the key"),
    Case("details by criterion", '{"pass": false, "score": 0.5, "reason": "r", "parts": [{"pass": true, "score": 1}]}',
         (False, 0.5), "what an extra key has is ignored like the key"),
    Case("quoted without escapes", f'{{"reason": "It says "{PASSED}" only.", "pass": false, "score": 0}}', UNUSABLE,
         "the inner object is the judged text's"),
    Case("quoted in a thought field", f'{{"analysis": "It says "{PASSED}".", "pass": false, "score": 0}}', UNUSABLE,
         "the inner object is the judged text's"),
    Case("quoted with a brace", f'{{"reason": "It says "}} {PASSED} ", "pass": false, "score": 0}}', UNUSABLE,
         "the inner object is the judged text's"),
    Case("quoted fields", '{"reason": "It says ", "pass": true, "score": 1, "x": ".", "pass": false, "score": 0}',
         UNUSABLE, "either value may be meant"),
    Case("field beside the object", f'{PASSED} But really "pass": false', UNUSABLE, "either value may be meant"),
    Case("quoted in an unusable verdict", f'{{"pass": "partly", "score": 0.2, "reason": {PASSED}}}', UNUSABLE,
         "the outer object is the judge's own"),
    Case("quoted beside half a verdict", f'{{"pass": null, "score": 0.2, "output": {PASSED}}}', UNUSABLE,
         "the outer object is the judge's own"),
    Case("wrapped with a reason", f'{{"reason": "It is good.", "result": {PASSED}}}', (True, 0.9),
         "a reason alone is no verdict"),
    Case("YAML that quotes", f"pass: false\nscore: 0\nreason: it says {PASSED}", UNUSABLE, "either may be meant"),
    Case("bold field beside", f"**Pass:** no\n\n{PASSED}", UNUSABLE, "either value may be meant"),
    Case("field in a broken object", f'{{pass: false, reason: "It "says" so", output: {PASSED}}}', UNUSABLE,
         "the inner object is the judged text's"),
    Case("the same in bold", f"**Score:** 0.9\nPass: yes\n\n{PASSED}", (True, 0.9), "they agree"),
    Case("prose like a field", f"Pass: the answer is fine.\n{PASSED}", (True, 0.9), "it is no value"),
    # These vary the keys and the other fields.
    Case("extra key", '{"pass": true, "score": 0.9, "reason": "fine", "confidence": 0.8}', (True, 0.9), "not needed"),
    Case("no reason", '{"pass": true, "score": 0.9}', (True, 0.9), "a reason is no part of the verdict"),
    Case("empty reason", '{"pass": true, "score": 0.9, "reason": ""}', (True, 0.9), "the same"),
    Case("null reason", '{"pass": true, "score": 0.9, "reason": null}', (True, 0.9), "the same"),
    Case("reasons as list", '{"pass": true, "score": 0.9, "reason": ["a", "b"]}', (True, 0.9), "the same"),
    Case("reason as object", '{"pass": true, "score": 0.9, "reason": {"a": 1}}', (True, 0.9), "the same"),
    Case("long reason", written(**{"pass": True, "score": 0.9, "reason": "x" * 9_000}), (True, 0.9), "it is cut"),
    Case("upper keys", '{"Pass": true, "Score": 0.9, "Reason": "fine"}', (True, 0.9), "case does not matter"),
    Case("capitals", '{"PASS": true, "SCORE": 0.9}', (True, 0.9), "case does not matter"),
    Case("German keys", '{"bestanden": true, "punktzahl": 1.0}', UNUSABLE, "no key is a known one"),
    Case("another shape", '{"verdict": "correct"}', UNUSABLE, "no key is a known one"),
    # These vary booleans.
    Case("text true", '{"pass": "true", "score": 0.9}', (True, 0.9), "a text that says a boolean"),
    Case("text yes", '{"pass": "Yes.", "score": 0.9}', (True, 0.9), "a text that says a boolean"),
    Case("text no", '{"pass": "no", "score": 0.1}', (False, 0.1), "a text that says a boolean"),
    Case("text fail", '{"pass": "FAIL", "score": 0.1}', (False, 0.1), "a text that says a boolean"),
    Case("one", '{"pass": 1, "score": 1}', (True, 1.0), "1 and 0 are booleans"),
    Case("zero", '{"pass": 0, "score": 0}', (False, 0.0), "1 and 0 are booleans"),
    Case("text partly", '{"pass": "partly", "score": 0.5}', UNUSABLE, "neither yes nor no"),
    Case("true or false", '{"pass": "true|false", "score": 0.5}', UNUSABLE, "neither yes nor no"),
    Case("pass is 0.7", '{"pass": 0.7, "score": 0.7}', UNUSABLE, "neither yes nor no"),
    Case("pass is null", '{"pass": null, "score": 0.9}', UNUSABLE, "a score alone passes nothing without a threshold"),
    Case("no pass", '{"score": 0.9, "reason": "fine"}', UNUSABLE, "a score alone passes nothing without a threshold"),
    # These vary scores; the scale of Cupel's own instructions is 0 to 1.
    Case("no score", '{"pass": true, "reason": "fine"}', (True, 1.0), "as in promptfoo: 1 for a pass"),
    Case("no score, failed", '{"pass": false, "reason": "bad"}', (False, 0.0), "as in promptfoo: 0 for a failure"),
    Case("null score", '{"pass": true, "score": null}', (True, 1.0), "as if it were missing"),
    Case("NaN score", '{"pass": true, "score": NaN}', (True, 1.0), "as if it were missing"),
    Case("text score", '{"pass": true, "score": "0.9"}', (True, 0.9), "a text that says a number"),
    Case("decimal comma", '{"pass": true, "score": "0,9"}', (True, 0.9), "a text that says a number"),
    Case("4/5", '{"pass": true, "score": "4/5"}', (True, 0.8), "a fraction, on a scale from 0 to 1"),
    Case("9 out of 10", '{"pass": true, "score": "9 out of 10"}', (True, 0.9), "a fraction, on a scale from 0 to 1"),
    Case("bare 4/5", '{"pass": true, "score": 4/5}', (True, 0.8), "the same without quotation marks"),
    Case("90%", '{"pass": true, "score": "90%"}', (True, 0.9), "a share, on a scale that begins at 0"),
    Case("bare 90%", '{"pass": true, "score": 90%}', (True, 0.9), "the same without quotation marks"),
    Case("6/5", '{"pass": true, "score": "6/5"}', UNUSABLE, "more than everything"),
    Case("nine", '{"pass": true, "score": 9}', UNUSABLE, "of 10 or of 100?"),
    Case("ninety", '{"pass": true, "score": 90}', UNUSABLE, "of 100, or 90 of something else?"),
    Case("negative", '{"pass": false, "score": -1}', UNUSABLE, "outside of the scale"),
    Case("high", '{"pass": true, "score": "high"}', UNUSABLE, "no number"),
    Case("true as score", '{"pass": true, "score": true}', UNUSABLE, "no number"),
    Case("infinite digits", '{"pass": true, "score": ' + "9" * 5_000 + "}", UNUSABLE, "no number that can be read"),
    # These have broken JSON.
    Case("trailing comma", '{"pass": true, "score": 0.9, "reason": "fine",}', (True, 0.9), "nothing follows it"),
    Case("line break", '{"pass": true, "score": 0.9, "reason": "two\nlines"}', (True, 0.9), "it belongs to the string"),
    Case("control characters", '{"pass": true, "score": 0.9, "reason": "a\tb\x00\x1b[31m"}', (True, 0.9), "the same"),
    Case("Python", "{'pass': True, 'score': 0.9, 'reason': None}", (True, 0.9), "a Python literal says the same"),
    Case("Python words", '{"pass": False, "score": 0.1}', (False, 0.1), "a Python literal says the same"),
    Case("apostrophe", "{'pass': True, 'score': 1, 'reason': 'it's fine'}", UNUSABLE, "where does the string end?"),
    Case("inner quotes", '{"pass": true, "score": 1, "reason": "it says "hi" there"}', UNUSABLE,
         "where does the string end?"),
    Case("bare keys", "{pass: true, score: 0.9}", (True, 0.9), "a JavaScript literal says the same"),
    Case("typographic quotes", "{“pass”: true, “score”: 0.9, “reason”: “fine”}", (True, 0.9), "the same quotes"),
    Case("comments", '{"pass": true, /* ok */ "score": 0.9, // \n "reason": "r"} // end', (True, 0.9), "no content"),
    Case("invalid escapes", '{"pass": true, "score": 0.9, "reason": "\\$5 and \\_x"}', (True, 0.9), "the character"),
    Case("half an emoji", '{"pass": true, "score": 0.9, "reason": "\\ud83d"}', (True, 0.9), "the reason is repaired"),
    Case("cut", '{"pass": true, "score": 0.9, "reason": "it is', UNUSABLE, "it was not finished"),
    Case("cut before the end", '{"pass": true, "score": 0.9', UNUSABLE, "it was not finished: 0.9, or 0.95?"),
    Case("cut after a draft", f'{PASSED} {{"pass": false, "score": 0.', UNUSABLE, "the second was not finished"),
    Case("template", '{"pass": <true|false>, "score": <0-1>}', UNUSABLE, "no values"),
    Case("YAML", "pass: true\nscore: 0.9\nreason: fine", UNUSABLE, "no object"),
    Case("empty", "", UNUSABLE, "nothing was answered"),
    Case("white space", " \n ", UNUSABLE, "nothing was answered"),
    Case("null", "null", UNUSABLE, "no object"),
    Case("yes", "yes", UNUSABLE, "no object; a rubric needs a score, too"),
    Case("only a score", "0.9", UNUSABLE, "no object"),
    Case("refusal", "I'm sorry, but I can't assist with evaluating this content.", UNUSABLE, "it refused to judge"),
    Case("refusal of a policy", "I cannot help with that request.", UNUSABLE, "it refused to judge"),
]  # fmt: skip

# The rubric has the threshold 0.5; readings are (passed, score).
THRESHOLD = [
    Case("score above", '{"score": 0.9, "reason": "fine"}', (True, 0.9), "the threshold decides"),
    Case("score below", '{"score": 0.2, "reason": "bad"}', (False, 0.2), "the threshold decides"),
    Case("text score", '{"Score": "50%"}', (True, 0.5), "the threshold decides"),
    Case("pass with a low score", '{"pass": true, "score": 0.2}', (False, 0.2), "both must hold"),
    Case("failure with a high score", '{"pass": false, "score": 0.9}', (False, 0.9), "both must hold"),
    Case("no score", '{"pass": true}', (True, 1.0), "as in promptfoo: 1 for a pass"),
    Case("neither", '{"reason": "fine"}', UNUSABLE, "it has no verdict"),
    Case("different scores, same side", '{"score": 0.9} {"score": 0.8}', UNUSABLE, "the score counts"),
]

# The author's own rubricPrompt says "a score from 0 to 10"; readings are (passed, score).
OWN_SCALE = [
    Case("its shape", '{"score": 8, "reason": "fine"}', (True, 0.8), "as in promptfoo, pass is true by default"),
    Case("its lowest", '{"score": 0, "reason": "bad"}', (True, 0.0), "the same: only a threshold or pass can fail it"),
    Case("as Cupel's own", '{"pass": true, "score": 8, "reason": "fine"}', (True, 0.8), "8 of 10"),
    Case("failing", '{"pass": false, "score": 8}', (False, 0.8), "pass decides"),
    Case("8/10", '{"score": "8/10"}', (True, 0.8), "a fraction of the scale"),
    Case("4/5", '{"score": "4/5"}', UNUSABLE, "4 of 10, or 8 of 10?"),
    Case("80%", '{"score": "80%"}', (True, 0.8), "a share, on a scale that begins at 0"),
    Case("above the scale", '{"score": 11}', UNUSABLE, "outside of the scale"),
    Case("above the scale, with pass", '{"pass": true, "score": 11}', UNUSABLE, "outside of the scale"),
    Case("only pass", '{"pass": "no"}', (False, 0.0), "as in promptfoo: 0 for a failure"),
    Case("scores by part", '{"score": 7, "parts": {"tone": {"score": 5}, "facts": {"score": 9}}}', (True, 0.7),
         "what an extra key has is ignored like the key"),
    Case("two scores", '{"score": 7}\n{"score": 2}', UNUSABLE, "order does not say which counts"),
    Case("neither", '{"verdict": "correct"}', UNUSABLE, "promptfoo passes it; nothing says so"),
]  # fmt: skip

# The same prompt has the threshold 7, which is on its scale.
OWN_THRESHOLD = [
    Case("above", '{"score": 8, "reason": "fine"}', (True, 0.8), "8 is at least 7"),
    Case("below", '{"score": "6.5"}', (False, 0.65), "6.5 is less than 7"),
    Case("pass and below", '{"pass": true, "score": 6}', (False, 0.6), "both must hold"),
    Case("only pass", '{"pass": true}', (True, 1.0), "the score of a pass is the highest"),
]

# The author's own rubricPrompt states no scale; readings are (passed, score).
OWN_UNKNOWN = [
    Case("a share", '{"score": 0.4}', (True, 0.4), "the usual scale is 0 to 1"),
    Case("beyond 1", '{"score": 8}', UNUSABLE, "the scale is unknown: config.range states it"),
    Case("beyond 1 with pass", '{"pass": false, "score": 8}', (False, 0.0), "pass decides; 8 of what is unknown"),
]

# The criteria are a success and a failure; readings are (success met, failure met).
CRITERIA = [
    Case("plain", '{"successMet": true, "failureMet": false, "confidence": 0.9, "reasoning": "r"}', (True, False),
         "it is as asked"),
    Case("extra key", '{"successMet": true, "failureMet": false, "confidence": 1, "reasoning": "r", "score": 1}',
         (True, False), "not needed"),
    Case("snake case", '{"success_met": true, "failure_met": false}', (True, False), "style does not matter"),
    Case("Pascal case", '{"SuccessMet": true, "FailureMet": false}', (True, False), "style does not matter"),
    Case("words", '{"success met": "yes", "failure-met": "no"}', (True, False), "style does not matter"),
    Case("no confidence", '{"successMet": true, "failureMet": false, "reasoning": "r"}', (True, False),
         "confidence is no part of the verdict"),
    Case("confidence in words", '{"successMet": true, "failureMet": false, "confidence": "high"}', (True, False),
         "confidence is no part of the verdict"),
    Case("confidence 95", '{"successMet": true, "failureMet": false, "confidence": 95}', (True, False),
         "confidence is no part of the verdict"),
    Case("not met", '{"successMet": "not met", "failureMet": "met"}', (False, True), "a text that says a boolean"),
    Case("null failure", '{"successMet": true, "failureMet": null}', UNUSABLE, "null does not say no"),
    Case("no failure", '{"successMet": true}', UNUSABLE, "it was asked for and not answered"),
    Case("perhaps", '{"successMet": "maybe", "failureMet": false}', UNUSABLE, "neither yes nor no"),
    Case("other confidence", '{"successMet": true, "failureMet": false, "confidence": 1} '
         '{"successMet": true, "failureMet": false, "confidence": 0}', (True, False), "verdicts agree"),
    Case("quoted", '{"successMet": false, "failureMet": true} It said {"successMet": true, "failureMet": false}',
         UNUSABLE, "either may be the judge's"),
    Case("prose", "I think so!", UNUSABLE, "no object"),
    Case("refusal", "As an AI, I cannot judge this conversation.", UNUSABLE, "it refused to judge"),
]  # fmt: skip

# Readings are the category.
FACTUALITY = [
    Case("plain", '{"reason": "r", "category": "A"}', "A", "it is as asked"),
    Case("extra key", '{"category": "C", "reason": "r", "confidence": 0.9}', "C", "not needed"),
    Case("lower case", '{"reason": "r", "category": "a"}', "A", "case does not matter"),
    Case("parentheses", '{"reason": "r", "category": "(B)"}', "B", "punctuation does not matter"),
    Case("with its meaning", '{"reason": "r", "category": "C: same details"}', "C", "what follows explains it"),
    Case("its name", '{"reason": "r", "category": "superset"}', "B", "the name that config has for it"),
    Case("promptfoo's form", "(C) The submitted answer has the same details.", "C", "a category in parentheses"),
    Case("letter", "C", "C", "the whole reply is a category"),
    Case("letter in bold", "**D**", "D", "punctuation does not matter"),
    Case("two letters", '{"category": "A or B"}', UNUSABLE, "either may be meant"),
    Case("list", '{"category": ["A"]}', UNUSABLE, "no category"),
    Case("unknown", '{"category": "F"}', UNUSABLE, "no category"),
    Case("null", '{"category": null}', UNUSABLE, "no category"),
    Case("a sentence", "A submission like this is fine.", UNUSABLE, "a word is no category"),
    Case("quoted", '{"category": "D"} The submission was {"category": "C"}', UNUSABLE, "either may be the judge's"),
]

# The labels are "relevant", "irrelevant" and "Partly relevant".
LABEL = [
    Case("plain", '{"reason": "r", "label": "relevant"}', "relevant", "it is as asked"),
    Case("other case", '{"label": "Relevant"}', "relevant", "case does not matter"),
    Case("punctuation", '{"label": " relevant. "}', "relevant", "punctuation does not matter"),
    Case("upper case", '{"LABEL": "PARTLY RELEVANT"}', "Partly relevant", "case does not matter"),
    Case("bare", "Irrelevant", "irrelevant", "the whole reply is a label"),
    Case("two", '{"label": "relevant/irrelevant"}', UNUSABLE, "either may be meant"),
    Case("denied", '{"label": "not relevant"}', UNUSABLE, "no label"),
    Case("two objects", '{"label": "relevant"} {"label": "irrelevant"}', UNUSABLE, "order does not say which counts"),
]

# The range is 0 to 10.
SCORE = [
    Case("plain", '{"reason": "r", "score": 7}', 7.0, "it is as asked"),
    Case("text", '{"score": "7"}', 7.0, "a text that says a number"),
    Case("fraction", '{"score": "7/10"}', 7.0, "a fraction of the scale"),
    Case("bare", "7", 7.0, "the whole reply is a score"),
    Case("outside", '{"score": 11}', UNUSABLE, "outside of the scale"),
    Case("missing", '{"reason": "good"}', UNUSABLE, "it has no score"),
    Case("null", '{"score": null}', UNUSABLE, "it has no score"),
    Case("interval", '{"score": "7-8"}', UNUSABLE, "either may be meant"),
]

# The scale of G-Eval is 0 to 10.
RATING = [
    Case("half points", '{"reason": "r", "score": 8.5}', 8.5, "finer than asked, and clear"),
    Case("text", '{"reason": "r", "score": "8"}', 8.0, "a text that says a number"),
    Case("outside", '{"reason": "r", "score": 85}', UNUSABLE, "outside of the scale"),
]

STEPS = [
    Case("plain", '{"steps": ["a", "b"]}', ["a", "b"], "it is as asked"),
    Case("objects", '{"steps": [{"step": 1, "text": "a"}, {"step": 2, "text": "b"}]}', ["a", "b"], "their texts"),
    Case("lines", '{"steps": "1. a\\n2. b"}', ["1. a", "2. b"], "one a line"),
    Case("many", json.dumps({"steps": ["a"] * 30}), ["a"] * 20, "the first are enough"),
    Case("none", '{"steps": []}', UNUSABLE, "there is none"),
]

# The two texts have the numbers 0 and 1.
CHOICE = [
    Case("plain", '{"reason": "r", "index": 1}', 1, "it is as asked"),
    Case("text", '{"index": "1"}', 1, "a text that says a number"),
    Case("float", '{"index": 1.0}', 1, "a whole number"),
    Case("bare", "1", 1, "the whole reply is a number"),
    Case("half", '{"index": 0.5}', UNUSABLE, "no number of a text"),
    Case("outside", '{"index": 2}', UNUSABLE, "no number of a text"),
    Case("two", '{"index": 0} {"index": 1}', UNUSABLE, "order does not say which counts"),
]

DECISION = [
    Case("plain", '{"decisionCode": "4", "decisionText": "t"}', "4", "it is as asked"),
    Case("number", '{"decisionCode": 4, "decisionText": "t"}', "4", "a number that says a code"),
    Case("snake case", '{"decision_code": "4"}', "4", "style does not matter"),
    Case("capital", '{"decisionCode": "Other", "decisionText": "t"}', "other", "case does not matter"),
    Case("no text", '{"decisionCode": "4"}', "4", "the text is no part of the decision"),
    Case("with its meaning", '{"decisionCode": "4: mostly"}', "4", "what follows explains it"),
    Case("between", '{"decisionCode": "4.5"}', UNUSABLE, "no code"),
    Case("interval", '{"decisionCode": "4-5"}', UNUSABLE, "either may be meant"),
    Case("outside", '{"decisionCode": "7"}', UNUSABLE, "no code"),
    Case("two", '{"decisionCode": "4"} {"decisionCode": "2"}', UNUSABLE, "order does not say which counts"),
]

# A simulated user replies; readings are the message.
USER = [
    Case("plain", '{"content": "On Tuesday, please."}', "On Tuesday, please.", "it is as asked"),
    Case("extra key", '{"content": "Hi", "mood": "angry"}', "Hi", "not needed"),
    Case("capital", '{"Content": "Hi"}', "Hi", "case does not matter"),
    Case("bare", "On Tuesday, please.", "On Tuesday, please.", "a message is all that is wanted"),
    Case("bare after thoughts", "<think>angry</think>\nOn Tuesday!", "On Tuesday!", "a thought is no message"),
    Case("a JSON string", '"On Tuesday, please."', "On Tuesday, please.", "the message in quotation marks"),
    Case("braces in it", "Please use {name} and {}.", "Please use {name} and {}.", "no object"),
    Case("JSON in it", 'Why is {"a": 1} refused?', 'Why is {"a": 1} refused?', "the object is part of a message"),
    Case("line breaks", '{"content": "a\nb"}', "a\nb", "they belong to the message"),
    Case("prose around", 'Here it is: {"content": "Hi"}', "Hi", "the object is the answer"),
    Case("another object", '{"words": "no"}', UNUSABLE, "which of its texts is the message?"),
    Case("no text", '{"content": null}', UNUSABLE, "there is no message"),
    Case("cut", '{"content": "On Tues', UNUSABLE, "it was not finished"),
    Case("a list", '["Hi"]', UNUSABLE, "no message"),
    Case("two messages", '{"content": "a"} {"content": "b"}', UNUSABLE, "order does not say which counts"),
    Case("empty", "", UNUSABLE, "there is no message"),
    Case("only thoughts", "<think>hm</think>", UNUSABLE, "there is no message"),
    Case("refusal", "I'm sorry, but I can't assist with that request.", UNUSABLE, "the model refused the role"),
    Case("a polite no", "Sorry, I can't do Tuesday.", "Sorry, I can't do Tuesday.", "users say that"),
]

TABLES = {
    "rubric": RUBRIC, "threshold": THRESHOLD, "own scale": OWN_SCALE, "own threshold": OWN_THRESHOLD,
    "own unknown": OWN_UNKNOWN, "criteria": CRITERIA, "factuality": FACTUALITY, "label": LABEL, "score": SCORE,
    "rating": RATING, "steps": STEPS, "choice": CHOICE, "decision": DECISION, "user": USER,
}  # fmt: skip
