/** Stores the token of this tab, or of this browser for some hours on request. It is never part of an address. */

const KEY = "cupel.token";
const REMEMBERED_KEY = "cupel.remembered";
const REMEMBERED_MS = 12 * 60 * 60 * 1_000;
/** A token is replaced this long before its end. */
const AHEAD_MS = 60_000;

/** Replaces the token before it ends. */
export interface Renewal {
  readonly expiresAt: number;
  readonly renew: () => Promise<void>;
}

let memory: string | null = null;
let renewal: Renewal | null = null;
let renewing: Promise<void> | null = null;
let isEnded = false;
const watchers = new Set<() => void>();

export function readToken(): string | null {
  return memory ?? sessionStorage.getItem(KEY) ?? rememberedToken(Date.now());
}

function rememberedToken(now: number): string | null {
  const [until, token] = localStorage.getItem(REMEMBERED_KEY)?.split(" ") ?? [];
  if (token && Number(until) > now) return token;
  localStorage.removeItem(REMEMBERED_KEY);
  return null;
}

/** With `isRemembered`, other tabs have the token too, for twelve hours, also after this one is closed. */
export function storeToken(token: string, isRemembered = false): void {
  memory = token;
  renewal = null;
  sessionStorage.setItem(KEY, token);
  if (isRemembered) localStorage.setItem(REMEMBERED_KEY, `${Date.now() + REMEMBERED_MS} ${token}`);
  setEnded(false);
}

export function forgetToken(): void {
  memory = null;
  renewal = null;
  sessionStorage.removeItem(KEY);
  localStorage.removeItem(REMEMBERED_KEY);
}

/** Ends the session of a refused token. No request is sent until the user has signed in again. */
export function endSession(): void {
  forgetToken();
  setEnded(true);
}

export function leaveEndedSession(): void {
  setEnded(false);
}

export function isSessionEnded(): boolean {
  return isEnded;
}

export function watchSession(changed: () => void): () => void {
  watchers.add(changed);
  return () => watchers.delete(changed);
}

function setEnded(to: boolean): void {
  if (isEnded === to) return;
  isEnded = to;
  for (const each of watchers) each();
}

export function renewWith(made: Renewal): void {
  renewal = made;
}

/** Renews a token that is about to end before a request. One that cannot be renewed is used to its end. */
export async function renewIfDue(now = Date.now()): Promise<void> {
  if (renewal === null || now < renewal.expiresAt - AHEAD_MS) return;
  const { renew } = renewal;
  renewing ??= renew()
    .catch(() => {
      renewal = null;
    })
    .finally(() => {
      renewing = null;
    });
  await renewing;
}
