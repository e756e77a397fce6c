import { createContext, type RefObject, useCallback, useContext, useEffect, useState } from "react";
import { ApiError } from "../../../api/client";
import { type Issue, ownIssues } from "../../../lib/content_fields";
import type { Dimension } from "../../../lib/level_choice";

interface Form {
  change: (path: string, value: unknown) => void;
  issues: readonly Issue[];
  /** It tells whether a field has a value that no content may have, such as JSON that does not parse. */
  report: (path: string, isInvalid: boolean) => void;
}

export const FormContext = createContext<Form>({ change: () => {}, issues: [], report: () => {} });

export function useForm(): Form {
  return useContext(FormContext);
}

export const DimensionsContext = createContext<readonly Dimension[]>([]);

/** Returns the issues of a path and its parts, except those that fields show themselves. */
export function useIssues(path: string, shown: readonly string[] = []): string | undefined {
  const { issues } = useForm();
  if (issues.length === 0) return undefined;
  return (
    ownIssues(issues, path, shown)
      .map((each) =>
        each.field === path ? each.message : `${each.field.slice(path.length + 1)}: ${each.message}`,
      )
      .join("; ") || undefined
  );
}

/** Tells whether a path or its parts have issues. */
export function useHasIssues(path: string): boolean {
  return useForm().issues.some((each) => each.field === path || each.field.startsWith(`${path}.`));
}

/** Collects the paths of fields with values that no content may have. */
export function useReports() {
  const [paths, set] = useState<ReadonlySet<string>>(new Set());
  const report = useCallback((path: string, isInvalid: boolean) => {
    set((now) => {
      if (now.has(path) === isInvalid) return now;
      return new Set(isInvalid ? [...now, path] : [...now].filter((each) => each !== path));
    });
  }, []);
  return [paths, report] as const;
}

/** Focuses the first field that was refused. */
export function useFocusOfErrors(form: RefObject<HTMLFormElement | null>, error: unknown) {
  useEffect(() => {
    if (!(error instanceof ApiError) || error.fields.length === 0) return;
    const first = form.current?.querySelector('[aria-invalid="true"], [data-refused]');
    if (first instanceof HTMLElement) first.focus();
  }, [form, error]);
}
