import type { Schemas } from "../api/types";
import { targetInputs } from "./targets";

type Schedule = Schemas["Schedule"];

/** Names the parts of a schedule's runs that a form changes. */
export interface StartChanges {
  readonly sourceId: string;
  /** Undefined leaves the targets as they are. */
  readonly targets?: Schemas["TargetInput"][] | undefined;
  readonly repeats: number;
  readonly maxBudgetUsd: number | null;
  /** Undefined leaves the operation profile as it is; null is for none. */
  readonly profileId?: string | null | undefined;
  /** It is the confirmed expected cost of a run, if that is more than a budget. */
  readonly confirmedUsd?: number | undefined;
}

/** Returns the run or eval run that a schedule starts, with these changes: a request replaces it completely. */
export function changedStart(
  { run, evalRun }: Schedule,
  { sourceId, targets, repeats, maxBudgetUsd, profileId, confirmedUsd }: StartChanges,
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
        config: configInput(config, profileId),
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
      config: configInput(config, profileId),
    } as Schemas["CreateScheduledEvalRun"],
  };
}

/** The temperature is among the parameters too, and a request has it once. A version belongs to one profile. */
function configInput(
  { temperature: _, ...config }: Schemas["ScheduledRunConfig"],
  profileId: string | null | undefined,
) {
  return profileId === undefined ? config : { ...config, profileId, profileVersion: null };
}
