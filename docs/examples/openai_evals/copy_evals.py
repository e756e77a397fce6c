"""Copies all evals of an account at OpenAI, with their runs, to a workspace of Cupel.

Set the address and the token below. Everything is also written to files in `openai-evals`.
"""

import json
import re
from pathlib import Path

from openai import APIError, BadRequestError, OpenAI

source, target = OpenAI(), OpenAI(base_url="<apiUrl>/openai/v1", api_key="cupel_…")
folder = Path("openai-evals")
PART_SIZE = 4_000_000
FAILURES = (APIError, UnicodeError)


def save(name, documents):
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.jsonl").write_text("".join(json.dumps(each) + "\n" for each in documents))


def plain(model):
    return model.model_dump(mode="json", exclude_none=True, by_alias=True, warnings=False)


def reason(error):
    body = getattr(error, "body", None)
    return body["message"] if isinstance(body, dict) and "message" in body else str(error)


def create_copy(evaluation, graders):
    """The copy, and what was left out."""
    original, left_out = plain(evaluation), []
    properties = original["data_source_config"].get("schema", {}).get("properties", {})
    while True:
        described = {"left_out": "; ".join(left_out)[:512]} if left_out else {}
        metadata = dict(list(original.get("metadata", {}).items())[: 16 - len(described)])
        try:
            copy = target.evals.create(
                name=original.get("name") or original["id"],
                metadata=metadata | described,
                data_source_config={
                    "type": "custom",
                    "item_schema": properties.get("item") or {"type": "object"},
                    "include_sample_schema": "sample" in properties,
                },
                testing_criteria=graders,
                extra_headers={"Idempotency-Key": f"{original['id']}-{len(graders)}"},
            )
        except BadRequestError as error:
            refused = re.match(r"testing_criteria\[(\d+)\]", error.param or "")
            if refused is None or len(graders) == 1:
                raise
            grader = graders.pop(int(refused[1]))
            left_out.append(f"grader {grader['name']} ({grader['type']}): {reason(error)}")
        else:
            left_out += [f"metadata {name}" for name in original.get("metadata", {}) if name not in metadata]
            return copy, left_out + (getattr(copy, "ignored_parameters", None) or [])


def answer(item):
    return {"output": item.get("sample", {}).get("output", [])}


def copy_run(run, copy):
    items = [plain(item) for item in source.evals.runs.output_items.list(run.id, eval_id=run.eval_id, limit=100)]
    save(run.id, [plain(run), *items])
    if copy is None or not items:
        return
    rows = [{"item": item["datasource_item"], "sample": answer(item)} for item in items]
    target.evals.runs.create(
        copy.id,
        name=run.name or run.id,
        metadata={**dict(list((run.metadata or {}).items())[:15]), "model": run.model or ""},
        data_source={"type": "jsonl", "source": as_source(run, rows)},
        extra_headers={"Idempotency-Key": run.id},
    )


def as_source(run, rows):
    """Large data is uploaded in parts."""
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    if len(lines) < PART_SIZE:
        return {"type": "file_content", "content": rows}
    described = {"filename": f"{run.id}.jsonl", "bytes": len(lines), "mime_type": "application/jsonl"}
    uploaded = target.uploads.upload_file_chunked(file=lines, purpose="evals", part_size=PART_SIZE, **described)
    return {"type": "file_id", "id": uploaded.file.id}


def copy_eval(evaluation):
    copy, label = None, f"{evaluation.name or 'eval'} ({evaluation.id})"
    save(evaluation.id, [plain(evaluation)])
    try:
        copy, left_out = create_copy(evaluation, plain(evaluation)["testing_criteria"])
        for each in left_out:
            print(f"{label} is copied without {each}")
    except FAILURES as error:
        print(f"{label} is not copied: {reason(error)}")
    try:
        runs = list(source.evals.runs.list(evaluation.id))
    except FAILURES as error:
        print(f"the runs of {label} are not copied: {reason(error)}")
        return
    for run in runs:
        try:
            copy_run(run, copy)
        except FAILURES as error:
            print(f"run {run.name or run.id} of {label} is not copied: {reason(error)}")


for evaluation in source.evals.list():
    copy_eval(evaluation)
