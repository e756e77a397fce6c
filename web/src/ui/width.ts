import { type RefObject, useLayoutEffect, useState } from "react";

export function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(1_000);
  useLayoutEffect(() => {
    const current = element.current;
    if (!current) return;
    const observer = new ResizeObserver(() => setWidth(current.clientWidth));
    observer.observe(current);
    setWidth(current.clientWidth);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
