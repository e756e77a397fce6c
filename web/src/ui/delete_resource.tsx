import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { DeleteButton } from "./delete_button";
import page from "./page.module.css";

interface Props {
  noun: string;
  list: "connectors" | "evals" | "personas" | "schedules";
  remove: () => Promise<unknown>;
  /** They name what is deleted with it. */
  children: ReactNode;
}

/** Deletes something after a question, and goes to the list of its kind. */
export function DeleteResource({ noun, list, remove, children }: Props) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const removeAndLeave = async () => {
    await remove();
    await navigate({ to: `/${list}`, ignoreBlocker: true });
    await client.invalidateQueries({ queryKey: [list] });
  };
  return (
    <div className={page.apart}>
      <DeleteButton what={`this ${noun}`} remove={removeAndLeave}>
        {children}
      </DeleteButton>
    </div>
  );
}
