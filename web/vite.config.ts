import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

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
