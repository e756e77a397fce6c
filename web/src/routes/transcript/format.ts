/** Stores the reader's choice how messages are shown on every screen. */
import { useSyncExternalStore } from "react";

export const FORMATS = ["markdown", "text", "raw", "json"] as const;
export type Format = (typeof FORMATS)[number];

const SETTING = "cupel.message-format";
const listeners = new Set<() => void>();

function read(): Format {
  return FORMATS.find((each) => each === localStorage.getItem(SETTING)) ?? "markdown";
}

export function setFormat(format: Format): void {
  localStorage.setItem(SETTING, format);
  for (const each of listeners) each();
}

export function useFormat(): Format {
  return useSyncExternalStore(subscribe, read);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
}
