import { expect, test } from "vitest";
import type { Provider } from "../api/types";
import { stateOf } from "./provider_state";

const PROVIDER = { name: "openai", enabled: true, needsKey: true, hasKey: true, usable: true };

test.each([
  [{}, "ready"],
  [{ enabled: false, usable: false }, "disabled"],
  [{ hasKey: false, usable: false }, "no API key"],
  [{ name: "custom", needsKey: false, hasKey: false, usable: false }, "no address"],
  [{ name: "bedrock", hasKey: false, usable: true }, "not checked"],
  [{ name: "bedrock", hasKey: false, usable: false }, "no API key"],
  [{ name: "bedrock" }, "ready"],
])("a provider with %o is %s", (changes, state) =>
  expect(stateOf({ ...PROVIDER, ...changes } as Provider)).toBe(state),
);
