import type { UseMutationResult } from "@tanstack/react-query";
import type { FormEvent, ReactNode } from "react";
import { refusalOf } from "./confirmed_start";
import { Conflict } from "./conflict";
import page from "./page.module.css";
import { Failure } from "./states";
import { UnsavedGuard } from "./unsaved";

interface Props {
  /** Such as "The eval was not changed". */
  failure: string;
  /** Nothing is saved. */
  isReadOnly?: boolean;
  isChanged: boolean;
  isValid: boolean;
  /** With `isOver`, over whatever is stored now. */
  saving: UseMutationResult<unknown, Error, { isOver: boolean }>;
  /** Reads what is stored now, and forgets what was typed. */
  reload: () => void;
  children: ReactNode;
}

/** The fields of something that is stored, saved unless somebody else has changed it meanwhile. */
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
          <button type="submit" data-kind="primary" disabled={!isValid || !isChanged || saving.isPending}>
            {saving.isPending ? "Saving…" : "Save"}
          </button>
        )}
        {saving.isError && refusalOf(saving.error) === null && (
          <Failure error={saving.error} what={failure} />
        )}
        <Conflict error={saving.error} overwrite={() => saving.mutate({ isOver: true })} reload={reload} />
      </form>
    </>
  );
}
