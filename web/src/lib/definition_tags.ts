import { parseTags } from "./forms";

/** `cupel run FILE` marks the uploaded versions by it, to find an unchanged file again. */
const INTERNAL = /^sha:[0-9a-f]{12}@\d+$/;

/** Returns the tags that people have given. */
export function ownTags(tags: readonly string[]): string[] {
  return tags.filter((tag) => !INTERNAL.test(tag));
}

/** Returns the typed tags with the internal ones of the stored definition, as a request has them. */
export function tagsToStore(typed: string, stored: readonly string[]): string[] {
  return [...new Set([...parseTags(typed), ...stored.filter((tag) => INTERNAL.test(tag))])];
}

/** Tags have no order. */
export function areSameTags(one: readonly string[], other: readonly string[]): boolean {
  return JSON.stringify([...one].sort()) === JSON.stringify([...other].sort());
}
