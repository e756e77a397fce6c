import { origin } from "../lib/base";
import { safePath } from "../lib/search";
import { ApiError, api, read } from "./client";
import { issuer } from "./issuer";
import { storeToken } from "./session";

export type Outcome = { kind: "none" } | { kind: "passed" } | { kind: "refused"; why: string };

/** Takes a sign-in from the address before anything is drawn: the code of `cupel open`, or an issuer's answer. */
export async function signInFromAddress(): Promise<Outcome> {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const code = fragment.get("code");
  if (code) return redeem(code, fragment.get("to"));
  const answer = new URLSearchParams(location.search);
  const isAnswer = answer.has("state") && (answer.has("code") || answer.has("error"));
  return issuer !== null && isAnswer && location.pathname === new URL(`${origin}/login`).pathname
    ? takeAnswer(answer)
    : { kind: "none" };
}

/** Removes the code from the address first, whatever the answer. */
async function redeem(code: string, to: string | null): Promise<Outcome> {
  leave(to);
  try {
    const { token } = await read(api.POST("/v1/login-codes/redeem", { body: { code } }));
    storeToken(token);
    return { kind: "none" };
  } catch (error) {
    return refused(error);
  }
}

async function takeAnswer(answer: URLSearchParams): Promise<Outcome> {
  history.replaceState(null, "", `${origin}/login`);
  const { finishSignIn, passToOtherTab } = await import("./oidc");
  if (passToOtherTab(answer)) return { kind: "passed" };
  try {
    if (issuer) leave(await finishSignIn(issuer, answer));
    return { kind: "none" };
  } catch (error) {
    return refused(error);
  }
}

function leave(to: string | null): void {
  history.replaceState(null, "", origin + (safePath(to) ?? "/runs"));
}

function refused(error: unknown): Outcome {
  return { kind: "refused", why: error instanceof ApiError ? error.detail : String(error) };
}
