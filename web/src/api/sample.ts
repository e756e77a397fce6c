import { api, read } from "./client";
import type { Schemas } from "./types";

/**
 * Stores the sample definition as `cupel run samples/value-dilemma.yaml` does, and returns its id. The keys make it
 * once however often an answer is lost.
 */
export async function storeSample(key: string): Promise<string> {
  const sample = (await import("../samples/value_dilemma.json")).default;
  const { name, folder, tags, content, generate } = sample;
  const made = await read(
    api.POST("/v1/definitions", {
      params: { header: { "Idempotency-Key": key } },
      body: { name, folder, tags, content } as Schemas["CreateDefinition"],
    }),
  );
  await read(
    api.POST("/v1/definitions/{definition_id}/scenarios/generate", {
      params: { path: { definition_id: made.id }, header: { "Idempotency-Key": `${key}-scenarios` } },
      body: { ...generate, replace: false } as Schemas["GenerateScenarios"],
    }),
  );
  return made.id;
}
