import type { ReactNode } from "react";

/** Shows the header of a column of numbers, which are aligned at the right. */
export function FigureHeader({ children }: { children: ReactNode }) {
  return (
    <th scope="col" className="figure">
      {children}
    </th>
  );
}
