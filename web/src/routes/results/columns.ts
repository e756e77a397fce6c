import { useCallback, useState } from "react";

export type SideKind = "input" | "expected" | "value";

/** Names a column that says something about the case, beside those of the answers. */
export interface Side {
  readonly kind: SideKind;
  readonly name: string;
}

export type Resizable = SideKind | "answer";
export type Widths = Readonly<Partial<Record<Resizable, number>>>;

const SETTING = "cupel.result-widths";
const DEFAULT_PX: Record<SideKind, number> = { input: 280, expected: 200, value: 120 };
const NARROW_PX = 820;
const NARROW_INPUT_PX = 140;
const [LEAST_PX, MOST_PX] = [80, 1_200];
const ANSWER_PX = { least: 220, most: 640 };
/** A key changes a width by so much. */
export const STEP_PX = 20;

/** On a narrow screen, what is expected is left out: it is in the opened conversation. */
export function sidesOf(hasExpected: boolean, values: readonly string[], screen: number): Side[] {
  return [
    { kind: "input", name: "Input" },
    ...values.map((name) => ({ kind: "value", name }) as const),
    ...(hasExpected && screen >= NARROW_PX ? [{ kind: "expected", name: "Expected" } as const] : []),
  ];
}

/** Returns the widths of all columns; answers share what is left unless their width was chosen. */
export function columnWidths(widths: Widths, sides: readonly Side[], answers: number, screen: number) {
  const isNarrow = screen < NARROW_PX;
  const sidePx: Record<SideKind, number> = {
    input: widths.input ?? (isNarrow ? NARROW_INPUT_PX : DEFAULT_PX.input),
    expected: widths.expected ?? DEFAULT_PX.expected,
    value: widths.value ?? DEFAULT_PX.value,
  };
  const fixedPx = sides.reduce((sum, { kind }) => sum + sidePx[kind], 0);
  const share = Math.floor((screen - fixedPx) / Math.max(1, answers));
  const answerPx = widths.answer ?? Math.max(ANSWER_PX.least, Math.min(ANSWER_PX.most, share));
  return { sidePx, answerPx, fixedPx };
}

/** Keeps the widths that the reader has chosen in the browser. */
export function useWidths(): readonly [Widths, (kind: Resizable, px: number) => void] {
  const [widths, set] = useState(readWidths);
  const resize = useCallback(
    (kind: Resizable, px: number) =>
      set((old) => {
        const next = { ...old, [kind]: Math.round(Math.max(LEAST_PX, Math.min(MOST_PX, px))) };
        localStorage.setItem(SETTING, JSON.stringify(next));
        return next;
      }),
    [],
  );
  return [widths, resize];
}

function readWidths(): Widths {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(SETTING) ?? "{}");
    if (typeof stored !== "object" || stored === null) return {};
    const kinds: readonly Resizable[] = ["input", "expected", "value", "answer"];
    const known = kinds.flatMap((kind) => {
      const px: unknown = (stored as Record<string, unknown>)[kind];
      return typeof px === "number" && px >= LEAST_PX && px <= MOST_PX ? [[kind, px] as const] : [];
    });
    return Object.fromEntries(known);
  } catch {
    return {};
  }
}
