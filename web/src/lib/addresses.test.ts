import { expect, test } from "vitest";
import { hostOf } from "./addresses";

test("only addresses of the web have a host", () => {
  expect(hostOf("https://example.org:8443/a")).toBe("example.org:8443");
  for (const each of [
    "javascript:alert(1)",
    " JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "/runs",
    "//x.y",
    "",
  ])
    expect(hostOf(each)).toBeNull();
});
