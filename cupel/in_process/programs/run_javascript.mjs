// Runs code of an assertion in a process of its own; started by cupel/in_process/code_runner.py.
//
// Reads `{code?, file?, function?, arguments, transform, nonce}` from standard input. The last line of its output is the
// nonce and `{result}` or `{error, cause}`; whatever the code prints precedes it. The cause is `answer` if the code threw
// the error on the answer, and `load` if its file cannot be loaded. A transform may return any value.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
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

function fromText(request) {
  const code = request.code.trimEnd();
  const body = !request.transform ? bodyOf(code) : request.code.includes('\n') ? request.code : `return ${code}`;
  return new Function('output', 'context', 'process', body);
}

// promptfoo's transforms may require modules.
const shim = Object.assign(Object.create(process), { mainModule: { require: createRequire(`${process.cwd()}/`) } });

async function answer(called, request) {
  const result = await called(...request.arguments, shim);
  const types = request.transform ? ['boolean', 'number', 'object', 'string'] : ['boolean', 'number', 'object'];
  if (!types.includes(typeof result)) {
    throw new Error(`it returned ${typeof result}`);
  }
  return JSON.stringify({ result });
}

const failure = (cause) => (error) => JSON.stringify({ error: String(error).slice(0, 2000), cause });

async function run(request) {
  if (request.code === null) {
    const loaded = await fromFile(request.file, request.function).catch((error) => ({ error }));
    return loaded.error ? failure('load')(loaded.error) : answer(loaded, request).catch(failure('answer'));
  }
  return (async () => answer(fromText(request), request))().catch(failure('answer'));
}

const request = JSON.parse(readFileSync(0, 'utf8'));
const text = await run(request);
process.stdout.write(`\n${request.nonce}${text}\n`, () => process.exit(0));
