import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

/** What these modules import is one file, because each file of a first visit is one invocation of the page. */
const SHELL = ["/src/main.tsx", "/src/routes/runs.tsx"];
const isEntry = (id: string) => SHELL.some((path) => id.endsWith(path));

interface ModuleGraph {
  getModuleInfo(id: string): { readonly importers: readonly string[] } | null;
}

/** Tells whether one of these modules imports a module, directly or through others. */
function isOfShell(id: string, graph: ModuleGraph): boolean {
  if (isEntry(id)) return false;
  const seen = new Set([id]);
  for (const each of seen) {
    if (isEntry(each)) return true;
    for (const importer of graph.getModuleInfo(each)?.importers ?? []) seen.add(importer);
  }
  return false;
}

export default defineConfig({
  plugins: [react()],
  // Relative addresses: the same files work at the root, under a stage, and under the emulator's path.
  base: "./",
  resolve: {
    alias: {
      "decode-named-character-reference": fileURLToPath(
        new URL("src/lib/character_references.ts", import.meta.url),
      ),
    },
  },
  build: {
    outDir: process.env["OUT_DIR"] ?? "dist",
    emptyOutDir: true,
    manifest: true,
    target: "es2023",
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [{ name: (id, graph) => (isOfShell(id, graph) ? "shell" : null), debugName: "shell" }],
        },
      },
    },
  },
  // Unit tests compare forms with the document of the API.
  server: { fs: { allow: [".", "../docs"] } },
  test: {
    include: ["src/**/*.test.{ts,tsx}"],
    css: false,
    isolate: false,
    // `make test-all` tries new examples, here as in Python.
    setupFiles: process.env["HYPOTHESIS_PROFILE"] === "searching" ? [] : ["src/repeatable_properties.ts"],
  },
});
