import { expect, test } from "vitest";
import { decodeNamedCharacterReference } from "./character_references";

test("names stand for their characters", () => {
  const known = {
    nbsp: "\u00a0",
    eacute: "é",
    yuml: "ÿ",
    szlig: "ß",
    times: "×",
    divide: "÷",
    amp: "&",
    euro: "€",
  };
  for (const [name, character] of Object.entries(known))
    expect(decodeNamedCharacterReference(name)).toBe(character);
});

test("other names are not known", () => {
  for (const name of ["", "none", "toString", "__proto__", "Amp"])
    expect(decodeNamedCharacterReference(name)).toBe(false);
});
