import type { Provider } from "../api/types";

export function stateOf(provider: Provider): string {
  if (!provider.enabled) return "disabled";
  if (isUnchecked(provider)) return "not checked";
  if (provider.needsKey && !provider.hasKey) return "no API key";
  return provider.usable ? "ready" : "no address";
}

/** Tells whether calls are signed with a role of AWS, of which nobody knows what it may do until one is made. */
const isUnchecked = (provider: Provider) =>
  provider.name === "bedrock" && !provider.hasKey && provider.usable;
