interface Part {
  readonly type: string;
  readonly text?: string | null;
  readonly name?: string | null;
  readonly fileId?: string | null;
  readonly mediaType?: string | null;
  readonly size?: number | null;
  readonly width?: number | null;
  readonly height?: number | null;
}
export interface Said {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly content: string | readonly Part[];
  readonly toolCalls?:
    | readonly { readonly id: string; readonly name: string; readonly arguments: string }[]
    | null;
  readonly toolCallId?: string | null;
  readonly isError?: boolean | null;
}

export const SPEAKERS: Record<Said["role"], string> = {
  system: "System",
  user: "User",
  assistant: "Model",
  tool: "Tool",
};

/** Returns the text of a message without its calls; files appear by their names. */
export function saidText({ content }: Said): string {
  if (typeof content === "string") return content;
  return content.map((part) => (part.type === "text" ? (part.text ?? "") : `[${fileText(part)}]`)).join("\n");
}

/** Returns a text such as "image: invoice.png, PNG, 800 × 600, 12,034 bytes". */
export function fileText({ type, name, fileId, mediaType, size, width, height }: Part): string {
  const facts = [
    name ?? fileId ?? "without a name",
    mediaType?.split("/").at(-1)?.toUpperCase(),
    width && height && `${width} × ${height}`,
    size && `${size.toLocaleString("en")} bytes`,
  ];
  return `${type}: ${facts.filter(Boolean).join(", ")}`;
}

/** Returns all searchable text of a message: its text, and the calls with their arguments. */
export function wholeText(message: Said): string {
  return [saidText(message), ...(message.toolCalls ?? []).map(callText)].join("\n");
}

export function callText(call: { readonly name: string; readonly arguments: string }): string {
  return `${call.name}(${call.arguments})`;
}

export function conversationText(messages: readonly Said[]): string {
  return messages.map((each) => `${SPEAKERS[each.role]}: ${wholeText(each).trimEnd()}`).join("\n\n");
}

export function callNames(messages: readonly Said[]): ReadonlyMap<string, string> {
  return new Map(
    messages.flatMap((each) => each.toolCalls ?? []).map((call) => [call.id, call.name] as const),
  );
}

/** Indents JSON; returns null for values that are no object or list. */
export function indentedJson(text: string): string | null {
  if (!/^\s*[[{]/.test(text)) return null;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return null;
  }
}

const SIGNS = { "\t": "→\t", "\r": "␍" } as const;

/** Replaces tabs, line ends and the spaces before them by signs. */
export function withWhiteSpace(text: string): string {
  return text
    .replace(/[\t\r]/g, (each) => SIGNS[each as keyof typeof SIGNS])
    .replace(/ +(?=\u240d?\n|\u240d?$)/g, (spaces) => "·".repeat(spaces.length))
    .replaceAll("\n", "↵\n");
}
