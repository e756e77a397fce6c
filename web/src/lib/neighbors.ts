interface Conversation {
  readonly probeIndex: number;
  readonly result: { readonly success: boolean } | null;
}
interface AskedConversation {
  readonly probeIndex: number;
  readonly scenarioId: string;
  readonly personaId: string | null;
  readonly repeat: number;
}

/**
 * Returns the probe index of the next or previous (failed) conversation in the list; from the outside, of the first or
 * last. It is undefined if there is none.
 */
export function neighbor(
  items: readonly Conversation[],
  from: number | undefined,
  direction: 1 | -1,
  onlyFailures: boolean,
): number | undefined {
  const position = items.findIndex((each) => each.probeIndex === from);
  const start = position >= 0 ? position + direction : direction === 1 ? 0 : items.length - 1;
  for (let index = start; index >= 0 && index < items.length; index += direction) {
    const item = items[index];
    if (item && (!onlyFailures || item.result?.success === false)) return item.probeIndex;
  }
  return undefined;
}

/**
 * Returns the probe index of the same scenario, persona and repeat with the next or previous target, in the order of
 * the run.
 */
export function sibling(
  items: readonly AskedConversation[],
  from: number | undefined,
  direction: 1 | -1,
): number | undefined {
  const opened = items.find((each) => each.probeIndex === from);
  if (opened === undefined) return undefined;
  const same = items
    .filter(
      (each) =>
        each.scenarioId === opened.scenarioId &&
        each.personaId === opened.personaId &&
        each.repeat === opened.repeat,
    )
    .map((each) => each.probeIndex)
    .sort((a, b) => a - b);
  return same[same.indexOf(opened.probeIndex) + direction];
}
