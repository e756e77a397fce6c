/**
 * Handles the keys of the page: each screen and panel names its own, and one listener finds the action of a pressed
 * key.
 */
import { useEffect, useRef, useSyncExternalStore } from "react";

export interface Key {
  readonly does: string;
  /** It is missing for a key that an element handles itself while it has the focus. */
  readonly act?: () => void;
  /** It tells whether there is something to act on; without it, there always is. */
  readonly isUsable?: () => boolean;
}

/** Keys are values of `KeyboardEvent.key`, two of them in sequence, such as "g r", or, without an action, "j or k". */
export type Keys = Readonly<Record<string, Key>>;

interface Scope {
  readonly title: string;
  keys: Keys;
}

export interface ListedKey {
  readonly key: string;
  readonly does: string;
}
export interface ListedScope {
  readonly title: string;
  readonly keys: readonly ListedKey[];
}

const SEQUENCE_MS = 1_500;
const SETTING = "cupel.keys";
const OFF = "off";

const scopes: Scope[] = [];
let prefix = "";
let prefixTimer: ReturnType<typeof setTimeout> | undefined;

/** Registers the keys of a screen or panel while it is shown. Of two that name the same key, the last shown acts. */
export function useKeys(title: string, keys: Keys): void {
  const scope = useRef<Scope>({ title, keys });
  useEffect(() => {
    scope.current.keys = keys;
  });
  useEffect(() => {
    const own = scope.current;
    if (scopes.length === 0) window.addEventListener("keydown", press);
    scopes.push(own);
    return () => {
      scopes.splice(scopes.indexOf(own), 1);
      if (scopes.length === 0) window.removeEventListener("keydown", press);
    };
  }, []);
}

/** Lists the keys that can be pressed now, the panel that was shown last first. */
export function listKeys(): ListedScope[] {
  const seen = new Set<string>();
  const listed: ListedScope[] = [];
  for (const { title, keys } of scopes.toReversed()) {
    const own = Object.entries(keys).filter(
      ([key, { act, isUsable }]) => (!act || !seen.has(key)) && (isUsable?.() ?? true),
    );
    for (const [key, { act }] of own) if (act) seen.add(key);
    if (own.length > 0) listed.push({ title, keys: own.map(([key, { does }]) => ({ key, does })) });
  }
  return listed;
}

function press(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.isComposing || isModified(event) || isField(event.target)) return;
  if (["Shift", "AltGraph"].includes(event.key) || document.querySelector("dialog[open]") !== null) return;
  if (event.key.length === 1 && !areKeysOn()) return;
  const pressed = prefix === "" ? event.key : `${prefix} ${event.key}`;
  endSequence();
  const action = actionOf(pressed);
  if (action) {
    event.preventDefault();
    action();
  } else if (pressed === event.key && startsSequence(pressed)) {
    prefix = pressed;
    prefixTimer = setTimeout(endSequence, SEQUENCE_MS);
  }
}

function actionOf(pressed: string): (() => void) | undefined {
  for (const { keys } of scopes.toReversed()) {
    const key = Object.hasOwn(keys, pressed) ? keys[pressed] : undefined;
    if (key?.act && (key.isUsable?.() ?? true)) return key.act;
  }
  return undefined;
}

function startsSequence(pressed: string): boolean {
  return scopes.some(({ keys }) =>
    Object.entries(keys).some(([key, { act }]) => act && key.startsWith(`${pressed} `)),
  );
}

function endSequence(): void {
  clearTimeout(prefixTimer);
  prefix = "";
}

/** AltGr writes characters, such as the brackets of many layouts; browsers report it as Ctrl and Alt. */
export function isModified(event: {
  readonly ctrlKey: boolean;
  readonly altKey: boolean;
  readonly metaKey: boolean;
  getModifierState(key: "AltGraph"): boolean;
}): boolean {
  const isAltGr = event.ctrlKey && event.altKey && event.getModifierState("AltGraph");
  return event.metaKey || ((event.ctrlKey || event.altKey) && !isAltGr);
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest("input, select, textarea, [contenteditable]") !== null
  );
}

/** Tells whether keys of one character act, which people who use speech input switch off (WCAG 2.1.4). */
function areKeysOn(): boolean {
  return localStorage.getItem(SETTING) !== OFF;
}

const listeners = new Set<() => void>();

export function switchKeys(on: boolean): void {
  if (on) localStorage.removeItem(SETTING);
  else localStorage.setItem(SETTING, OFF);
  for (const each of listeners) each();
}

export function useAreKeysOn(): boolean {
  return useSyncExternalStore(subscribe, areKeysOn);
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("storage", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("storage", listener);
  };
}
