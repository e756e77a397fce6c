// OpenAI's own client: creates an eval, runs it, reads its items and deletes it. Prints what it received as JSON.
// Arguments: the client's module, the base URL, the key. The server carries out a run that is retrieved.
const [module, baseURL, apiKey] = process.argv.slice(2);
const { OpenAI, BadRequestError, toFile } = await import(module);
const client = new OpenAI({ apiKey, baseURL, maxRetries: 0 });

const exact = {
  type: "string_check",
  name: "exact",
  input: "{{ sample.output_text }}",
  reference: "{{ item.answer }}",
  operation: "eq",
};
const data_source_config = {
  type: "custom",
  item_schema: { type: "object", properties: { question: { type: "string" } } },
  include_sample_schema: true,
};
const created = await client.evals.create({ name: "Node", data_source_config, testing_criteria: [exact] });
const rows = ["a", "b"].map((question) => JSON.stringify({ item: { question, answer: "a" } }));
const file = await client.files.create({ file: await toFile(Buffer.from(rows.join("\n")), "rows.jsonl"), purpose: "evals" });
let run = await client.evals.runs.create(created.id, {
  data_source: {
    type: "completions",
    model: "sim/echo",
    source: { type: "file_id", id: file.id },
    input_messages: { type: "template", template: [{ role: "user", content: "{{ item.question }}" }] },
  },
});
const queued = run.status;
while (["queued", "in_progress"].includes(run.status)) {
  run = await client.evals.runs.retrieve(run.id, { eval_id: created.id });
}
const items = [];
for await (const item of client.evals.runs.outputItems.list(run.id, { eval_id: created.id, limit: 1 })) {
  items.push([item.datasource_item.question, item.status]);
}
let refused = null;
try {
  await client.evals.create({ data_source_config, testing_criteria: [{ ...exact, operation: "regex" }] });
} catch (error) {
  if (!(error instanceof BadRequestError)) throw error;
  refused = [error.type, error.code];
}
const deleted = await client.evals.delete(created.id);
const listed = [];
for await (const each of client.evals.list()) listed.push(each.id);
console.log(JSON.stringify({ queued, status: run.status, counts: run.result_counts, items, refused, deleted: deleted.deleted, listed }));
