/** Which models a form offers beside those of the price list. */

const MODEL_ID = /^[\w.-]+\/\S{1,200}$/;

/** Those that were chosen and are not listed, and what is sought if it could be one: `provider/model`. */
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
