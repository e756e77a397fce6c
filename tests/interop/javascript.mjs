// Evaluates expressions on texts: reads [[expression, text]] as JSON, and prints {value} or {error} for each.
import { readFileSync } from 'node:fs';

const results = JSON.parse(readFileSync(process.argv[2], 'utf8')).map(([expression, text]) => {
  try {
    return { value: new Function('output', `return ${expression}`)(text) ?? null };
  } catch (error) {
    return { error: String(error) };
  }
});
process.stdout.write(JSON.stringify(results));
