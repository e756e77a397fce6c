import { useEffect, useState } from "react";

const SETTLE_MS = 400;

/** Returns a text as it was a moment after its last change, so that not every key asks the API. */
export function useSettled(text: string): string {
  const [settled, settle] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => settle(text), SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
