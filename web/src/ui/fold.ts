import { type SyntheticEvent, useState } from "react";

/** Tells whether a `<details>` is open, so that its content is read only then. */
export function useToggle(
  isInitiallyOpen = false,
): [boolean, (event: SyntheticEvent<HTMLDetailsElement>) => void] {
  const [isOpen, set] = useState(isInitiallyOpen);
  // Folds within it report to it as well.
  const toggle = (event: SyntheticEvent<HTMLDetailsElement>) => {
    if (event.target === event.currentTarget) set(event.currentTarget.open);
  };
  return [isOpen, toggle];
}
