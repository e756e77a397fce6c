// Prints, as JSON, promptfoo's result for each case of a file: an assertion, and what a model said and called.
import { readFileSync } from "node:fs";
const { assertions, loadApiProvider } = await import(process.argv[2]);
const { tools, cases } = JSON.parse(readFileSync(process.argv[3], "utf8"));

const options = (config) => ({ options: { config: { apiKey: "none", ...config } } });
const providers = {
  openai: await loadApiProvider("openai:chat:gpt-4.1", options({
    tools: tools.map((tool) => ({ type: "function", function: tool })),
    functions: tools,
  })),
  google: await loadApiProvider("google:gemini-2.5-flash", options({ tools: [{ functionDeclarations: tools }] })),
};

const span = ({ name, args }, number) => ({
  spanId: `${number}`,
  name: "call",
  startTime: number,
  endTime: number + 1,
  attributes: { "tool.name": name, "tool.arguments": JSON.stringify(args) },
});

async function result({ assertion, provider = "openai", output = "", calls = [] }) {
  try {
    const { pass, score } = await assertions.runAssertion({
      assertion,
      test: { vars: {} },
      provider: providers[provider],
      providerResponse: { output },
      traceId: "t",
      traceData: { traceId: "t", evaluationId: "e", testCaseId: "c", spans: calls.map(span) },
    });
    return { pass, score };
  } catch (error) {
    return { error: error.message };
  }
}

const results = [];
for (const each of cases) results.push(await result(each));
console.log(JSON.stringify(results));
process.exit(0);
