import type { UseMutationResult } from "@tanstack/react-query";
import type { FormEvent, ReactNode } from "react";
import { refusalOf } from "./confirmed_start";
import { Conflict } from "./conflict";
import page from "./page.module.css";
import { Failure } from "./states";
import { UnsavedGuard } from "./unsaved";

interface Props {
  failure: string;
  isReadOnly?: boolean;
  isChanged: boolean;
  isValid: boolean;
  /** With `isOver`, it overwrites the stored state. */
  saving: UseMutationResult<unknown, Error, { isOver: boolean }>;
  /** It reads the stored state, and discards typed text. */
  reload: () => void;
  children: ReactNode;
}

/** Edits the fields of a stored object, and saves them unless somebody else has changed it meanwhile. */
export function EditForm({
  failure,
  isReadOnly = false,
  isChanged,
  isValid,
  saving,
  reload,
  children,
}: Props) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid && isChanged) saving.mutate({ isOver: false });
  };
  return (
    <>
      <UnsavedGuard isUnsaved={isChanged && !saving.isPending && !saving.isSuccess} />
      <form className={page.form} onSubmit={submit}>
        {children}
        {!isReadOnly && (
          <div className={page.submit}>
            <button type="submit" data-kind="primary" disabled={!isValid || !isChanged || saving.isPending}>
              {saving.isPending ? "Saving…" : "Save"}
            </button>
          </div>
        )}
        {saving.isError && refusalOf(saving.error) === null && (
          <Failure error={saving.error} what={failure} />
        )}
        <Conflict error={saving.error} overwrite={() => saving.mutate({ isOver: true })} reload={reload} />
      </form>
    </>
  );
}
