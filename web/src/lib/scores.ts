export const SCORE_ERROR = "A number from 0 to 1, such as 0.8.";

/** Returns null for no score; undefined for text that is no score. */
export function parseScore(text: string): number | null | undefined {
  const trimmed = text.trim();
  if (trimmed === "") return null;
  if (!/^(?:\d+\.?\d*|\.\d+)$/.test(trimmed)) return undefined;
  const value = Number(trimmed);
  return value <= 1 ? value : undefined;
}
