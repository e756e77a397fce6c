import { useCallback, useEffect, useMemo, useState } from "react";
import { changedAt } from "../../../lib/content_fields";
import { type Entry, entriesOf, entryIssues, issuesOfRows, objectOf } from "../../../lib/entries";
import type { Control } from "../../../lib/form_controls";
import { FormContext, useForm } from "./context";
import type { Of } from "./control";
import { ListControl } from "./list";

/** Edits an object as a list of names with their values. Incomplete rows stay here until they are complete. */
export function EntriesControl({ control, path, value, label, note, isRequired = false }: Of<"entries">) {
  const form = useForm();
  const { change: changeForm, report, issues: refused } = form;
  const [typed, type] = useState<readonly Entry[] | null>(null);
  const isCurrent = typed !== null && isSame(objectOf(typed), value ?? {});
  const entries = useMemo(() => (isCurrent && typed ? typed : entriesOf(value)), [isCurrent, typed, value]);
  const own = useMemo(() => entryIssues(entries), [entries]);
  const isIncomplete = own.length > 0;
  useEffect(() => {
    report(path, isIncomplete);
    return () => report(path, false);
  }, [report, path, isIncomplete]);
  const change = useCallback(
    (at: string, next: unknown) => {
      const rows = rowsOf(
        at === path ? next : changedAt({ rows: entries }, `rows${at.slice(path.length)}`, next)["rows"],
      );
      type(rows);
      const object = objectOf(rows);
      changeForm(path, Object.keys(object).length === 0 && !isRequired ? undefined : object);
    },
    [changeForm, entries, path, isRequired],
  );
  const context = useMemo(
    () => ({
      change,
      report,
      issues: [
        ...issuesOfRows(refused, path, entries),
        ...own.map((each) => ({ ...each, field: `${path}.${each.field}` })),
      ],
    }),
    [change, report, refused, path, entries, own],
  );
  const list = useMemo(() => listOf(control), [control]);
  return (
    <FormContext value={context}>
      <ListControl control={list} path={path} value={entries} label={label} note={note} />
    </FormContext>
  );
}

function listOf({
  item,
  itemName,
  nameLabel = "Name",
  valueLabel = "Value",
  max,
  fresh,
}: Of<"entries">["control"]): Extract<Control, { kind: "list" }> {
  return {
    kind: "list",
    itemName,
    max,
    fresh: { name: "", value: fresh },
    isUnordered: true,
    item: {
      kind: "object",
      layout: "entry",
      fields: [
        { name: "name", label: nameLabel, control: { kind: "text", max: 1_000 }, isRequired: true },
        { name: "value", label: valueLabel, control: item, isRequired: true },
      ],
    },
  };
}

function rowsOf(rows: unknown): Entry[] {
  return Array.isArray(rows) ? (rows as Entry[]) : [];
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
