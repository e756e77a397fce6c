/** What a schedule starts, as a request has it. */

import type { Schemas } from "../api/types";
import { targetInputs } from "./targets";

type Schedule = Schemas["Schedule"];

/** What of a schedule's runs a form changes. */
export interface StartChanges {
  readonly sourceId: string;
  /** Undefined leaves the targets as they are. */
  readonly targets?: Schemas["TargetInput"][] | undefined;
  readonly repeats: number;
  readonly maxBudgetUsd: number | null;
  /** The expected cost of a run that was agreed to, if that is more than a budget. */
  readonly confirmedUsd?: number | undefined;
}

/** The run or eval run that a schedule starts, with these changes: a request replaces it completely. */
export function changedStart(
  { run, evalRun }: Schedule,
  { sourceId, targets, repeats, maxBudgetUsd, confirmedUsd }: StartChanges,
): Pick<Schemas["UpdateSchedule"], "run" | "evalRun"> {
  const agreed = confirmedUsd === undefined ? {} : { confirmedUsd };
  if (run) {
    const { models: _, config, targets: stored, ...rest } = run;
    // A version belongs to one definition.
    const version = sourceId === run.definitionId ? rest.definitionVersion : null;
    return {
      run: {
        ...rest,
        definitionId: sourceId,
        definitionVersion: version,
        targets: targets ?? targetInputs(stored),
        repeats,
        maxBudgetUsd,
        ...agreed,
        config: configInput(config),
      } as Schemas["CreateRun"],
    };
  }
  if (!evalRun) return {};
  const { config, ...rest } = evalRun;
  return {
    evalRun: {
      ...rest,
      evalId: sourceId,
      repeats,
      maxBudgetUsd,
      ...agreed,
      config: configInput(config),
    } as Schemas["CreateScheduledEvalRun"],
  };
}

/** The temperature is among the parameters too, and a request has it once. */
function configInput({ temperature: _, ...config }: Schemas["ScheduledRunConfig"]) {
  return config;
}
