import { expect, test } from "vitest";
import { variantOf } from "./form_controls";
import { MESSAGES } from "./message_fields";

const fields = MESSAGES.item.kind === "object" ? MESSAGES.item.fields : [];
const content = fields.find((each) => each.name === "content")?.control;
const [text, parts] = content?.kind === "variants" ? content.variants : [];

test("a text becomes the first part, and the texts of parts become a text", () => {
  expect(parts?.from?.("Look")).toEqual([{ type: "text", text: "Look" }, { type: "image" }]);
  expect(parts?.from?.("")).toBeUndefined();
  const written = [{ type: "text", text: "a" }, { type: "image", fileId: "file_1" }, null, { text: "b" }];
  expect(text?.from?.(written)).toBe("a\nb");
  expect(text?.from?.(undefined)).toBeUndefined();
});

test("a content is a text or parts, and anything else is JSON", () => {
  const variants = content?.kind === "variants" ? content.variants : [];
  expect(variantOf(variants, "a")).toBe(text);
  expect(variantOf(variants, [])).toBe(parts);
  expect(variantOf(variants, { a: 1 })).toBeUndefined();
});
