// OpenAI's own client: creates evals with each grader, runs each data source, reads items, cancels and deletes. Prints
// what it received as JSON. Arguments: the client's module, the base URL, the key. The server carries out a run that is
// retrieved.
const [module, baseURL, apiKey] = process.argv.slice(2);
const { OpenAI, BadRequestError, toFile } = await import(module);
const client = new OpenAI({ apiKey, baseURL, maxRetries: 0 });
// The client of version 4 takes the ids of an eval and its run as two arguments, and calls a deletion `del`.
const isOldest = "del" in client.evals;
const ofRun = (method) => (runId, evalId) =>
  isOldest ? client.evals.runs[method](evalId, runId) : client.evals.runs[method](runId, { eval_id: evalId });
const [retrieve, cancel, deleteRun] = ["retrieve", "cancel", isOldest ? "del" : "delete"].map(ofRun);
const itemsOf = (runId, evalId, query) =>
  isOldest
    ? client.evals.runs.outputItems.list(evalId, runId, query)
    : client.evals.runs.outputItems.list(runId, { eval_id: evalId, ...query });
const deleteOf = (resource, id) => (isOldest ? resource.del(id) : resource.delete(id));

const texts = { input: "{{ sample.output_text }}", reference: "{{ item.answer }}" };
const judged = [{ role: "user", content: "Rate {{ sample.output_text }}" }];
const exact = { type: "string_check", name: "exact", ...texts, operation: "eq" };
const graders = [
  exact,
  { type: "text_similarity", name: "near", ...texts, evaluation_metric: "bleu", pass_threshold: 0.5 },
  { type: "label_model", name: "kind", model: "sim/steady", input: judged, labels: ["a", "b"], passing_labels: ["a"] },
  { type: "score_model", name: "quality", model: "sim/steady", input: judged, range: [1, 7], pass_threshold: 1 },
];
const data_source_config = {
  type: "custom",
  item_schema: { type: "object", properties: { question: { type: "string" } } },
  include_sample_schema: true,
};
const created = await client.evals.create({ name: "Node", data_source_config, testing_criteria: [exact] });
const each = await client.evals.create({ data_source_config, testing_criteria: graders });
const rows = ["a", "b"].map((question) => ({ item: { question, answer: "a" }, sample: { output_text: question } }));
const lines = Buffer.from(rows.map((row) => JSON.stringify(row)).join("\n"));
const file = await client.files.create({ file: await toFile(lines, "rows.jsonl"), purpose: "evals" });
const input_messages = { type: "template", template: [{ role: "user", content: "{{ item.question }}" }] };
const asked = { model: "sim/echo", source: { type: "file_id", id: file.id }, input_messages };

async function ended(evalId, data_source, more = {}) {
  let run = await client.evals.runs.create(evalId, { data_source, ...more });
  const queued = run.status;
  while (["queued", "in_progress"].includes(run.status)) {
    run = await retrieve(run.id, evalId);
  }
  return { queued, run };
}

const { queued, run } = await ended(created.id, { type: "completions", ...asked }, { metadata: { app: "node" } });
const items = [];
const samples = [];
for await (const item of itemsOf(run.id, created.id, { limit: 1 })) {
  items.push([item.datasource_item.question, item.status]);
  samples.push(item.sample);
}
const others = {};
for (const [name, data_source] of Object.entries({
  responses: { type: "responses", ...asked },
  jsonl: { type: "jsonl", source: { type: "file_content", content: rows } },
  jsonl_file: { type: "jsonl", source: { type: "file_id", id: file.id } },
})) {
  others[name] = (await ended(created.id, data_source)).run.result_counts.passed;
}
const stored = await client.evals.create({
  data_source_config: { type: "stored_completions", metadata: { app: "node" } },
  testing_criteria: [{ ...exact, reference: "{{ item.input[0].content }}" }],
});
const source = { type: "stored_completions", limit: 2 };
others.stored = (await ended(stored.id, { type: "completions", source })).run.result_counts.passed;
const { run: graded } = await ended(each.id, { type: "completions", ...asked });
const verdicts = [];
for await (const item of itemsOf(graded.id, each.id, {})) {
  for (const { sample } of item.results) if (sample) verdicts.push(typeof JSON.parse(sample.output[0].content).result);
}
const criteria = graded.per_testing_criteria_results.map((result) => result.testing_criteria);
const started = await client.evals.runs.create(each.id, { data_source: { type: "completions", ...asked } });
const cancelled = (await cancel(started.id, each.id)).status;
let refused = null;
try {
  await client.evals.create({ data_source_config, testing_criteria: [{ ...exact, operation: "regex" }] });
} catch (error) {
  if (!(error instanceof BadRequestError)) throw error;
  refused = [error.type, error.code];
}
const deletedRun = await deleteRun(graded.id, each.id);
const deletedFile = await deleteOf(client.files, file.id);
const deleted = [deletedRun.deleted, deletedFile.deleted];
for (const { id } of [created, each, stored]) deleted.push((await deleteOf(client.evals, id)).deleted);
const listed = [];
for await (const left of client.evals.list()) listed.push(left.id);
const counts = run.result_counts;
const errors = [run.error, ...samples.map((sample) => sample.error)];
console.log(
  JSON.stringify({ errors, judged: verdicts, queued, status: run.status, counts, items, others, criteria, cancelled, refused, deleted, listed }),
);
