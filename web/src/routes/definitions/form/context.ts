import { createContext, type RefObject, useCallback, useContext, useEffect, useState } from "react";
import { ApiError } from "../../../api/client";
import { type Issue, ownIssues } from "../../../lib/content_fields";
import type { Dimension } from "../../../lib/level_choice";

interface Form {
  /** Of a path such as `dimensions.0.name`; undefined removes the field. */
  change: (path: string, value: unknown) => void;
  /** What the API has refused. */
  issues: readonly Issue[];
  /** Whether a field has what is in no content, such as JSON that does not parse. */
  report: (path: string, isInvalid: boolean) => void;
}

export const FormContext = createContext<Form>({ change: () => {}, issues: [], report: () => {} });

export function useForm(): Form {
  return useContext(FormContext);
}

/** What the rules of a definition choose from. */
export const DimensionsContext = createContext<readonly Dimension[]>([]);

/** What the API says of a path and of what is inside it, but for the fields that say it themselves. */
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

/** Whether the API says anything of a path or of what is inside it. */
export function useHasIssues(path: string): boolean {
  return useForm().issues.some((each) => each.field === path || each.field.startsWith(`${path}.`));
}

/** The paths of fields with what is in no content. */
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

/** Goes to the first field that was refused. */
export function useFocusOfErrors(form: RefObject<HTMLFormElement | null>, error: unknown) {
  useEffect(() => {
    if (!(error instanceof ApiError) || error.fields.length === 0) return;
    const first = form.current?.querySelector('[aria-invalid="true"], [data-refused]');
    if (first instanceof HTMLElement) first.focus();
  }, [form, error]);
}
