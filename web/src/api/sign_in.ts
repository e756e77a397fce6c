import { origin } from "../lib/base";
import { safePath } from "../lib/search";
import { ApiError, api, read } from "./client";
import { storeToken } from "./session";

/** Exchange the code in the fragment, as `cupel open` passes it, before anything is drawn; returns why it was refused.
 *
 * The code leaves the address first, whatever the answer. */
export async function redeemFromAddress(): Promise<string | null> {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const code = fragment.get("code");
  if (!code) return null;
  history.replaceState(null, "", origin + (safePath(fragment.get("to")) ?? "/runs"));
  try {
    const { token } = await read(api.POST("/v1/login-codes/redeem", { body: { code } }));
    storeToken(token);
    return null;
  } catch (error) {
    return error instanceof ApiError ? error.detail : String(error);
  }
}
