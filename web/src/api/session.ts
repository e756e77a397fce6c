/** The token of this tab. It is never part of an address. */

const KEY = "cupel.token";
let memory: string | null = null;

export function readToken(): string | null {
  return memory ?? sessionStorage.getItem(KEY);
}

export function storeToken(token: string): void {
  memory = token;
  sessionStorage.setItem(KEY, token);
}

export function forgetToken(): void {
  memory = null;
  sessionStorage.removeItem(KEY);
}
