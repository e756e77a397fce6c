"""OpenAI's own client: the same as `life.mjs`, of which this prints the same JSON. Arguments: the base URL, the key."""

import json
import sys

from openai import BadRequestError, OpenAI

client = OpenAI(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0)
TEXTS = {"input": "{{ sample.output_text }}", "reference": "{{ item.answer }}"}
JUDGED = [{"role": "user", "content": "Rate {{ sample.output_text }}"}]
EXACT = {"type": "string_check", "name": "exact", **TEXTS, "operation": "eq"}
LABELS = {"labels": ["a", "b"], "passing_labels": ["a"]}
GRADERS = [
    EXACT,
    {"type": "text_similarity", "name": "near", **TEXTS, "evaluation_metric": "bleu", "pass_threshold": 0.5},
    {"type": "label_model", "name": "kind", "model": "sim/steady", "input": JUDGED, **LABELS},
    {
        "type": "score_model",
        "name": "quality",
        "model": "sim/steady",
        "input": JUDGED,
        "range": [1, 7],
        "pass_threshold": 1,
    },
]
CONFIG = {
    "type": "custom",
    "item_schema": {"type": "object", "properties": {"question": {"type": "string"}}},
    "include_sample_schema": True,
}
created = client.evals.create(name="Python", data_source_config=CONFIG, testing_criteria=[EXACT])
each = client.evals.create(data_source_config=CONFIG, testing_criteria=GRADERS)
rows = [{"item": {"question": text, "answer": "a"}, "sample": {"output_text": text}} for text in ("a", "b")]
file = client.files.create(file=("rows.jsonl", "\n".join(map(json.dumps, rows)).encode()), purpose="evals")
messages = {"type": "template", "template": [{"role": "user", "content": "{{ item.question }}"}]}
asked = {"model": "sim/echo", "source": {"type": "file_id", "id": file.id}, "input_messages": messages}


def ended(eval_id, data_source, **more):
    run = client.evals.runs.create(eval_id, data_source=data_source, **more)
    queued = run.status
    while run.status in ("queued", "in_progress"):
        run = client.evals.runs.retrieve(run.id, eval_id=eval_id)
    return queued, run


def items_of(run, **query):
    return list(client.evals.runs.output_items.list(run.id, eval_id=run.eval_id, **query))


def as_dict(result):
    return result if isinstance(result, dict) else result.model_dump()


queued, run = ended(created.id, {"type": "completions", **asked}, metadata={"app": "python"})
items = items_of(run, limit=1)
sources = {
    "responses": {"type": "responses", **asked},
    "jsonl": {"type": "jsonl", "source": {"type": "file_content", "content": rows}},
    "jsonl_file": {"type": "jsonl", "source": {"type": "file_id", "id": file.id}},
}
others = {name: ended(created.id, source)[1].result_counts.passed for name, source in sources.items()}
stored = client.evals.create(
    data_source_config={"type": "stored_completions", "metadata": {"app": "python"}},
    testing_criteria=[{**EXACT, "reference": "{{ item.input[0].content }}"}],
)
source = {"type": "stored_completions", "limit": 2}
others["stored"] = ended(stored.id, {"type": "completions", "source": source})[1].result_counts.passed
graded = ended(each.id, {"type": "completions", **asked})[1]
samples = [as_dict(result)["sample"] for item in items_of(graded) for result in item.results]
contents = [sample["output"][0]["content"] for sample in samples if sample]
names = {str: "string", float: "number", int: "number"}
started = client.evals.runs.create(each.id, data_source={"type": "completions", **asked})
cancelled = client.evals.runs.cancel(started.id, eval_id=each.id).status
refused = None
try:
    client.evals.create(data_source_config=CONFIG, testing_criteria=[{**EXACT, "operation": "regex"}])
except BadRequestError as error:
    refused = [error.type, error.code]
deleted = [client.evals.runs.delete(graded.id, eval_id=each.id).deleted, client.files.delete(file.id).deleted]
deleted += [client.evals.delete(evaluation.id).deleted for evaluation in (created, each, stored)]
print(
    json.dumps(
        {
            "errors": [run.error, *(item.sample.error for item in items)],
            "judged": [names[type(json.loads(content)["result"])] for content in contents],
            "queued": queued,
            "status": run.status,
            "counts": as_dict(run.result_counts),
            "items": [[item.datasource_item["question"], item.status] for item in items],
            "others": others,
            "criteria": [result.testing_criteria for result in graded.per_testing_criteria_results],
            "cancelled": cancelled,
            "refused": refused,
            "deleted": deleted,
            "listed": [evaluation.id for evaluation in client.evals.list()],
        }
    )
)
