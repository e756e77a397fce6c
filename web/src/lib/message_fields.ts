import { isContent } from "./definitions";
import { type Control, line, prose } from "./form_controls";

const MAX_TEXT = 500_000;
const FILES = { field: "type", is: ["image", "file"] };

/** It is a text, or a file that is stored already or sent along. */
const PART: Control = {
  kind: "object",
  fields: [
    {
      name: "type",
      label: "Kind",
      control: { kind: "choice", options: ["text", "image", "file"] },
      isRequired: true,
      note: "image: PNG, JPEG, WebP or GIF; file: PDF",
    },
    {
      name: "text",
      label: "Text",
      control: prose(3, MAX_TEXT),
      isRequired: true,
      when: { field: "type", is: ["text"] },
    },
    {
      name: "fileId",
      label: "Id of an uploaded file",
      control: line(100),
      note: "Such as file_0123…; or the file itself",
      when: FILES,
    },
    {
      name: "dataUrl",
      label: "The file itself",
      control: { kind: "text", max: 5_000_000, isCode: true, placeholder: "data:image/png;base64,…" },
      when: FILES,
    },
    { name: "name", label: "Name of the file (optional)", control: line(200), when: FILES },
    {
      name: "detail",
      label: "Detail (optional)",
      control: { kind: "choice", options: ["auto", "low", "high"] },
      note: "How closely models of OpenAI look at the image",
      when: { field: "type", is: ["image"] },
    },
    ...["mediaType", "size", "width", "height"].map((name) => ({
      name,
      label: name,
      control: { kind: "hidden" } as const,
    })),
  ],
};

const PARTS: Control = {
  kind: "list",
  item: PART,
  itemName: "part",
  max: 50,
  fresh: { type: "image" },
};

function textOf(parts: unknown): string | undefined {
  if (!Array.isArray(parts)) return undefined;
  return parts
    .filter(isContent)
    .flatMap(({ text }) => (typeof text === "string" && text !== "" ? [text] : []))
    .join("\n");
}

const CALL: Control = {
  kind: "object",
  fields: [
    { name: "id", label: "Id of the call", control: line(100), isRequired: true },
    { name: "name", label: "Name of the function", control: line(64), isRequired: true },
    {
      name: "arguments",
      label: "Arguments, as the model wrote them",
      control: { kind: "text", max: 100_000, rows: 2, isCode: true },
      isRequired: true,
      note: "A text, which is usually JSON",
    },
  ],
};

const MESSAGE: Control = {
  kind: "object",
  fields: [
    {
      name: "role",
      label: "Role",
      control: { kind: "choice", options: ["system", "user", "assistant", "tool"] },
      isRequired: true,
    },
    {
      name: "content",
      label: "Text",
      isRequired: true,
      control: {
        kind: "variants",
        label: "Content",
        variants: [
          { label: "text", control: prose(3, MAX_TEXT), fresh: "", from: textOf },
          {
            label: "texts, images and PDFs",
            control: PARTS,
            fresh: [{ type: "image" }],
            from: (text) =>
              typeof text === "string" && text !== ""
                ? [{ type: "text", text }, { type: "image" }]
                : undefined,
          },
        ],
      },
    },
    {
      name: "toolCalls",
      label: "Calls of functions",
      control: {
        kind: "list",
        item: CALL,
        itemName: "call",
        max: 100,
        fresh: { id: "", name: "", arguments: "{}" },
      },
      when: { field: "role", is: ["assistant"] },
    },
    {
      name: "toolCallId",
      label: "Id of the call that it answers",
      control: line(100),
      when: { field: "role", is: ["tool"] },
    },
    {
      name: "isError",
      label: "It says why the call failed",
      control: { kind: "flag" },
      when: { field: "role", is: ["tool"] },
    },
  ],
};

export const MESSAGES: Extract<Control, { kind: "list" }> = {
  kind: "list",
  item: MESSAGE,
  itemName: "message",
  max: 200,
  fresh: { role: "user", content: "" },
  isFolded: true,
};
