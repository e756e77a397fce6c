import type { Issue } from "./content_fields";
import { type Content, isContent } from "./definitions";

export interface Entry {
  readonly name: string;
  /** It is missing until it is set. */
  readonly value?: unknown;
}

export function entriesOf(value: unknown): Entry[] {
  return isContent(value) ? Object.entries(value).map(([name, each]) => ({ name, value: each })) : [];
}

/** Leaves out rows that lack a name or a value; of two rows with one name, the later one counts. */
export function objectOf(entries: readonly Entry[]): Content {
  const complete = entries.filter((each) => each.name !== "" && each.value !== undefined);
  return Object.fromEntries(complete.map((each) => [each.name, each.value]));
}

/** Returns issues for values that saving the rows would lose, by the paths of their fields. */
export function entryIssues(entries: readonly Entry[]): Issue[] {
  const seen = new Set<string>();
  return entries.flatMap(({ name, value }, index) => {
    const isSecond = seen.has(name);
    seen.add(name);
    if (name === "") return [{ field: `${index}.name`, message: "A name is missing" }];
    if (isSecond) return [{ field: `${index}.name`, message: "Another row has the same name" }];
    return value === undefined ? [{ field: `${index}.value`, message: "A value is missing" }] : [];
  });
}

/** Assigns issues of an object's values to the paths of their rows. Names may have dots: the longest one counts. */
export function issuesOfRows(issues: readonly Issue[], path: string, entries: readonly Entry[]): Issue[] {
  return issues.map((issue) => {
    if (!issue.field.startsWith(`${path}.`)) return issue;
    const inner = issue.field.slice(path.length + 1);
    const found = entries
      .map(({ name }, index) => ({ name, index }))
      .filter(({ name }) => name !== "" && (inner === name || inner.startsWith(`${name}.`)))
      .sort((one, other) => other.name.length - one.name.length)[0];
    if (found === undefined) return { ...issue, field: path, message: `${inner}: ${issue.message}` };
    return { ...issue, field: `${path}.${found.index}.value${inner.slice(found.name.length)}` };
  });
}
