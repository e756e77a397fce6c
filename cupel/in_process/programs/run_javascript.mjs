// Runs code of an assertion in a process of its own; started by cupel/in_process/code_runner.py.
//
// Reads `{code?, file?, function?, arguments, nonce}` from standard input. The last line of its output is the nonce and
// `{result}` or `{error}`; whatever the code prints precedes it.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

// promptfoo's wrapper: one line is an expression, or declarations followed by one; several are the body of a function.
function bodyOf(code) {
  if (code.includes('\n')) {
    return code;
  }
  const trimmed = code.trim().replace(/;+\s*$/, '');
  if (!/^(const|let|var)\s/.test(trimmed)) {
    return `return ${trimmed}`;
  }
  const end = lastSemicolon(trimmed);
  const expression = trimmed.slice(end + 1).trim();
  return end < 0 || !expression ? trimmed : `${trimmed.slice(0, end + 1)} return ${expression}`;
}

function lastSemicolon(code) {
  let quote = null;
  let last = -1;
  for (let position = 0; position < code.length; position++) {
    const character = code[position];
    if (character === '\\') {
      position++;
    } else if (quote) {
      quote = character === quote ? null : quote;
    } else if (`'"\``.includes(character)) {
      quote = character;
    } else if (character === ';') {
      last = position;
    }
  }
  return last;
}

async function fromFile(file, name) {
  const imported = await import(pathToFileURL(file));
  const module = imported.default?.default ?? imported.default ?? imported;
  const unnamed = typeof module === 'function' ? module : (module.func ?? imported.func);
  const found = name ? (module[name] ?? imported[name]) : unnamed;
  if (typeof found !== 'function') {
    throw new Error(`${file} has no function ${name ?? 'as its default export'}`);
  }
  return found;
}

async function answer(request) {
  const called = request.code === null
    ? await fromFile(request.file, request.function)
    : new Function('output', 'context', 'process', bodyOf(request.code.trimEnd()));
  const result = await called(...request.arguments, process);
  if (!['boolean', 'number', 'object'].includes(typeof result)) {
    throw new Error(`it returned ${typeof result}`);
  }
  return JSON.stringify({ result });
}

const request = JSON.parse(readFileSync(0, 'utf8'));
const text = await answer(request).catch((error) => JSON.stringify({ error: String(error).slice(0, 2000) }));
process.stdout.write(`\n${request.nonce}${text}\n`, () => process.exit(0));
