/** Which models a form offers, and with which it begins. */

interface Model {
  readonly id: string;
  readonly simulated: boolean;
  readonly hasKey: boolean;
}

const hasKeys = (models: readonly Model[]) => models.some((each) => each.hasKey);

/** As a form lists them: simulated models first as long as no provider has an API key. */
export function inOrder<T extends Model>(models: readonly T[]): readonly T[] {
  if (hasKeys(models)) return models;
  return [...models].sort((one, other) => Number(other.simulated) - Number(one.simulated));
}

/** What a form begins with: a simulated model as long as no provider has an API key, so that it can be started. */
export function firstChoice(models: readonly Model[]): readonly string[] {
  const first = hasKeys(models) ? undefined : models.find((each) => each.simulated);
  return first ? [first.id] : [];
}

const MODEL_ID = /^[\w.-]+\/\S{1,200}$/;

/** Those that were chosen and are not in the price list, and what is sought if it could be one: `provider/model`. */
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
