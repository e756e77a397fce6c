// Evaluates configurations one after another in one process of promptfoo, each into <folder>/<name of its folder>.json:
// node promptfoo_suites.mjs <its program> <folder> <configuration> ...
import { realpathSync } from "node:fs";
import { registerHooks } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

const [program, folder, ...configurations] = process.argv.slice(2);
const address = pathToFileURL(realpathSync(program)).href;
// The function behind its command `eval` is not exported.
registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    return url === address ? { ...loaded, source: `${loaded.source}\nexport { doEval };` } : loaded;
  },
});
process.argv[1] = import.meta.filename;
const { doEval } = await import(address);
const options = { write: false, table: false, cache: false, progressBar: false };
for (const configuration of configurations) {
  process.chdir(path.dirname(configuration));
  const output = path.join(folder, `${path.basename(path.dirname(configuration))}.json`);
  await doEval({ ...options, config: [configuration], output: [output] }, {}, undefined, { eventSource: "library" });
}
process.exit(0);
