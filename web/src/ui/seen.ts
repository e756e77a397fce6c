import { type RefObject, useEffect, useState } from "react";

/** Tells whether an element is in sight, or was once. */
export function useSeen(element: RefObject<Element | null>): boolean {
  const [isSeen, see] = useState(false);
  useEffect(() => {
    if (isSeen || element.current === null) return;
    const observer = new IntersectionObserver((entries) => {
      if (entries.some((each) => each.isIntersecting)) see(true);
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [isSeen, element]);
  return isSeen;
}
