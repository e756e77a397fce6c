// Compresses what was built, and fails above the byte budgets. Usage: node finish.mjs <folder>
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const MAX_ENTRY_JS = 150_000;
const MAX_CSS = 24_000;
const MAX_LAZY_JS = 70_000;

const folder = process.argv[2];
const manifestFolder = join(folder, ".vite");
const manifest = JSON.parse(readFileSync(join(manifestFolder, "manifest.json"), "utf8"));
const sizes = new Map();

for (const name of readdirSync(join(folder, "assets"))) {
  const path = join(folder, "assets", name);
  const content = readFileSync(path);
  const zipped = gzipSync(content, { level: 9 });
  sizes.set(`assets/${name}`, zipped.length);
  if (/\.(js|css|svg)$/.test(name)) {
    writeFileSync(`${path}.gz`, zipped);
    writeFileSync(
      `${path}.br`,
      brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } }),
    );
  }
}
rmSync(manifestFolder, { recursive: true });

function imported(key, seen = new Set()) {
  if (seen.has(key)) return seen;
  seen.add(key);
  for (const each of manifest[key].imports ?? []) imported(each, seen);
  return seen;
}
const sum = (names) => names.reduce((total, name) => total + sizes.get(name), 0);
const [entry] = Object.keys(manifest).filter((key) => manifest[key].isEntry);
const first = imported(entry);
// What the first screen loads besides: the route that most visits start with.
const runs = imported("src/routes/runs.tsx");
const initial = [...new Set([...first, ...runs])];
const initialJs = sum(initial.map((key) => manifest[key].file));
const css = [...sizes].filter(([name]) => name.endsWith(".css")).reduce((total, [, size]) => total + size, 0);
const lazy = Object.keys(manifest)
  .filter((key) => manifest[key].isDynamicEntry)
  .map((key) => [
    key,
    sum([...imported(key)].filter((each) => !first.has(each)).map((each) => manifest[each].file)),
  ]);

console.log(`entry and first route: ${initialJs} of ${MAX_ENTRY_JS} bytes (gzip); css ${css} of ${MAX_CSS}`);
for (const [key, size] of lazy) console.log(`  ${key}: ${size} of ${MAX_LAZY_JS}`);
const over = [
  initialJs > MAX_ENTRY_JS && "entry and first route",
  css > MAX_CSS && "css",
  ...lazy.filter(([, size]) => size > MAX_LAZY_JS).map(([key]) => key),
].filter(Boolean);
if (over.length > 0) {
  console.error(`over the byte budget: ${over.join(", ")}`);
  process.exit(1);
}
