import type { ReactNode } from "react";
import page from "./page.module.css";

/** Holds the form that creates an item, folded above the list of its kind. */
export function NewFold({ noun, children }: { noun: string; children: ReactNode }) {
  return (
    <details className={page.fold} data-creates={noun}>
      <summary>New {noun}</summary>
      {children}
    </details>
  );
}

/** Unfolds the form of this screen, and goes to its first field. */
export function openNewFold(noun: string): void {
  const fold = document.querySelector<HTMLDetailsElement>(`details[data-creates="${noun}"]`);
  if (!fold) return;
  fold.open = true;
  fold.scrollIntoView({ block: "nearest" });
  fold.querySelector<HTMLElement>("input, select, textarea")?.focus();
}
