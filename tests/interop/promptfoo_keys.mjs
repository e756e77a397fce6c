// Prints the keys of promptfoo's own schemas as JSON.
const promptfoo = await import(process.argv[2]);

function keys(schema, depth = 0) {
  const definition = schema?.def ?? {};
  if (!schema || depth > 8) return [];
  if (schema.shape) return Object.keys(schema.shape);
  const { innerType, in: input, out, left, right, element, valueType } = definition;
  const inner = [innerType, input, out, left, right, element, valueType];
  return [...inner, ...(definition.options ?? [])].flatMap((each) => keys(each, depth + 1));
}

const distinct = (schema) => [...new Set(keys(schema))].sort();
console.log(
  JSON.stringify({
    config: distinct(promptfoo.UnifiedConfigSchema),
    evaluateOptions: distinct(promptfoo.EvaluateOptionsSchema),
    commandLineOptions: distinct(promptfoo.CommandLineOptionsSchema),
    prompt: distinct(promptfoo.TestSuiteConfigSchema.shape.prompts),
    provider: distinct(promptfoo.TestSuiteConfigSchema.shape.providers),
    scenario: distinct(promptfoo.ScenarioSchema),
    test: distinct(promptfoo.TestCaseSchema),
    options: distinct(promptfoo.TestCaseSchema.shape.options),
    assertion: distinct(promptfoo.AssertionOrSetSchema),
  }),
);
