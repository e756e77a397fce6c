import type { Schemas } from "../api/types";

/** Adds the models that own servers offer, of which nothing but the name is known, after those with a price. */
export function withServed(
  listed: readonly Schemas["Model"][],
  servers: readonly Schemas["ServedModels"][],
): Schemas["Model"][] {
  const known = new Set(listed.map((each) => each.id));
  const added = servers.flatMap(({ provider, models }) =>
    models.filter((id) => !known.has(id)).map((id) => unpriced(provider, id)),
  );
  return [...listed, ...added];
}

function unpriced(provider: string, id: string): Schemas["Model"] {
  return {
    id,
    name: id.slice(provider.length + 1),
    provider,
    simulated: false,
    enabled: true,
    hasKey: false,
    usable: true,
    inputUsdPerMillion: null,
    outputUsdPerMillion: null,
    contextLength: null,
    maxOutputTokens: null,
    inputModalities: null,
    supportedParameters: null,
  };
}

interface Model {
  readonly id: string;
  readonly simulated: boolean;
  readonly hasKey: boolean;
}

const hasKeys = (models: readonly Model[]) => models.some((each) => each.hasKey);

/** Orders models for a form: simulated ones first as long as no provider has an API key. */
export function inOrder<T extends Model>(models: readonly T[]): readonly T[] {
  if (hasKeys(models)) return models;
  return [...models].sort((one, other) => Number(other.simulated) - Number(one.simulated));
}

/**
 * Chooses the first model of a form: a simulated one as long as no provider has an API key, so that it can be started.
 */
export function firstChoice(models: readonly Model[]): readonly string[] {
  const first = hasKeys(models) ? undefined : models.find((each) => each.simulated);
  return first ? [first.id] : [];
}

const MODEL_ID = /^[\w.-]+\/\S{1,200}$/;

/** Returns chosen models that are not in the price list, and the searched text if it could be one: `provider/model`. */
export function unlistedModels(
  listed: readonly string[],
  selected: readonly string[],
  sought: string,
): readonly string[] {
  const known = new Set(listed);
  const chosen = selected.filter((id) => !known.has(id));
  const typed = sought.trim();
  const isNew = MODEL_ID.test(typed) && !known.has(typed) && !chosen.includes(typed);
  return isNew ? [...chosen, typed] : chosen;
}
