import type { Schemas } from "../api/types";

type Code = Schemas["ProbeErrorCode"];

const AGAIN = "A retry may succeed.";
const HELP: Record<Code, string> = {
  rate_limited: `The provider accepts fewer calls than were made. ${AGAIN}`,
  timeout: `The provider did not answer in time. ${AGAIN}`,
  provider_error: `The provider failed. ${AGAIN}`,
  network: `The provider could not be reached. ${AGAIN}`,
  auth: "A retry helps once the provider has a valid key, under Settings, Providers.",
  invalid_request:
    "A retry is refused again: change the model, its parameters or the messages, and start another run.",
  content_filtered: "The provider's filter refused it. A retry seldom helps.",
  judge_error: `The judge could not be called. ${AGAIN}`,
  simulated_user_error: `The simulated user did not answer in the form that it was asked for. ${AGAIN}`,
  tool_error: "A retry helps once the tool or the agent works again.",
  operation_error: "A retry helps once the operation of the profile works; its message says what failed.",
  expression_limit: "An expression took too long or too much memory: simplify it, and start another run.",
  file_not_found: "A file of the messages was deleted: upload it again, and retry.",
  budget: "A retry helps once the budget is raised.",
  dead_letter: `Its work was given up after several faults. ${AGAIN}`,
  internal: `A fault of Cupel. ${AGAIN}`,
};

export function helpOf(code: string): string {
  return Object.hasOwn(HELP, code) ? HELP[code as Code] : AGAIN;
}
