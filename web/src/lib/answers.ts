type Shown = { content: { messages: readonly { role: string; content: unknown }[] } | null };

/** Returns the text of the last answer; undefined without one, or where it is not text. */
export function lastAnswer(transcript: Shown | undefined): string | undefined {
  const answers = transcript?.content?.messages.filter((message) => message.role === "assistant") ?? [];
  const content = answers.at(-1)?.content;
  return typeof content === "string" ? content : undefined;
}
