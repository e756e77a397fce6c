import type { ReactNode } from "react";

/** Shows the header of a column of numbers, which are aligned at the right. */
export function FigureHeader({ children, className = "" }: { children: ReactNode; className?: string }) {
  return (
    <th scope="col" className={`figure ${className}`}>
      {children}
    </th>
  );
}
