import { type KeyboardEvent, useState } from "react";
import { isModified } from "../../ui/keys";

export interface Position {
  readonly row: number;
  readonly column: number;
}

interface Options {
  rows: number;
  columns: number;
  /** It returns how many rows fit on the screen. */
  screen: () => number;
  reveal: (row: number, column: number) => void;
  choose: (row: number, column: number) => void;
}

/** Moves the active cell of a grid by keys, and opens it with Enter. */
export function useGridKeys({ rows, columns, screen, reveal, choose }: Options) {
  const [active, activate] = useState<Position>({ row: 0, column: 0 });
  const row = Math.max(0, Math.min(active.row, rows - 1));
  const column = Math.max(0, Math.min(active.column, columns - 1));
  const press = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLElement) || event.target.role !== "gridcell") return;
    const [lastRow, lastColumn] = [rows - 1, columns - 1];
    const moves: Record<string, readonly [number, number]> = {
      ArrowDown: [row + 1, column],
      ArrowUp: [row - 1, column],
      ArrowRight: [row, column + 1],
      ArrowLeft: [row, column - 1],
      PageDown: [row + screen(), column],
      PageUp: [row - screen(), column],
      Home: event.ctrlKey ? [0, 0] : [row, 0],
      End: event.ctrlKey ? [lastRow, lastColumn] : [row, lastColumn],
    };
    const to = moves[event.key];
    const isCorner = event.ctrlKey && (event.key === "Home" || event.key === "End");
    if (isModified(event) && !isCorner) return;
    if (to) {
      event.preventDefault();
      const next = {
        row: Math.max(0, Math.min(lastRow, to[0])),
        column: Math.max(0, Math.min(lastColumn, to[1])),
      };
      reveal(next.row, next.column);
      activate(next);
    } else if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      choose(row, column);
    }
  };
  return { active: { row, column }, activate, press };
}
