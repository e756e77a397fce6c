/** Stores the typed text of a form and the key of its start in the tab until the form was sent, over reloads too. */
import { useEffect, useState } from "react";

const PREFIX = "cupel.form.";

export function useKept<T>(form: string, field: string, initial: T | (() => T)) {
  const name = `${PREFIX}${form}.${field}`;
  const [value, setValue] = useState<T>(
    () => readKept<T>(name) ?? (initial instanceof Function ? initial() : initial),
  );
  useEffect(() => {
    if (value !== undefined) sessionStorage.setItem(name, JSON.stringify(value));
  }, [name, value]);
  return [value, setValue] as const;
}

/** Fills a field of a form that another screen has. */
export function keep(form: string, field: string, value: unknown): void {
  sessionStorage.setItem(`${PREFIX}${form}.${field}`, JSON.stringify(value));
}

function readKept<T>(name: string): T | null {
  const stored = sessionStorage.getItem(name);
  return stored === null ? null : (JSON.parse(stored) as T);
}

/** Returns the key of a request: the same one for the same body, until it has succeeded. */
export function keyOf(form: string, body: unknown): string {
  const name = `${PREFIX}${form}.key`;
  const text = JSON.stringify(body);
  const kept = readKept<{ text: string; key: string }>(name);
  if (kept?.text === text) return kept.key;
  const key = crypto.randomUUID();
  sessionStorage.setItem(name, JSON.stringify({ text, key }));
  return key;
}

/** Without a name, all forms are forgotten. */
export function forgetForm(form?: string): void {
  const start = form === undefined ? PREFIX : `${PREFIX}${form}.`;
  const names = Object.keys(sessionStorage).filter((each) => each.startsWith(start));
  for (const name of names) sessionStorage.removeItem(name);
}
