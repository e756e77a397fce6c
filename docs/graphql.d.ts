// Written by `python -m refresh.graphql_types`, from the schema of /v1/graphql. An answer has the fields that a query
// has: `Pick<Run, "id" | "status">` for `{ run(id: "…") { id status } }`.

export type AbortReason = "user" | "deadline";

export type AccessRole = "admin" | "member" | "viewer" | "operator";

export interface AggregateInput {
  runIds: string[];
  /** Without any, there is a single row */
  groupBy?: AggregateKey[] | null;
  /** Also group by the scenarios' scores in these dimensions */
  dimensions?: string[] | null;
  /** Only this target: its id or model */
  target?: string | null;
  promptId?: string | null;
  /** Only scenarios with these scores: `{stakes: 2}` */
  levels?: unknown | null;
}

export type AggregateKey = "run" | "model" | "target" | "prompt";

export interface AggregateResult {
  /** In the order of the runs, targets and levels */
  rows: AggregateRow[];
  /** Number of rows without the limit */
  totalRows: number;
}

/** A group of probes; fields that are null do not distinguish groups */
export interface AggregateRow {
  runId: string | null;
  model: string | null;
  targetId: string | null;
  promptId: string | null;
  /** Scores by dimension; null for scenarios that have none */
  levels: unknown;
  /** Number of runs with such probes */
  runs: number;
  /** The scenario is the unit: results of one scenario are added up within the group */
  estimate: GroupEstimate;
}

/** How far the targets agree. */
export interface Agreement {
  /** Decided by at least two targets */
  scenarios: number;
  /** Krippendorff's, ordinal; null if all answers are the same */
  alpha: number | null;
  /** 95% interval; see docs/statistics.md */
  interval95: number[] | null;
  /** Gwet's, of pass rates; null for decisions */
  ac1: number | null;
  /** Scenarios with an answer that is not the most frequent one; alpha rests on them */
  rareScenarios: number | null;
  /** `high` from 0.8, `moderate` from 0.667 */
  level: AgreementLevel | null;
  /** Alpha without each target */
  without: LeaveOneOut[];
  /** Targets without which alpha clearly rises (docs/statistics.md), as positions in `columns` */
  outliers: number[];
  /** Empty for more than 50 columns */
  pairs: PairAgreement[];
}

/** Krippendorff's recommendation: conclusions from 0.8, tentative ones from 0.667. */
export type AgreementLevel = "high" | "moderate" | "low";

/** An analysis with its figures. */
export interface Analysis {
  /** Null while it is being computed */
  id: string | null;
  /** Id of the run */
  runId: string;
  /** Which analysis */
  kind: AnalysisKind;
  /** Rescore that was analyzed; null for the run's own scoring */
  rescoreId: string | null;
  /** Null while it is being computed; `GET …/analysis` tells when it is there */
  status: AnalysisStatus | null;
  /** How the figures were computed */
  algorithmVersion: string | null;
  /** Equal for equal outcomes; null if the analysis failed */
  inputsHash: string | null;
  /** When it was computed */
  createdAt: string | null;
  /** Whether it is the newest of its kind */
  isCurrent: boolean;
  /** Whether computing it now would give other figures */
  isStale: boolean;
  /** `inputs`: outcomes changed, `algorithm`: another release computed it, `requested`: by force */
  staleReason: StaleReason | null;
  /** Why it failed; null if it did not */
  failure: Failure | null;
  /** Job that computes it, in the response that says so; null otherwise */
  jobId: string | null;
  /** Null if the analysis failed */
  figures: AnalysisFigures | null;
  /** `figures.columns`: decisions, pass rates, durations and costs by target */
  basicStats: unknown | null;
  /** `figures.agreement`: agreement of the targets */
  modelAgreement: unknown | null;
  /** `figures.dimensions`: effects of the dimensions */
  dimensionAnalysis: unknown | null;
  mostContestedScenarios: ContestedScenario[];
  /** Scores of each target by scenario */
  scenarios: AnalyzedScenarioConnection;
}

/** What to know before relying on the figures. */
export interface AnalysisCaution {
  /** Kind of caution */
  code: CautionCode;
  /** In words */
  text: string;
  /** Positions in `columns` that it is about; all if empty */
  columns: number[];
}

/** The figures of an analysis. */
export interface AnalysisFigures {
  /** What targets are compared by: the mean decision, or the pass rate */
  metric: Metric;
  /** Scenarios of the run */
  scenarioCount: number;
  /** Null for a run of an earlier release */
  sample: RunSample | null;
  /** Of all targets together */
  overall: GroupEstimate;
  /** To all scenarios; null unless the run is a sample in which every probe has an outcome */
  overallExtrapolated: GroupExtrapolation | null;
  /** By target, then by prompt */
  columns: ColumnAnalysis[];
  /** Null for a single target */
  agreement: Agreement | null;
  /** The strongest first */
  dimensions: DimensionAnalysis[];
  /** At most 100, the most contested first */
  contested: ContestedScenario[];
  /** Null without repeats */
  variability: Variability | null;
  /** At most 12 findings in words */
  insights: Insight[];
  /** What to know before relying on the figures */
  cautions: AnalysisCaution[];
}

export type AnalysisKind = "basic" | "deep";

export type AnalysisStatus = "COMPLETED" | "FAILED";

/** An analysis without its figures. */
export interface AnalysisSummary {
  /** Null while it is being computed */
  id: string | null;
  /** Id of the run */
  runId: string;
  /** Which analysis */
  kind: AnalysisKind;
  /** Rescore that was analyzed; null for the run's own scoring */
  rescoreId: string | null;
  /** Null while it is being computed; `GET …/analysis` tells when it is there */
  status: AnalysisStatus | null;
  /** How the figures were computed */
  algorithmVersion: string | null;
  /** Equal for equal outcomes; null if the analysis failed */
  inputsHash: string | null;
  /** When it was computed */
  createdAt: string | null;
  /** Whether it is the newest of its kind */
  isCurrent: boolean;
  /** Whether computing it now would give other figures */
  isStale: boolean;
  /** `inputs`: outcomes changed, `algorithm`: another release computed it, `requested`: by force */
  staleReason: StaleReason | null;
  /** Why it failed; null if it did not */
  failure: Failure | null;
  /** Job that computes it, in the response that says so; null otherwise */
  jobId: string | null;
}

export interface AnalyzedScenario {
  /** Id of the scenario */
  scenarioId: string;
  /** Its name */
  scenarioName: string;
  /** By dimension */
  scores: unknown;
  /** Of the targets' means; null for fewer than two */
  variance: number | null;
  /** Between the highest and the lowest mean */
  range: number | null;
  /** Of the targets' means */
  mean: number | null;
  /** By target, then by prompt */
  cells: ScenarioCell[];
}

export interface AnalyzedScenarioConnection {
  nodes: AnalyzedScenario[];
  pageInfo: PageInfo;
}

/** What the last answer must be like; at least one field. */
export interface AnswerFormatInput {
  /** JSON Schema that the answer satisfies; `{}` for any JSON */
  jsonSchema?: unknown | null;
  /** Elements of an XML answer, such as `order.item`; empty for any XML */
  xmlElements?: string[] | null;
  /** JavaScript regular expression with a match */
  pattern?: string | null;
  /** Fewest words of the answer */
  minWords?: number | null;
  /** Most words of the answer */
  maxWords?: number | null;
}

/** Of a target's answers on the scores of all dimensions together. */
export interface AnswerRegression {
  /** Position in `columns` */
  column: number;
  /** Scenarios with an answer */
  scenarios: number;
  /** Answers that it rests on */
  answers: number;
  /** Expected answer at the mean of all scores */
  intercept: number;
  /** Share of the variance that the dimensions explain */
  rSquared: number | null;
  /** Of each dimension */
  slopes: RegressionSlope[];
}

export interface ArtifactDigest {
  /** Templates of the turn read the value as `art.<tag>.value` */
  tag: string;
  /** Of its text, or its JSON */
  bytes: number;
  /** Of its text, or its JSON */
  sha256: string;
}

export type ArtifactFormat = "text" | "markdown" | "json";

/** How an operation stores its value. Each tag has one operation, each operation one tag. */
export interface ArtifactInput {
  /** Templates read the value as `art.<tag>.value` */
  tag: string;
  /** Kind of problem, in words */
  title?: string | null;
  /** Format of the content */
  format?: ArtifactFormat | null;
  /** Whether the value outlasts its turn, with its history */
  persistence?: ArtifactPersistence | null;
  /** Tokens that were used */
  usage?: string | null;
  /** `state`, `log/feed`, `lore/memory`, `intermediate` or another word, for who shows it */
  semantics?: string | null;
  /** `append` joins texts by a line, and concatenates lists */
  writeMode?: WriteMode | null;
  /** Of a persisted artifact: how much of its history stays */
  retention?: RetentionInput | null;
  /** Exactly for the usages `prompt_only` and `prompt+ui` */
  inclusion?: InclusionInput | null;
}

export type ArtifactPersistence = "persisted" | "run_only";

export interface ArtifactVersion {
  /** Templates read the value as `art.<tag>.value` */
  tag: string;
  /** How many values it had, with this one */
  version: number;
}

export interface AssertionResult {
  /** Type of the assertion; see docs/assertions.md */
  type: string;
  /** Null if it could not be computed; `error` then says why */
  passed: boolean | null;
  /** From 0 to 1 */
  score: number | null;
  /** Why, in a sentence; null if there is none */
  reason: string;
  /** Weight of the result in the score */
  weight: number;
  /** Name under which the result is counted; null for none */
  metric: string | null;
  /** Failure category */
  tag: string | null;
  /** Why it failed; null if it did not */
  error: string | null;
  /** `cupel`, or `external` for an external evaluator */
  source: string;
  /** Results of the members of an assertion set */
  parts: unknown[];
  /** Why it could not be computed; null if it was, and for results of earlier releases */
  cause: UnscoredCause | null;
  /** Set if the error is an unusable reply of the judge; otherwise absent */
  unusableReply: UnusableJudgement | null;
}

/** What an estimate rests on. */
export type Basis = "default" | "history";

export interface Branch {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Name for people to read */
  name: string;
  /** The branch that it was forked from; null for the first */
  parentBranchId: string | null;
  /** The last exchange that it has in common with its parent */
  forkedAfter: string | null;
  /** In exchanges */
  length: number;
  /** Changes with every change of the branch */
  revision: number;
  /** The turn in progress; no other is possible then */
  openTurnId: string | null;
  /** When it was created */
  createdAt: string;
}

/** Title, format, usage and semantics are those of the operation when it wrote the value; null, like the operation, turn and position, for values of earlier releases. */
export interface BranchArtifact {
  /** Templates read the value as `art.<tag>.value` */
  tag: string;
  /** What people call it */
  title: string | null;
  /** The newest value */
  value: unknown;
  /** `text`, `markdown` or `json` */
  format: ArtifactFormat | null;
  /** What it is for: prompts, people, both, or operations alone (`internal`) */
  usage: string | null;
  /** How it may be shown; a word of the profile's author */
  semantics: string | null;
  /** How many values it had, with this one */
  version: number;
  /** The operation that has written the value */
  operationId: string | null;
  /** The turn that has written the value */
  turnId: string | null;
  /** Of that turn's exchange */
  position: number | null;
  /** Earlier values, oldest first */
  history: unknown[];
  /** When the turn began that has written the value; null for values of earlier releases */
  updatedAt: string | null;
}

export interface BranchSession {
  /** Another one after a reset: of the branch's session, or of the profile's */
  id: string;
  /** The profile whose operations have stored them */
  profileId: string;
  /** That of the profile */
  sessionId: string;
  /** When the turn began that stored its first artifact; null without one */
  createdAt: string | null;
  /** Of the artifacts that later turns begin with */
  tags: string[];
}

/** Whether the run, with a trial that it asks for, fits into its own budget and into what is left of the workspace's. */
export interface BudgetFit {
  /** The run's own budget, in USD, of which a retry or an expansion has what is left; null without one */
  maxBudgetUsd: number | null;
  /** What is left of the workspace's day, in USD; null without a limit */
  dayLeftUsd: number | null;
  /** What is left of the workspace's month, in USD; null without a limit */
  monthLeftUsd: number | null;
  /** The budget that the expected cost exceeds; null if the run fits */
  exceeds: BudgetScope | null;
  /** The budget that the upper bound exceeds, if any */
  mayExceed: BudgetScope | null;
  /** Whether a start is refused unless `confirmedUsd` is at least `confirmableUsd` */
  confirmationRequired: boolean;
  /** By what budgets may be exceeded: nothing, calls in flight, or unpriced calls */
  guarantee: BudgetGuarantee;
  /** Targets without `maxOutputTokens`, whose calls in flight may cost more than was set aside */
  unlimitedTargets: string[];
}

/** How far a budget can be exceeded. */
export type BudgetGuarantee = "never_exceeded" | "calls_in_flight" | "unpriced_calls";

/** What one worker has drawn of the budget. */
export interface BudgetLease {
  /** Calls whose cost is known */
  spentUsd: number;
  /** Calls that may have been billed: without an answer, or of a worker that died */
  uncertainUsd: number;
  /** Set aside for calls in flight and for the next ones */
  reservedUsd: number;
  /** When it expires unless the worker reports before */
  expiresAt: string;
}

export interface BudgetLimits {
  /** What all calls of models may cost on a calendar day, in USD; null for no limit */
  dayUsd: number | null;
  /** What all calls of models may cost in a calendar month, in USD; null for no limit */
  monthUsd: number | null;
  /** IANA time zone in which days and months begin */
  timezone: string;
}

/** What a budget limits. */
export type BudgetScope = "run" | "day" | "month";

/** What is used of a budget, as the workers have last reported: at most a minute ago. */
export interface BudgetUse {
  /** What the run may spend in all, in USD */
  maxBudgetUsd: number;
  /** Calls whose cost is known */
  spentUsd: number;
  /** Calls that may have been billed: without an answer, or of a worker that died */
  uncertainUsd: number;
  /** Set aside for calls in flight and for the next ones */
  reservedUsd: number;
  /** `spentUsd` by what the models were called for */
  byRole: RoleSpend[];
  /** What all probes will have cost at the present mean; null before 20 have an outcome */
  projectedUsd: number | null;
}

/** The budgets of the workspace. Calls are counted only while it has a limit, of the day or of the month. */
export interface Budgets {
  /** IANA time zone in which days and months begin */
  timezone: string;
  /** Today */
  day: PeriodBudget;
  /** This month */
  month: PeriodBudget;
}

/** A scenario with one of its personas, or with none. */
export interface CaseResults {
  /** Position among the cases of the run, from 0 */
  index: number;
  /** Id of the scenario */
  scenarioId: string;
  /** Null only if the run's snapshot is gone */
  scenarioName: string | null;
  /** Id of the persona; null for none */
  personaId: string | null;
  /** Name of the persona when the run started; null for none */
  personaName: string | null;
  /** By target, then by prompt */
  cells: CellResults[];
}

export interface CaseResultsConnection {
  nodes: CaseResults[];
  pageInfo: PageInfo;
}

/** What to bear in mind when reading figures. */
export interface Caution {
  /** A stable name, such as SMALL_SAMPLE */
  code: string;
  /** What it means, for people to read */
  message: string;
}

export type CautionCode = "PARTIAL" | "LEFT_OUT_CHECKS" | "ONE_SCENARIO" | "FEW_SCENARIOS" | "SMALL_SAMPLE" | "MODERATE_SAMPLE" | "NO_DECISIONS" | "NO_RESULTS" | "HIGH_OTHER" | "UNEVEN_ERRORS" | "PARTIAL_DIMENSIONS" | "MANY_DIMENSIONS" | "MANY_LEVELS" | "MANY_TARGETS" | "RARE_ANSWERS" | "PERSONAS";

/** What one target, asked by one prompt, made of a case; counts are of its repeats. */
export interface CellResults {
  /** The target's label, or its model if it has none */
  targetId: string;
  /** The definition's prompt; null if the definition has none */
  promptId: string | null;
  /** The prompt's name for people; null if it has none */
  promptLabel: string | null;
  /** The target's; of an agent without one, `connector/` and the connector's name */
  label: string | null;
  /** Model as `provider/name`, or `connector/<id>` */
  modelId: string;
  /** Of an agent under test; null for a model */
  connectorId: string | null;
  /** Without an outcome, yet or because the run was cancelled */
  missing: number;
  /** With a transcript */
  completed: number;
  /** Errored ones by error code */
  errors: unknown;
  /** Completed ones with a result */
  judged: number;
  /** Judged ones that succeeded */
  passed: number;
  /** Of the judged ones, from 0 to 1 */
  meanScore: number | null;
  /** Completed ones by decision code; `other` if the definition has no rule or none was read */
  decisions: unknown;
  /** Those whose answer `select-best` or `max-score` found the best */
  best: number;
}

export type ChangeDirection = "increased" | "decreased" | "unchanged";

export interface Chat {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** What people call it */
  title: string | null;
  /** The beginning of its first message; null before it */
  opening: string | null;
  /** The model or connector that answers */
  target: ChatTarget;
  /** The system prompt */
  system: string | null;
  /** The operation profile of the turns; null for none */
  profileId: string | null;
  /** How many earlier exchanges are part of a prompt */
  historyLimit: number;
  /** Your own data about the chat, without effect on it */
  metadata: unknown;
  /** The branch that turns go to by default */
  activeBranchId: string;
  /** How many branches it has */
  branchCount: number;
  /** The id of the token that created it */
  createdBy: string;
  /** When it was created */
  createdAt: string;
  /** When it last changed */
  updatedAt: string;
  /** When it is erased unless it is used before; null if never */
  expiresAt: string | null;
  /** Oldest first */
  branches: Branch[];
  /** Those of a branch, by default the active one; newest first */
  exchanges: ExchangeConnection;
  /** Newest first */
  turns: TurnSummary[];
  /** State that a profile's operations keep on a branch; defaults: the chat's profile, the active branch. Null without one */
  session: BranchSession | null;
  /** With those whose `usage` is `internal` */
  artifacts: BranchArtifact[];
  /** All variants of a message, oldest first */
  variants: VariantConnection;
}

/** A message as a branch has it: its selected variant. */
export interface ChatMessage {
  /** The number of the variant */
  number: number;
  /** `main` as it was sent or answered, `edit` of a person, `rewrite` of an operation */
  kind: VariantKind;
  /** The text */
  content: string;
  /** Whether the call that wrote it was answered to its end */
  status: VariantStatus;
  /** The variant that was edited or rewritten */
  basedOn: number | null;
  /** The branch in which it was made */
  branchId: string;
  /** The turn that made it */
  turnId: string | null;
  /** Of an answer: the model that gave it */
  modelId: string | null;
  /** Tokens of the main call; null if there was none */
  usage: TokenUsage | null;
  /** Of the main call; null if it is unknown, or there was none */
  costUsd: number | null;
  /** What operations have stored beside it */
  annotations: unknown[];
  /** When it was created */
  createdAt: string;
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** `user` or `assistant` */
  role: string;
  /** How many wordings it has */
  variantCount: number;
  /** Whether later prompts leave it out */
  hidden: boolean;
  /** Whether it was taken out of the branch */
  deleted: boolean;
}

export interface ChatTarget {
  /** `provider/name`, or `connector/<id>` */
  model: string;
  /** The connector; null for a model */
  connectorId: string | null;
  /** Parameters of the calls to the target */
  params: unknown;
  /** Of one call, with the first; null for 4 */
  maxAttempts: number | null;
  /** Timeout of one call; null for the stack's */
  callTimeoutSeconds: number | null;
}

/** The model or the connector that answers, as runs name their targets: exactly one of `model` and `connectorId`. */
export interface ChatTargetInput {
  /** Model as `provider/name` */
  model?: string | null;
  /** An agent, which is sent the whole prompt in a new conversation each turn */
  connectorId?: string | null;
  /** Parameters of the calls to the target */
  params?: ModelParametersInput | null;
  /** Attempts of one call to a target, with the first; null for the default */
  maxAttempts?: number | null;
  /** Timeout of one call to a target; null for the default */
  callTimeoutSeconds?: number | null;
}

/** A profile as it would be created. */
export interface CheckProfileInput {
  /** Unique within the workspace, ignoring case */
  name: string;
  /** What it is, for people to read */
  description?: string | null;
  /** Whether turns with this profile run its operations */
  enabled?: boolean | null;
  /** Whether operations run one at a time, or up to 8 together */
  executionMode?: ExecutionMode | null;
  /** What runs before and after the main call; see docs/pipeline.md */
  operations: OperationInput[];
}

/** Results of an assertion, or of the judge's criteria. */
export interface CheckStatistics {
  /** Its metric, or its type */
  name: string;
  /** Conversations that passed it */
  passed: number;
  /** Conversations that failed it */
  failed: number;
  /** Could not be computed */
  errors: number;
  /** Passed among those that were computed */
  passRate: number | null;
  /** 95% interval, Wilson's */
  interval95: number[] | null;
}

export interface CodeShare {
  /** Decision, `1` to `5` or `other` */
  code: string;
  /** Of the answers to which the decision rule was applied */
  estimate: ShareEstimate;
}

/** Of one target, asked by one prompt. */
export interface ColumnAnalysis {
  /** The target's label, or its model if it has none */
  targetId: string;
  /** The definition's prompt; null if the definition has none */
  promptId: string | null;
  /** The prompt's name for people; null if it has none */
  promptLabel: string | null;
  /** The target's; of an agent without one, `connector/` and the connector's name */
  label: string | null;
  /** Model as `provider/name`, or `connector/<id>` */
  modelId: string;
  /** Of an agent under test; null for a model */
  connectorId: string | null;
  /** Of target and prompt, for people */
  name: string;
  /** Its figures */
  estimate: GroupEstimate;
  /** To all scenarios; null unless the run is a sample in which every probe has an outcome */
  extrapolated: GroupExtrapolation | null;
  /** Completed probes of which a weighted assertion could not be computed */
  unscored: number;
  /** What its probes took and cost */
  operations: OperatingFigures;
  /** Empty unless the decision has `favors` */
  winRates: WinRate[];
  /** 1 if repeats never differ, 0 if as much as they can; null without repeats */
  consistency: number | null;
  /** Whether the others agree clearly better without it */
  isOutlier: boolean;
  /** `noise` if its own repeats differ more than the others'; null if it is no outlier */
  outlierCause: OutlierCause | null;
  /** Why completed probes were not scored, the most frequent first, at most 10; each probe counts for one reason */
  unscoredReasons: UnscoredReason[];
}

export interface CompareOptions {
  /** Ids or models of targets; all if empty */
  baselineTargets?: string[] | null;
  comparisonTargets?: string[] | null;
  /** Ids of the definition's prompts; all if empty */
  baselinePrompts?: string[] | null;
  comparisonPrompts?: string[] | null;
  metric?: Metric | null;
  margin?: number | null;
  alpha?: number | null;
}

/** A target, asked by one prompt. */
export interface ComparedColumn {
  /** The target's label, or its model if it has none */
  targetId: string;
  /** The definition's prompt; null if the definition has none */
  promptId: string | null;
  /** The prompt's name for people; null if it has none */
  promptLabel: string | null;
  /** The target's; of an agent without one, `connector/` and the connector's name */
  label: string | null;
  /** Model as `provider/name`, or `connector/<id>` */
  modelId: string;
  /** Of an agent under test; null for a model */
  connectorId: string | null;
}

export interface ComparisonFigures {
  /** Name under which the result is counted; null for none */
  metric: Metric;
  /** Significance level */
  alpha: number;
  /** Smaller differences do not matter */
  margin: number;
  /** How scenarios of the two sides were matched */
  matchedBy: MatchedBy;
  /** Scenarios of both sides */
  commonScenarios: number;
  /** Scenarios of the baseline only */
  onlyBaseline: number;
  /** Scenarios of the comparison side only */
  onlyComparison: number;
  /** One per pair of columns */
  rows: ComparisonRow[];
  /** All pairs together; null if there is only one */
  overall: ComparisonRow | null;
  /** Columns without a counterpart */
  unpairedBaseline: ComparedColumn[];
  /** Columns without a counterpart */
  unpairedComparison: ComparedColumn[];
  /** What differs between the runs, and so may explain a difference */
  whatChanged: WhatChanged;
}

/** Figures of one pair of columns; several columns of a side are averaged. See docs/statistics.md. */
export interface ComparisonRow {
  /** Columns of the baseline */
  baseline: ComparedColumn[];
  /** Columns of the comparison side */
  comparison: ComparedColumn[];
  /** Whether the sides have different targets or prompts */
  isSubstituted: boolean;
  /** The judge's verdict on the criteria; null if there is none */
  verdict: ComparisonVerdict;
  /** The verdict in words, with its figures */
  sentence: string;
  /** What follows for exactly these scenarios, and from errored probes as failures, in words */
  notes: string[];
  /** Scenarios with results on both sides; each counts once */
  scenarios: number;
  /** Mean of the baseline's scenarios, each once */
  baselineMean: number | null;
  /** Mean of the comparison side's scenarios, each once */
  comparisonMean: number | null;
  /** Comparison minus baseline */
  difference: number | null;
  /** Standard error of the difference */
  standardError: number | null;
  /** Confidence interval of the difference, 1 - alpha */
  interval: number[] | null;
  /** The test that p comes from */
  test: SignificanceTest;
  /** Two-sided p-value, not adjusted */
  p: number | null;
  /** Adjusted by Holm's method over the rows, with that of all pairs together */
  adjustedP: number | null;
  /** Smallest difference that this comparison had an 80 % chance to detect */
  minimumDetectableEffect: number | null;
  /** About how many scenarios would detect a difference as large as the margin */
  scenariosNeeded: number | null;
  /** Interval of level 1 - 2 alpha; EQUIVALENT if it is within the margin */
  equivalenceInterval: number[] | null;
  /** p-value of two one-sided tests against the margin */
  equivalenceP: number | null;
  /** Null for all pairs together, and in comparisons of earlier releases */
  theseScenarios: OwnDifference | null;
  /** Difference of pass rates if errored probes count as failures; null without errors */
  errorsFailDifference: number | null;
  /** Difference in standard deviations of the scenarios */
  effectSize: number | null;
  /** The effect size in a word */
  effect: EffectSize | null;
  /** Scenarios that increased, decreased, stayed unchanged */
  changes: unknown;
  /** Common scenarios that do not count, by reason */
  incomparable: unknown;
  /** Decisions of either side */
  distribution: DistributionShift;
  /** What the sides' probes took and cost; described, not tested */
  operations: OperatingDifferences;
  /** What to bear in mind when reading the figures */
  cautions: Caution[];
}

export interface ComparisonSide {
  /** Id of the run */
  runId: string;
  /** Ids or models of targets; all if empty */
  targets: string[];
  /** Ids of prompts; all if empty */
  prompts: string[];
  /** Rescore whose results count; null for the run's own */
  rescoreId: string | null;
}

/** In the order in which they are decided. */
export type ComparisonVerdict = "NOT_COMPARABLE" | "EQUIVALENT" | "HIGHER" | "LOWER" | "INCONCLUSIVE";

export type Conclusion = "SUPPORTED" | "REJECTED" | "INCONCLUSIVE";

export type ConditionOperator = "is_true" | "is_false";

export interface Connector {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Name for people to read */
  name: string;
  /** Names of the configured headers; their values are never returned */
  headerNames: string[];
  /** When it was created */
  createdAt: string;
  /** When it last changed */
  updatedAt: string;
  /** Protocol of the agent */
  type: ConnectorType;
  /** Address of the agent or of the provider's API */
  baseUrl: string;
  /** Settings of the protocol; see docs/connectors.md */
  config: unknown;
}

export interface ConnectorTestResult {
  /** Whether the agent replied */
  ok: boolean;
  /** Time to the reply in milliseconds */
  latencyMs: number;
  /** What the agent replied; null if it did not */
  reply: string | null;
  /** Why the agent did not reply */
  error: string | null;
}

export type ConnectorType = "langgraph" | "openai" | "http" | "tools";

/** A scenario that the targets answer differently. */
export interface ContestedScenario {
  /** Id of the scenario */
  scenarioId: string;
  /** Its name */
  scenarioName: string;
  /** Of the targets' means */
  variance: number;
  /** Between the highest and the lowest mean */
  range: number;
  /** Part of the variance that repeats alone would cause; null without repeats */
  noise: number | null;
}

/** A human result that overrides the graders'; null removes the override. */
export interface CorrectProbeInput {
  /** Whether it passed, with score and reason; null if nothing was judged */
  result?: ProbeResultInput | null;
}

/** This is what the models cost that were called for one purpose. */
export interface CostByRole {
  /** What they were called for; judges include summaries */
  role: ModelRole;
  /** Number of their calls; roles without calls are left out */
  calls: number;
  /** In US dollars; null if a price is unknown */
  costUsd: number | null;
}

/** A fork: it begins with the exchanges of another branch, and changes nothing there. */
export interface CreateBranchInput {
  /** What people call it; its id if omitted */
  name?: string | null;
  /** The active branch if omitted */
  fromBranchId?: string | null;
  /** The last exchange that the fork has; the last of the branch if omitted */
  afterExchangeId?: string | null;
  /** False leaves out the answers of that exchange, to have another one generated */
  includeAnswer?: boolean | null;
  /** Whether the fork has the artifacts that operations have stored up to there */
  artifacts?: string | null;
}

/** A conversation with one model, which is asked by turns. */
export interface CreateChatInput {
  /** What people call it */
  title?: string | null;
  /** The model or connector that answers */
  target: ChatTargetInput;
  /** The system prompt */
  system?: string | null;
  /** Operation profile of its turns */
  profileId?: string | null;
  /** How many earlier exchanges are part of a prompt */
  historyLimit?: number | null;
  /** Without effect on the chat */
  metadata?: unknown | null;
}

/** An agent under test, reached over HTTP. Names are unique within a workspace, ignoring case. */
export interface CreateConnectorInput {
  /** Unique within the workspace, ignoring case */
  name: string;
  /** Protocol of the agent */
  type: ConnectorType;
  /** An absolute http(s) URL without credentials, query or fragment */
  baseUrl: string;
  /** Headers of every request; their values are stored as secrets and never returned */
  headers?: unknown | null;
  /** Settings of the protocol; see docs/connectors.md */
  config?: unknown | null;
}

export interface CreateDefinitionInput {
  /** Name for people to read */
  name: string;
  /** Folder, with `/` between its levels; null for none */
  folder?: string | null;
  /** Tags, for filters */
  tags?: string[] | null;
  /** What is evaluated; may be omitted if scenarios with prompts are given */
  content?: unknown | null;
  /** All scenarios of the version; further ones can be added */
  scenarios?: unknown[] | null;
  /** Name of the version, for people to read */
  versionLabel?: string | null;
}

/** Exactly one of `targets`, `connectorId` and `model` is required. Names are unique within a workspace, ignoring case. */
export interface CreateEvalInput {
  /** Unique within the workspace, ignoring case */
  name: string;
  /** Ids of scenarios that belong to one definition */
  scenarioIds: string[];
  /** Required only to select a fork, because a fork shares scenarios with its parent */
  definitionId?: string | null;
  /** Connector of the agent under test */
  connectorId?: string | null;
  /** Model as `provider/name` */
  model?: string | null;
  /** What the probes talk to; see docs/targets.md */
  targets?: TargetInput[] | null;
  /** Of every target that knows them */
  params?: ModelParametersInput | null;
  /** Model that judges criteria, as `provider/name`; null for none */
  judgeModel?: string | null;
  /** Model that simulates the user; null to use the judge model */
  personaModel?: string | null;
  /** Model that compares texts by meaning, as `provider/name`; null for none */
  embeddingModel?: string | null;
  /** Address of the external evaluator; null for none */
  evaluatorUrl?: string | null;
}

export interface CreateEvalRunInput {
  /** What the run may spend, in USD; it is paused when this is used up. No limit by default */
  maxBudgetUsd?: number | null;
  /** Whether a run with a budget may call models whose price is unknown; they cost nothing */
  allowUnpriced?: boolean | null;
  /** The expected cost that you have agreed to. Required if the estimate exceeds `maxBudgetUsd`; the start is refused if the estimate then valid is higher */
  confirmedUsd?: number | null;
  /** Need not be unique */
  name?: string | null;
  /** Words to find runs by, without an order */
  tags?: string[] | null;
  /** Your own data about the run, such as a commit */
  metadata?: unknown | null;
  /** Which queue its probes wait in */
  priority?: Priority | null;
  /** Conversations of each target with each scenario and persona */
  repeats?: number | null;
  /** The experiment that groups this run with others */
  experimentId?: string | null;
  /** Settings; what is omitted is inherited */
  config?: RunConfigInput | null;
  /** Whether a report is written when the run completes */
  report?: boolean | null;
}

/** Names are unique within a workspace, ignoring case. */
export interface CreateExperimentInput {
  /** Unique within the workspace, ignoring case */
  name: string;
  /** What the experiment is to show */
  hypothesis: string;
  /** What holds if the hypothesis does not; null if it was not written */
  nullHypothesis?: string | null;
  /** What it is, for people to read */
  description?: string | null;
  /** How runs are expected to differ from the baseline */
  direction?: ExpectedDirection | null;
  /** Target that the expectation is about; null for all */
  target?: string | null;
  /** Null: decisions if there are any, else pass rates */
  metric?: Metric | null;
  /** Smaller differences do not matter */
  minimumEffect?: number | null;
  /** Significance level */
  alpha?: number | null;
  /** What is varied on purpose */
  independentVariable?: string | null;
  /** What is meant to stay equal */
  controlledVariables?: string[] | null;
  /** Run that the others are compared with */
  baselineRunId?: string | null;
  /** Tags, for filters */
  tags?: string[] | null;
}

/** A simulated user. Names are unique within a workspace, ignoring case. */
export interface CreatePersonaInput {
  /** Unique within the workspace, ignoring case */
  name: string;
  /** What it is, for people to read */
  description?: string | null;
  /** System prompt of the model that simulates this user */
  systemPrompt?: string | null;
  /** Headers added to each request made for this persona to a connector in `connectorUrls` */
  headers?: unknown | null;
  /** The `baseUrl` of each connector that may get the headers; required with `headers`. A new one requires the headers again */
  connectorUrls?: string[] | null;
}

/** Names are unique within a workspace, ignoring case. */
export interface CreateProfileInput {
  /** Unique within the workspace, ignoring case */
  name: string;
  /** What it is, for people to read */
  description?: string | null;
  /** Whether turns with this profile run its operations */
  enabled?: boolean | null;
  /** Whether operations run one at a time, or up to 8 together */
  executionMode?: ExecutionMode | null;
  /** What runs before and after the main call; see docs/pipeline.md */
  operations: OperationInput[];
}

/** All fields may be omitted. */
export interface CreateReportInput {
  /** Writes the summary; null for none. If omitted, the `summarizerModel` of the run, or else that of the workspace, or else the run's judge */
  summarizerModel?: string | null;
  /** Whether a model whose price is unknown may write it although the run or the workspace has a budget; it costs nothing */
  allowUnpriced?: boolean | null;
}

/** Omitted fields keep the run's configuration. */
export interface CreateRescoreInput {
  /** Assertions to use instead of the definition's and its scenarios' */
  assertions?: unknown[] | null;
  /** Judge model; if it differs, verdicts on criteria are computed again */
  judgeModel?: string | null;
  /** Model that compares texts by meaning, as `provider/name`; null for none */
  embeddingModel?: string | null;
  /** Address of the external evaluator; null for none */
  evaluatorUrl?: string | null;
  /** Criteria to use instead of each scenario's own */
  criteria?: CriteriaInput | null;
  /** What the rescore may spend, in USD: it is stopped when this is used up. Without it, the rescore is paid from the budget of its run, if that has one */
  maxBudgetUsd?: number | null;
  /** Whether a rescore may call models whose price is unknown although it, its run or the workspace has a budget; they cost nothing */
  allowUnpriced?: boolean | null;
}

/** Exactly one of `models`, `targets` and `connectorId`, and at least one of `userMessage` and `goal`. */
export interface CreateScaleRunInput {
  /** What the run may spend, in USD; it is paused when this is used up. No limit by default */
  maxBudgetUsd?: number | null;
  /** Whether a run with a budget may call models whose price is unknown; they cost nothing */
  allowUnpriced?: boolean | null;
  /** The expected cost that you have agreed to. Required if the estimate exceeds `maxBudgetUsd`; the start is refused if the estimate then valid is higher */
  confirmedUsd?: number | null;
  /** Need not be unique */
  name?: string | null;
  /** Words to find runs by, without an order */
  tags?: string[] | null;
  /** Your own data about the run, such as a commit */
  metadata?: unknown | null;
  /** Models as `provider/name` */
  models?: string[] | null;
  /** What the probes talk to; see docs/targets.md */
  targets?: TargetInput[] | null;
  /** Connector of the agent under test */
  connectorId?: string | null;
  /** May be omitted for an agent that has its own */
  systemPrompt?: string | null;
  /** The user's first message; without it, the simulated user begins */
  userMessage?: string | null;
  /** When a conversation succeeds, and what the simulated user wants */
  goal?: string | null;
  /** Conversations of each target */
  count: number;
  /** Simulated users that share the conversations evenly */
  personaIds?: string[] | null;
  /** Turns of a conversation at most */
  maxTurns?: number | null;
  /** Sampling temperature; null for the provider's default */
  temperature?: number | null;
  /** Of one answer of the target */
  maxOutputTokens?: number | null;
  /** Attempts of one call to a target, with the first; null for the default */
  maxAttempts?: number | null;
  /** Longest wait before the second attempt of a call; null for the default */
  retryDelaySeconds?: number | null;
  /** 3 by default; null for no limit */
  maxConcurrency?: number | null;
  /** [200, 400] by default; null for no gaps */
  staggerMs?: unknown[] | null;
  /** Defaults to the workspace's; null for none */
  judgeModel?: string | null;
  /** Model that simulates the user; defaults to the workspace's, or to the judge */
  personaModel?: string | null;
  /** Model that writes the report's summary; defaults to the workspace's, or to the judge */
  summarizerModel?: string | null;
  /** All of the default evaluators run unless they are switched off */
  evaluators?: EvaluatorsInput | null;
  /** Checked by the evaluator of this name */
  format?: AnswerFormatInput | null;
  /** Whether a report is written when the run completes */
  report?: boolean | null;
  /** Whether that report's revised prompt is tried, for at most the run's cost and two further calls */
  trial?: boolean | null;
  /** Which queue its probes wait in */
  priority?: Priority | null;
  /** The experiment that groups this run with others */
  experimentId?: string | null;
}

/** At most one of `prompt` and `messages`. With `instructions` both may be omitted; the simulated user then starts. */
export interface CreateScenarioInput {
  /** Name for people to read */
  name?: string | null;
  /** The user's first message */
  prompt?: string | null;
  /** Messages the conversation starts with */
  messages?: MessageInput[] | null;
  /** By id of the definition's prompts: messages to start with instead */
  messagesByPrompt?: unknown | null;
  /** Scores by dimension name */
  dimensions?: unknown | null;
  /** Any JSON object of your own */
  metadata?: unknown | null;
  /** What the simulated user wants; not shown to the target */
  instructions?: string | null;
  /** User messages after the first answer, in order, instead of the definition's */
  followUps?: string[] | null;
  /** Whether each message is a request of its own, without the earlier ones; `[answer 1]` in a follow-up is then the first answer */
  separateTurns?: boolean | null;
  /** Messages of the conversation at most, those of the scenario included */
  maxMessages?: number | null;
  /** When the judge ends with success */
  successCriteria?: string | null;
  /** When the judge ends with failure */
  failureCriteria?: string | null;
  /** Whether any or all failure criteria must be met for a failure */
  failureCriteriaMode?: FailureCriteriaMode | null;
  /** Checks, each `{type, value?, threshold?, weight?, metric?, …}`; see docs/assertions.md */
  assertions?: unknown[] | null;
  /** Ids of personas; each one has its own conversation */
  personaIds?: string[] | null;
  /** What calls of tools return; the first that matches a call answers it */
  toolResults?: ToolResultInput[] | null;
  /** How many checks of each type the author of an imported file wrote that are not in `assertions`; results say that they were left out, and a gate does not pass without them */
  leftOutChecks?: unknown | null;
}

export interface CreateScheduleInput {
  /** Name for people to read */
  name: string;
  /** EventBridge Scheduler expression: `cron(0 9 ? * MON-FRI *)`, `rate(6 hours)` or `at(2027-01-31T09:30:00)` */
  expression: string;
  /** IANA time zone name */
  timezone?: string | null;
  /** The run to start; either this or `evalRun` */
  run?: unknown | null;
  /** The eval to run, with its options */
  evalRun?: unknown | null;
  /** Whether it is in use */
  enabled?: boolean | null;
}

/** All fields may be omitted. */
export interface CreateTrialInput {
  /** What both prompts may cost together, in USD; no limit by default */
  maxBudgetUsd?: number | null;
  /** Whether a run with a budget may call models whose price is unknown; they cost nothing */
  allowUnpriced?: boolean | null;
  /** The expected cost that you have agreed to. Required if the estimate exceeds `maxBudgetUsd`; the start is refused if the estimate then valid is higher */
  confirmedUsd?: number | null;
  /** Scenarios to try; by default so many that a difference of 10 percentage points is found, as far as three quarters of the budget, or half of the run's conversations each, allow */
  scenarios?: number | null;
  /** Conversations per scenario; chosen likewise by default */
  repeats?: number | null;
}

export interface CriteriaInput {
  /** What a successful conversation looks like */
  success?: string | null;
  /** What a failed conversation looks like */
  failure?: string | null;
}

export interface DeadLetter {
  /** Id of the queue message */
  messageId: string;
  /** Name of the provider */
  provider: string;
  /** Which queue its probes wait in */
  priority: Priority;
  /** Number of times it was received */
  receivedCount: number;
  /** Id of the run */
  runId: string;
  /** Indexes of the probes it contains */
  indexes: number[];
  /** Why the message failed */
  cause: string;
}

/** What records of turns also have of an operation. */
export interface DebugInput {
  /** Whether they have the system prompt, the prompt and the answer of its call: up to 8,000 characters of each, without what looks like a key */
  enabled?: boolean | null;
}

/** A deep analysis with its figures. */
export interface DeepAnalysis {
  /** Null while it is being computed */
  id: string | null;
  /** Id of the run */
  runId: string;
  /** Which analysis */
  kind: AnalysisKind;
  /** Rescore that was analyzed; null for the run's own scoring */
  rescoreId: string | null;
  /** Null while it is being computed; `GET …/analysis` tells when it is there */
  status: AnalysisStatus | null;
  /** How the figures were computed */
  algorithmVersion: string | null;
  /** Equal for equal outcomes; null if the analysis failed */
  inputsHash: string | null;
  /** When it was computed */
  createdAt: string | null;
  /** Whether it is the newest of its kind */
  isCurrent: boolean;
  /** Whether computing it now would give other figures */
  isStale: boolean;
  /** `inputs`: outcomes changed, `algorithm`: another release computed it, `requested`: by force */
  staleReason: StaleReason | null;
  /** Why it failed; null if it did not */
  failure: Failure | null;
  /** Job that computes it, in the response that says so; null otherwise */
  jobId: string | null;
  /** Null if the analysis failed */
  figures: DeepAnalysisFigures | null;
}

/** A target, asked by one prompt. */
export interface DeepAnalysisColumn {
  /** The target's label, or its model if it has none */
  targetId: string;
  /** The definition's prompt; null if the definition has none */
  promptId: string | null;
  /** The prompt's name for people; null if it has none */
  promptLabel: string | null;
  /** The target's; of an agent without one, `connector/` and the connector's name */
  label: string | null;
  /** Model as `provider/name`, or `connector/<id>` */
  modelId: string;
  /** Of an agent under test; null for a model */
  connectorId: string | null;
  /** Of target and prompt, for people */
  name: string;
}

/** The figures of a deep analysis; docs/statistics.md explains them. `unavailable` says why a part is null. */
export interface DeepAnalysisFigures {
  /** What targets are compared by: the mean decision, or the pass rate */
  metric: Metric;
  /** Scenarios of the run */
  scenarioCount: number;
  /** By target, then by prompt */
  columns: DeepAnalysisColumn[];
  /** Directions in which targets differ */
  components: PrincipalComponents | null;
  /** Targets unlike the others */
  outlierTargets: OutlierTargets | null;
  /** Scenarios unlike the others */
  outlierScenarios: OutlierScenarios | null;
  /** Whether dimensions vary independently */
  design: DesignCheck | null;
  /** Regressions on all dimensions together */
  effects: DimensionEffects | null;
  /** Of pairs of dimensions */
  interactions: DimensionInteractions | null;
  /** Where differences come from */
  variance: VarianceShares | null;
  /** Why parts are null */
  unavailable: UnavailablePart[];
  /** What to know before relying on the figures */
  cautions: DeepCaution[];
  /** The figures in sentences */
  narrative: Narrative;
}

/** What to know before relying on the figures. */
export interface DeepCaution {
  /** Kind of caution */
  code: DeepCautionCode;
  /** In words */
  text: string;
  /** Positions in `columns` that it is about; all if empty */
  columns: number[];
}

export type DeepCautionCode = "IMPUTED" | "COLLINEAR" | "PARTIAL_DIMENSIONS" | "MANY_DIMENSIONS" | "FEW_SCENARIOS" | "EXCLUDED_TARGETS" | "PARTIAL";

/** What needs more targets, scenarios or dimensions than a run may have. */
export type DeepPart = "components" | "outlierTargets" | "outlierScenarios" | "design" | "effects" | "interactions" | "variance";

export interface Definition {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Name for people to read */
  name: string;
  /** Folder, with `/` between its levels; null for none */
  folder: string | null;
  /** Tags, for filters */
  tags: string[];
  /** Version number, from 1 */
  version: number;
  /** The name that was given to this version */
  versionLabel: string | null;
  /** The definition it was forked from */
  parentId: string | null;
  /** Version that the fork was made of; null if it is none */
  parentVersion: number | null;
  /** When it was created */
  createdAt: string;
  /** When it last changed */
  updatedAt: string;
  /** What is evaluated; of a fork, with what it inherits */
  content: unknown;
  /** Number of scenarios of this version */
  scenarioCount: number;
  /** What may be a mistake, but is no error */
  warnings: Warning[];
  /** What it defines itself; of a fork, what it overrides */
  localContent: unknown;
  parent: Definition | null;
  /** Its direct forks */
  children: Definition[];
  /** Definitions it was forked from, nearest first */
  ancestors: Definition[];
  /** Forks and their forks, level by level */
  descendants: Definition[];
  scenarios: ScenarioConnection;
  runs: Run[];
}

export interface DefinitionConnection {
  nodes: Definition[];
  pageInfo: PageInfo;
}

/** Why probes of a target wait. A `learned_limit`, a `higher_priority`, a `chat_reservation` and a `run_limit` slow them down, every other reason stops them. */
export interface Delay {
  /** Why, in a sentence; null if there is none */
  reason: DelayReason;
  /** Whose queue or account it is; null for `run_paused`, `run_limit` and `budget` */
  provider: string | null;
  /** The model that is suspended: the target, or one that grades or simulates users */
  model: string | null;
  /** When calls may start again; null if someone has to act */
  until: string | null;
  /** Why, in the provider's words */
  message: string | null;
  /** Maximum parallel requests: for a `learned_limit` as configured, for a `higher_priority` those that runs may make at present, for a `chat_reservation` those of the account; for a `run_limit` the run's `maxConcurrency`, if that many conversations are in progress */
  limit: number | null;
  /** Parallel requests that the provider currently sustains */
  learnedLimit: number | null;
  /** Of a `budget`: the one of which too little is left for the next call, because the rest is reserved for other calls: the run's, or the workspace's for a day or month */
  budget: BudgetScope | null;
  /** Of a `higher_priority`: how many of the `limit` parallel requests other runs and chats of a higher priority make or could make at once. Of a `chat_reservation`: how many are reserved for chats */
  takenSlots: number | null;
  /** Of a `run_limit`: the run's `staggerMs`, the gap between two starts */
  staggerMs: number[] | null;
}

export type DelayReason = "run_paused" | "queue_paused" | "model_suspended" | "throttled" | "learned_limit" | "budget" | "higher_priority" | "chat_reservation" | "run_limit";

/** Whether the effects of dimensions can be told apart. */
export interface DesignCheck {
  /** Of each pair of dimensions */
  correlations: ScoreCorrelation[];
  /** Of each dimension */
  inflation: DimensionInflation[];
}

/** How far a run is, by target. Counts and costs are exact; `results` and `errors` say of how many probes. */
export interface DetailedProgress {
  /** Id of the run */
  runId: string;
  /** Current status */
  status: RunStatus;
  /** Who or what paused the run */
  pauseReason: PauseReason | null;
  /** What must be repaired if Cupel paused it */
  pauseCause: PauseCause | null;
  /** Which budget is used up, if that paused the run: its own, or the workspace's for a period */
  exhaustedBudget: BudgetScope | null;
  /** When these figures were read */
  readAt: string;
  /** Number of probes */
  total: number;
  /** Probes with a transcript; exact */
  completed: number;
  /** Probes that ended in an infrastructure error; exact */
  errored: number;
  /** Probes in progress, also of a stopped run: a call was made, and there is no outcome yet. Workers report them within about three seconds */
  running: number;
  /** What the calls cost */
  spend: RunSpend;
  /** By target, then by prompt */
  targets: TargetProgress[];
}

/** How answers depend on one dimension. */
export interface DimensionAnalysis {
  /** Of the dimension */
  name: string;
  /** With a score in it */
  scenarios: number;
  /** Scores, ascending; empty for more than 50 */
  levels: number[];
  /** Of all targets together */
  overall: DimensionFigures;
  /** By target, then by prompt */
  columns: DimensionFigures[];
}

export interface DimensionEffects {
  /** That the regressions are on */
  dimensions: string[];
  /** Of each target that answered enough */
  regressions: AnswerRegression[];
  /** The most divisive dimension first */
  equality: SlopeEquality[];
}

export interface DimensionFigures {
  /** In the order of the dimension's levels */
  levels: GroupEstimate[];
  /** Of the levels */
  effect: LevelEffect;
  /** Null for fewer than 5 scenarios or a single score */
  trend: Trend | null;
}

/** How far a dimension varies independently of the others. */
export interface DimensionInflation {
  /** Name of the dimension */
  dimension: string;
  /** Variance inflation factor; null if others determine it */
  factor: number | null;
  /** Whether the factor is 5 or more */
  isCollinear: boolean;
}

/** How the slope of one dimension changes with another, for one target. */
export interface DimensionInteraction {
  /** Position in `columns` */
  column: number;
  /** Name of the dimension */
  first: string;
  /** Name of the dimension */
  second: string;
  /** Change of the first one's slope per unit of the second */
  coefficient: number;
  /** Of the coefficient, by the jackknife */
  standardError: number;
  /** Of no interaction */
  p: number | null;
  /** p after Holm's adjustment for all such tests of the analysis */
  adjustedP: number | null;
  /** Additional share of the variance that it explains */
  rSquaredGain: number;
  /** Scores; empty if either has more than 12 */
  firstLevels: number[];
  /** Scores; empty if either has more than 12 */
  secondLevels: number[];
  /** Mean answers by level of the first, then of the second */
  means: ((number | null)[])[];
}

export interface DimensionInteractions {
  /** Pairs of dimensions, over all targets */
  tested: number;
  /** At most 10, by what they explain */
  largest: DimensionInteraction[];
}

export interface DistributionShift {
  /** Number of answers by decision code */
  baseline: unknown;
  /** Number of answers by decision code */
  comparison: unknown;
  /** Half of the sum of absolute differences of the shares, from 0 to 1 */
  totalVariation: number | null;
}

/** A finding whose citations did not hold. */
export interface DroppedFinding {
  /** What it is about */
  topic: NarrativeTopic;
  /** What did not hold */
  reason: string;
}

/** A change that an operation makes with its value once it is done. */
export interface EffectInput {
  /** What the value changes: the prompt, the user's message or the answer */
  type: string;
  /** Of `prompt.system_update` */
  mode?: SystemUpdate | null;
  /** Of the message that is added; `developer` is sent as `system` */
  role?: PromptRole | null;
  /** Of `prompt.insert_at_depth` */
  depthFromEnd?: number | null;
  /** Renders `value`; the value as text if omitted */
  template?: string | null;
}

/** Cohen's words. */
export type EffectSize = "negligible" | "small" | "medium" | "large";

export interface ErrorCause {
  /** Kind of error; see docs/architecture.md */
  code: ProbeErrorCode;
  /** Of the errored probes that were read */
  count: number;
  /** Of the latest of them */
  message: string;
  /** Whether a retry of the run may end otherwise: false for a request that is refused again */
  retryHelps: boolean;
}

export interface ErrorCount {
  /** Of the infrastructure error */
  code: string;
  /** Probes that ended in it */
  probes: number;
}

/** What a run is expected to cost, without repeated calls, embeddings and external evaluators. */
export interface Estimate {
  /** Number of probes of the run */
  jobCount: number;
  /** Of the models whose price is known */
  usd: EstimateInterval;
  /** If no other run calls the same providers */
  seconds: EstimateInterval;
  /** What the figures rest on; see docs/costs.md */
  basis: Basis;
  /** Earlier runs whose scored conversations the figures rest on, newest first; often empty */
  historyRunIds: string[];
  /** The list that prices come from, unless the workspace has its own */
  priceList: string;
  /** Calls of the targets */
  targets: TargetEstimate[];
  /** Calls of judges, simulated users and summarizing models */
  graders: GraderEstimate[];
  /** Models whose price is unknown; they are not in `usd` */
  unpriced: string[];
  /** What all other scenarios would add to a sampled run; null without a sample */
  expansion: ExpansionEstimate | null;
  /** The trial that starts by itself after the report; null unless `trial` is true */
  trial: TrialEstimate | null;
  /** The least `confirmedUsd` of a start that must be confirmed: what is expected, with a trial within its limit */
  confirmableUsd: number;
  /** Of an estimate that was asked for; null in other answers */
  budget: BudgetFit | null;
  /** Providers without a key or an address: the estimate holds, and a start is refused */
  missingAccess: MissingAccess[];
}

/** The body of a start. */
export interface EstimateEvalRunInput {
  /** What the run may spend, in USD; it is paused when this is used up. No limit by default */
  maxBudgetUsd?: number | null;
  /** Whether a run with a budget may call models whose price is unknown; they cost nothing */
  allowUnpriced?: boolean | null;
  /** The expected cost that you have agreed to. Required if the estimate exceeds `maxBudgetUsd`; the start is refused if the estimate then valid is higher */
  confirmedUsd?: number | null;
  /** Need not be unique */
  name?: string | null;
  /** Words to find runs by, without an order */
  tags?: string[] | null;
  /** Your own data about the run, such as a commit */
  metadata?: unknown | null;
  /** Which queue its probes wait in */
  priority?: Priority | null;
  /** Conversations of each target with each scenario and persona */
  repeats?: number | null;
  /** The experiment that groups this run with others */
  experimentId?: string | null;
  /** Settings; what is omitted is inherited */
  config?: RunConfigInput | null;
  /** Whether a report is written when the run completes */
  report?: boolean | null;
}

/** What is expected, and its bounds: 95% of runs like the past ones are within them if `basis` is `history`; otherwise they are a range that follows from assumptions and has no probability. */
export interface EstimateInterval {
  /** Lower bound */
  low: number;
  /** The likeliest figure */
  expected: number;
  /** Upper bound */
  high: number;
}

/** The body of a start. */
export interface EstimateScaleRunInput {
  /** What the run may spend, in USD; it is paused when this is used up. No limit by default */
  maxBudgetUsd?: number | null;
  /** Whether a run with a budget may call models whose price is unknown; they cost nothing */
  allowUnpriced?: boolean | null;
  /** The expected cost that you have agreed to. Required if the estimate exceeds `maxBudgetUsd`; the start is refused if the estimate then valid is higher */
  confirmedUsd?: number | null;
  /** Need not be unique */
  name?: string | null;
  /** Words to find runs by, without an order */
  tags?: string[] | null;
  /** Your own data about the run, such as a commit */
  metadata?: unknown | null;
  /** Models as `provider/name` */
  models?: string[] | null;
  /** What the probes talk to; see docs/targets.md */
  targets?: TargetInput[] | null;
  /** Connector of the agent under test */
  connectorId?: string | null;
  /** May be omitted for an agent that has its own */
  systemPrompt?: string | null;
  /** The user's first message; without it, the simulated user begins */
  userMessage?: string | null;
  /** When a conversation succeeds, and what the simulated user wants */
  goal?: string | null;
  /** Conversations of each target */
  count: number;
  /** Simulated users that share the conversations evenly */
  personaIds?: string[] | null;
  /** Turns of a conversation at most */
  maxTurns?: number | null;
  /** Sampling temperature; null for the provider's default */
  temperature?: number | null;
  /** Of one answer of the target */
  maxOutputTokens?: number | null;
  /** Attempts of one call to a target, with the first; null for the default */
  maxAttempts?: number | null;
  /** Longest wait before the second attempt of a call; null for the default */
  retryDelaySeconds?: number | null;
  /** 3 by default; null for no limit */
  maxConcurrency?: number | null;
  /** [200, 400] by default; null for no gaps */
  staggerMs?: unknown[] | null;
  /** Defaults to the workspace's; null for none */
  judgeModel?: string | null;
  /** Model that simulates the user; defaults to the workspace's, or to the judge */
  personaModel?: string | null;
  /** Model that writes the report's summary; defaults to the workspace's, or to the judge */
  summarizerModel?: string | null;
  /** All of the default evaluators run unless they are switched off */
  evaluators?: EvaluatorsInput | null;
  /** Checked by the evaluator of this name */
  format?: AnswerFormatInput | null;
  /** Whether a report is written when the run completes */
  report?: boolean | null;
  /** Whether that report's revised prompt is tried, for at most the run's cost and two further calls */
  trial?: boolean | null;
  /** Which queue its probes wait in */
  priority?: Priority | null;
  /** The experiment that groups this run with others */
  experimentId?: string | null;
}

/** The body of a start. */
export interface EstimateTrialInput {
  /** What both prompts may cost together, in USD; no limit by default */
  maxBudgetUsd?: number | null;
  /** Whether a run with a budget may call models whose price is unknown; they cost nothing */
  allowUnpriced?: boolean | null;
  /** The expected cost that you have agreed to. Required if the estimate exceeds `maxBudgetUsd`; the start is refused if the estimate then valid is higher */
  confirmedUsd?: number | null;
  /** Scenarios to try; by default so many that a difference of 10 percentage points is found, as far as three quarters of the budget, or half of the run's conversations each, allow */
  scenarios?: number | null;
  /** Conversations per scenario; chosen likewise by default */
  repeats?: number | null;
}

/** An eval whose only target has no label and no parameters has it as `connectorId` or `model` too. */
export interface Eval {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Name for people to read */
  name: string;
  /** Id of the definition */
  definitionId: string;
  /** Ids of the scenarios */
  scenarioIds: string[];
  /** Connector of the agent under test */
  connectorId: string | null;
  /** Model as `provider/name` */
  model: string | null;
  /** What the probes talk to; see docs/targets.md */
  targets: Target[];
  /** Parameters of the calls to targets; see docs/targets.md */
  params: unknown;
  /** Model that judges criteria, as `provider/name`; null for none */
  judgeModel: string | null;
  /** Model that simulates users, as `provider/name`; null for none */
  personaModel: string | null;
  /** Model that compares texts by meaning, as `provider/name`; null for none */
  embeddingModel: string | null;
  /** Address of the external evaluator; null for none */
  evaluatorUrl: string | null;
  /** When it was created */
  createdAt: string;
  /** When it last changed */
  updatedAt: string;
  definition: Definition | null;
  /** Newest first */
  runs: Run[];
}

export interface Evaluator {
  /** Address that is called */
  url: string;
  /** Names of the configured headers; their values are never returned */
  headerNames: string[];
}

/** If `headers` is omitted, the stored headers are kept, unless the URL changes: then they must be sent again.

null or an empty object removes them. */
export interface EvaluatorInput {
  /** An absolute http(s) URL without credentials, query or fragment */
  url: string;
  /** Headers of every request; their values are stored as secrets and never returned */
  headers?: unknown | null;
}

/** The default evaluators: false switches one off. */
export interface EvaluatorsInput {
  /** Whether the goal is reached, by the judge */
  goal?: unknown | null;
  /** Whether the target refuses to answer; without a model */
  refusal?: boolean | null;
  /** Whether the last answer has the requested `format` */
  format?: boolean | null;
  /** Whether the last answer is toxic, by the judge */
  toxicity?: unknown | null;
  /** Instead of the workspace's external evaluator; null for none */
  external?: ExternalEvaluatorInput | null;
}

export interface Evidence {
  /** Id of the transcript, and of its probe */
  conversationId: string;
  /** Occurs in this conversation */
  quote: string;
}

/** Parts of a conversation with a failure tag. */
export interface Excerpt {
  /** Id of the transcript, and of its probe */
  conversationId: string;
  /** Failure tag */
  tag: string;
  /** Target and prompt */
  column: string;
  /** Id of the scenario */
  scenarioId: string;
  /** Null in reports of earlier releases */
  scenarioName: string | null;
  /** Why it failed, as the graders say */
  reason: string;
  /** Opening and last exchanges; cuts are marked */
  messages: ExcerptMessage[];
}

export interface ExcerptMessage {
  /** `user`, `assistant`, `toolCall`, `tool`, or `note` for what is left out */
  role: string;
  /** What was said; cuts are marked */
  content: string;
}

export interface Exchange {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Its place in the branch, from 0 */
  position: number;
  /** Null if it is hidden or deleted */
  user: ChatMessage | null;
  /** Null while there is none, and if it is hidden or deleted */
  answer: ChatMessage | null;
  /** The last turn here */
  turnId: string | null;
}

export interface ExchangeConnection {
  nodes: Exchange[];
  pageInfo: PageInfo;
}

export type ExecutionMode = "concurrent" | "sequential";

/** What an expansion of a sampled run to all scenarios would add. */
export interface ExpansionEstimate {
  /** Number of further probes; more or fewer if personas differ */
  jobCount: number;
  /** Of the models whose price is known */
  usd: EstimateInterval;
}

export type ExpectedDirection = "HIGHER" | "LOWER" | "EQUIVALENT";

export interface Experiment {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Name for people to read */
  name: string;
  /** Current status */
  status: ExperimentStatus;
  /** What the experiment is to show */
  hypothesis: string;
  /** What holds if the hypothesis does not; null if it was not written */
  nullHypothesis: string | null;
  /** What it is, for people to read */
  description: string | null;
  /** How runs are expected to differ from the baseline; null for no expectation */
  direction: ExpectedDirection | null;
  /** Target that the expectation is about; null for all */
  target: string | null;
  /** Null: decisions if there are any, else pass rates */
  metric: Metric | null;
  /** Smaller differences do not matter */
  minimumEffect: number | null;
  /** Significance level */
  alpha: number;
  /** What is varied on purpose; null for none */
  independentVariable: string | null;
  /** What is meant to stay equal */
  controlledVariables: string[];
  /** Run that the others are compared with; null for none */
  baselineRunId: string | null;
  /** Tags, for filters */
  tags: string[];
  /** What a person concluded; null while it is open */
  conclusion: Conclusion | null;
  /** Why it was concluded so */
  note: string | null;
  /** When it was created */
  createdAt: string;
  /** When it last changed */
  updatedAt: string;
  baselineRun: Run | null;
  /** Oldest first */
  runs: Run[];
  /** The runs compared with the baseline, and what the comparisons suggest */
  summary: ExperimentSummary;
  comparisons: RunComparison[];
}

/** A target of a run, compared with the baseline. */
export interface ExperimentRow {
  /** Id of the run */
  runId: string;
  /** The comparison with the baseline */
  comparisonId: string;
  /** Id of the target */
  target: string;
  /** Name under which the result is counted; null for none */
  metric: Metric;
  /** Scenarios with results on both sides; each counts once */
  scenarios: number;
  /** Mean of the baseline's scenarios, each once */
  baselineMean: number | null;
  /** Mean of the comparison side's scenarios, each once */
  comparisonMean: number | null;
  /** Run minus baseline */
  difference: number | null;
  /** Confidence interval of the difference, 1 - alpha */
  interval: number[] | null;
  /** Adjusted over all rows of the experiment by Holm's method */
  adjustedP: number | null;
  /** The judge's verdict on the criteria; null if there is none */
  verdict: ComparisonVerdict;
}

export interface ExperimentRun {
  /** Id of the run */
  runId: string;
  /** Name for people to read */
  name: string | null;
  /** Name of its definition when it started */
  definitionName: string | null;
  /** Current status */
  status: RunStatus;
  /** When it was created */
  createdAt: string;
  /** Null until it has ended, or if a price is unknown */
  costUsd: number | null;
}

export type ExperimentStatus = "PLANNED" | "RUNNING" | "CONCLUDED";

export interface ExperimentSummary {
  /** What its author declared and concluded */
  experiment: Experiment;
  /** The runs, oldest first */
  runs: ExperimentRun[];
  /** A row per run and target, except for the baseline; at most 5,000, of the newest runs */
  rows: ExperimentRow[];
  /** How many rows there are; p is adjusted over all of them */
  rowCount: number;
  /** Runs that go on, or are not compared yet */
  pendingRunIds: string[];
  /** Why these runs are not compared, or not yet */
  reasons: PendingRun[];
  /** Aspects that differ between the baseline and a run */
  varied: string[];
  /** What the expectation says of the rows; a person concludes */
  suggestedConclusion: Conclusion | null;
}

/** An evaluator of your own, called with each transcript; see docs/assertions.md. */
export interface ExternalEvaluatorInput {
  /** An absolute http(s) URL, called as it is */
  url: string;
}

/** What a run of all scenarios would show. */
export interface Extrapolation {
  /** As over the scenarios of the sample */
  value: number;
  /** Of what the other scenarios add */
  standardError: number;
  /** 95% interval; see docs/statistics.md */
  interval95: number[] | null;
}

export interface FailedCall {
  /** Attempts of the call that have failed so far, over all workers */
  attempts: number;
  /** Kind of error; see docs/architecture.md */
  code: ProbeErrorCode;
  /** Of the last of them */
  message: string;
}

export interface FailedCell {
  /** Conversations that passed */
  passed: number;
  /** Conversations that passed or failed */
  judged: number;
}

/** A question, what was expected, and what was answered instead. */
export interface FailedReply {
  /** Id of the transcript, and of its probe */
  conversationId: string;
  /** Name of the scenario */
  scenarioName: string;
  /** Null without a persona */
  personaName: string | null;
  /** Target and prompt, for people */
  column: string;
  /** The last message of the user; cuts are marked */
  question: string;
  /** What its assertions compare with; null if they compare with nothing */
  expected: string | null;
  /** The last answer; cuts are marked */
  answer: string;
  /** Why it failed, as the graders say */
  reason: string;
}

/** A scenario that a target has failed, with the results of all targets. */
export interface FailedScenario {
  /** Id of the scenario */
  scenarioId: string;
  /** Name of the scenario */
  scenarioName: string;
  /** In the order of `columns` */
  cells: FailedCell[];
}

/** Where a turn failed. */
export type FailedType = "before_barrier" | "main_llm" | "after_main_llm";

export interface Failure {
  /** The phase that failed */
  where: string;
  /** What happened */
  why: string;
}

export type FailureCriteriaMode = "on_max_messages" | "every_turn";

/** A failure tag. */
export interface FailureMode {
  /** Failure tag */
  tag: string;
  /** Conversations with this tag */
  count: number;
  /** Of the completed conversations */
  share: number;
  /** Up to five: the lowest scores, spread over scenarios and targets */
  sampleConversationIds: string[];
}

/** Whose formula the tokens of images and PDFs come from. The values are the same in the API. */
export type FileBasis = "openai_tiles" | "openai_patches" | "anthropic" | "gemini_2" | "gemini_3" | "assumed";

/** Something that the summarizer found, with true quotations. */
export interface Finding {
  /** In a few words */
  title: string;
  /** In the summarizer's words */
  description: string;
  /** Failure tags that it explains, as the summarizer says */
  tags: string[];
  /** At least one */
  evidence: Evidence[];
}

export type FormatType = "text" | "json" | "json_schema";

/** What is used of a generation's own budget, as its worker has last reported: at most a minute ago. */
export interface GenerationBudget {
  /** What it may spend, in USD */
  maxBudgetUsd: number;
  /** Calls whose cost is known */
  spentUsd: number;
  /** Calls that may have been billed: without an answer, or of a worker that died */
  uncertainUsd: number;
  /** Set aside for calls in flight and for the next ones */
  reservedUsd: number;
}

export type GenerationMode = "matrix" | "llm";

export interface GenerationProgress {
  /** Texts to write */
  total: number;
  /** Texts that are written */
  completed: number;
}

export type GenerationStatus = "QUEUED" | "RUNNING" | "COMPLETED" | "ERROR";

/** Two graders of the same conversations: the run's own scoring, a rescore, or corrections by users. */
export interface GraderAgreement {
  /** `run`, or the id of a rescore */
  first: string;
  /** `corrections`, or the id of a rescore */
  second: string;
  /** Judged by both */
  conversations: number;
  /** Of these conversations by the first */
  firstPassRate: number | null;
  /** Of these conversations by the second */
  secondPassRate: number | null;
  /** Share of equal verdicts */
  agreement: number | null;
  /** Cohen's */
  kappa: number | null;
  /** 95% interval, by a bootstrap */
  kappaInterval95: number[] | null;
  /** Krippendorff's, nominal */
  alpha: number | null;
  /** What limits these figures */
  note: string | null;
}

/** The calls of a model that grades, simulates users or summarizes. */
export interface GraderEstimate {
  /** Model as `provider/name` */
  model: string;
  /** Number of calls */
  calls: EstimateInterval;
  /** Tokens of prompts */
  inputTokens: EstimateInterval;
  /** Tokens of answers */
  outputTokens: EstimateInterval;
  /** Null if the price of the model is unknown */
  usd: EstimateInterval | null;
  /** What the model is called for */
  role: ModelRole;
}

/** Estimates over some of a run's probes. */
export interface GroupEstimate {
  /** With a transcript */
  completed: number;
  /** Without one, because of an infrastructure failure */
  errored: number;
  /** Mean of the decisions */
  decision: MeanEstimate;
  /** Shares of the decisions, `other` last; empty if the definition has no decision rule */
  distribution: CodeShare[];
  /** Passed ones among the judged */
  passRate: ShareEstimate;
  /** Between which the pass rate is if errors are no chance; null without errors */
  passRateBounds: RateBounds | null;
  /** Those without a readable decision among the answers to which the decision rule was applied */
  otherRate: ShareEstimate;
}

/** From a sample to all scenarios of the definition. */
export interface GroupExtrapolation {
  /** Mean of the decisions; null without an error */
  decision: Extrapolation | null;
  /** Passed ones among the judged; null without an error */
  passRate: Extrapolation | null;
}

/** Where an operation runs. */
export type Hook = "before_main_llm" | "after_main_llm";

/** Where the value of an artifact stands in the prompt. */
export interface InclusionInput {
  /** Where the value stands in the prompt */
  at: PromptPlace;
  /** With `at: depth`: 0 is the end; -N is before the last N messages */
  depthFromEnd?: number | null;
  /** Of the message that is added, by default `system`; `developer` is sent as `system` */
  role?: PromptRole | null;
  /** Renders `value`; the value as text if omitted */
  template?: string | null;
}

/** A finding in words; rules make it from the figures, no model is asked. */
export interface Insight {
  /** Kind of finding, such as `outlier` */
  kind: string;
  /** In words */
  text: string;
  /** The figures that it rests on */
  facts: unknown;
}

/** A queued computation. */
export interface Job {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** What kind of computation it is */
  kind: JobKind;
  /** Current status */
  status: JobStatus;
  /** What it is doing; null before it starts */
  stage: string | null;
  /** How much is done */
  progress: JobProgress;
  /** What it computes: the comparison or the analysis */
  resultId: string;
  /** The runs that it reads */
  runIds: string[];
  /** Why it failed; null if it did not */
  failure: Failure | null;
  /** When it was created */
  createdAt: string;
  /** When it started; null until then */
  startedAt: string | null;
  /** When it last changed */
  updatedAt: string;
  /** When it ended; null until then */
  completedAt: string | null;
}

export type JobKind = "comparison" | "deep_analysis" | "report";

export interface JobProgress {
  /** Stages that are done */
  done: number;
  /** Stages of the job; 0 before it starts */
  total: number;
}

export type JobStatus = "QUEUED" | "RUNNING" | "COMPLETED" | "FAILED";

export interface LeaveOneOut {
  /** Position in `columns` */
  column: number;
  /** Of the other targets; null for fewer than three targets */
  alpha: number | null;
  /** By how much it exceeds the alpha of all */
  gain: number | null;
  /** 95% interval of the gain; null if fewer than 5 scenarios are decided by two targets */
  gainInterval95: number[] | null;
}

/** Whether the scenarios' means differ between levels. */
export interface LevelEffect {
  /** Share of the variance of scenarios that levels explain */
  etaSquared: number | null;
  /** Kruskal and Wallis's H */
  statistic: number | null;
  /** Of no difference */
  p: number | null;
  /** p after Holm's adjustment for all such tests of the analysis */
  adjustedP: number | null;
}

/** Which of a level's phrases is used in the text. */
export type LevelOptionChoice = "first" | "random";

/** How the loadings go with the scores of a dimension: it names the component. */
export interface LoadingCorrelation {
  /** Name of the dimension */
  dimension: string;
  /** Pearson's; null if loadings or scores do not vary */
  correlation: number | null;
}

export type MatchedBy = "SCENARIO_ID" | "DIMENSIONS";

/** The mean of the decisions from 1 to 5; every scenario counts once. */
export interface MeanEstimate {
  /** Answers with a decision from 1 to 5 */
  answers: number;
  /** Scenarios with such an answer */
  scenarios: number;
  /** Null without an answer */
  mean: number | null;
  /** Standard deviation of the answers */
  sd: number | null;
  /** Of the answers */
  median: number | null;
  /** Of the mean, clustered by scenario */
  standardError: number | null;
  /** 95% interval; see docs/statistics.md */
  interval95: number[] | null;
}

export interface Message {
  /** Who says it */
  role: MessageRole;
  /** A text, or parts with images or files */
  content: unknown;
  /** Functions that the assistant called; absent if none */
  toolCalls: ToolCall[] | null;
  /** Of a tool's result: the call that it answers; otherwise absent */
  toolCallId: string | null;
  /** True of a tool's result that says why the call failed, else absent */
  isError: boolean | null;
  /** What the assistant wrote to itself: neither graded nor sent back; absent if nothing */
  reasoning: string | null;
  /** Of a reply of the target; absent if an earlier release stored it */
  reply: Reply | null;
}

/** An assistant's message has a content, tool calls, or both; each call is answered by a tool's message. */
export interface MessageInput {
  /** Who says it */
  role: MessageRole;
  /** Text of the message; of a user's, also a list of parts with images and files */
  content?: unknown | null;
  /** Functions that the assistant called */
  toolCalls?: ToolCallInput[] | null;
  /** Of a tool's message: the call that it answers */
  toolCallId?: string | null;
  /** Of a tool's message: whether it says why the call failed */
  isError?: boolean | null;
}

export type MessageRole = "system" | "user" | "assistant" | "tool";

export type Metric = "DECISION" | "PASS_RATE" | "PASS_RATE_ERRORS_FAIL" | "OTHER_RATE";

/** A provider that the workspace cannot call yet. */
export interface MissingAccess {
  /** Name of the provider */
  provider: string;
  /** What is missing, such as an API key, and how it is set */
  message: string;
}

/** A model of the price list. Prices are in US dollars per million tokens; null if unknown. */
export interface Model {
  /** Model id as `provider/name`, as used in runs */
  id: string;
  /** Name for people to read */
  name: string;
  /** Name of the provider */
  provider: string;
  /** Simulated by Cupel; calls cost nothing */
  simulated: boolean;
  /** Whether it is in use */
  enabled: boolean;
  /** Whether an API key is stored */
  hasKey: boolean;
  /** Whether its provider is usable */
  usable: boolean;
  /** Price of a million input tokens in USD; null if unknown */
  inputUsdPerMillion: number | null;
  /** Price of a million output tokens in USD; null if unknown */
  outputUsdPerMillion: number | null;
  /** Maximum tokens of a request; null if unknown */
  contextLength: number | null;
  /** Maximum tokens of an answer; null if unknown */
  maxOutputTokens: number | null;
  /** Of `text`, `image`, `audio`, `video` and `pdf`; null if unknown */
  inputModalities: string[] | null;
  /** Those of `tools`, `toolChoice`, `responseFormat` and `reasoningEffort` that it accepts; null if unknown */
  supportedParameters: string[] | null;
}

/** Omitted parameters keep their default, null restores the provider's own. */
export interface ModelParametersInput {
  /** Sampling temperature; null for the provider's default */
  temperature?: number | null;
  /** Probability mass of the likeliest tokens that are sampled from */
  topP?: number | null;
  /** Number of the likeliest tokens that are sampled from */
  topK?: number | null;
  /** Limit of the tokens of one answer */
  maxOutputTokens?: number | null;
  /** Texts at which the answer ends */
  stop?: string[] | null;
  /** Seed of the selection of combinations */
  seed?: number | null;
  /** From -2 to 2; positive values discourage repetition */
  frequencyPenalty?: number | null;
  /** From -2 to 2; positive values encourage new topics */
  presencePenalty?: number | null;
  /** How much a reasoning model thinks before it answers */
  reasoningEffort?: ReasoningEffort | null;
  /** Whether the answer is text, any JSON object, or one of a schema */
  responseFormat?: ResponseFormatInput | null;
  /** Functions that the model may call */
  tools?: ToolInput[] | null;
  /** Whether the model may or must call a function, or which one */
  toolChoice?: unknown | null;
  /** How often, in one answer, calls of tools are executed and the model goes on; 10 by default, with 0 its first calls are the answer */
  maxToolRounds?: number | null;
  /** Connector of type `tools` that executes the calls which no script answers */
  toolConnectorId?: string | null;
  /** Whether reasoning that the model writes into its text, such as `<think>…</think>`, stays part of the answer; otherwise it is stored beside the answer and not graded */
  keepReasoning?: boolean | null;
  /** Further fields of the request's body, such as `chat_template_kwargs`; only for models of `custom` and `custom-<name>` */
  extraBody?: unknown | null;
}

/** What a model is called for. The values are the same in stored items and the API. */
export type ModelRole = "target" | "judge" | "persona" | "summary" | "report" | "operation";

/** What the probes of a target and prompt have cost, including the calls of judges and simulated users for them. */
export interface ModelSpend {
  /** Model as `provider/name` */
  model: string;
  /** The target's label, or its model if it has none */
  targetId: string;
  /** The definition's prompt; null if the definition has none */
  promptId: string | null;
  /** In US dollars; null for a model without a known price */
  costUsd: number | null;
  /** The part of it whose price is known, in USD */
  pricedUsd: number;
}

export interface Mutation {
  createDefinition: Definition | null;
  /** `changes` has the fields of the content that differ from the parent's */
  forkDefinition: Definition | null;
  /** New content makes a new version */
  updateDefinition: Definition | null;
  /** Hides it; its runs and forks are kept */
  deleteDefinition: boolean | null;
  createScenarios: ScenariosCreated | null;
  /** Makes a new version; earlier ones keep the scenario as it was */
  updateScenario: ScenarioDetail | null;
  /** Makes a new version without it */
  deleteScenario: boolean | null;
  generateScenarios: ScenarioGeneration | null;
  /** Requests repeated with the same `idempotencyKey` start one run */
  startRun: RunStarted | null;
  rerunRun: RunStarted | null;
  /** Starts a batch: a run without a definition of its own, such as a single try of a prompt */
  startScaleRun: RunStarted | null;
  /** Changes its name, tags and metadata */
  updateRun: Run | null;
  /** This and the next three take either `id` or `runId` */
  pauseRun: Run | null;
  resumeRun: Run | null;
  cancelRun: Run | null;
  deleteRun: boolean | null;
  /** Retries errored probes: all, those of one model, or one */
  retryRun: Run | null;
  expandRun: Run | null;
  setRunBudget: RunBudget | null;
  /** Returns the analysis, or the job that computes it (`jobId`) */
  analyzeRun: AnalysisSummary | null;
  /** The run's judge writes the summary, unless `summarizerModel` names another model, or is null for no summary */
  createReport: Report | null;
  /** Runs the original prompt and the one that the report suggests, and compares them */
  createTrial: Trial | null;
  /** Replaces the result of a probe; null restores that of its graders */
  correctProbe: ProbeDetail | null;
  /** Erases the conversation of a probe; its figures are kept */
  deleteProbeContent: boolean | null;
  /** Returns the comparison if it exists, otherwise queues it. Given the same run twice, compares its targets */
  compareRuns: RunComparison | null;
  deleteComparison: boolean | null;
  createExperiment: Experiment | null;
  /** Also concludes it */
  updateExperiment: Experiment | null;
  /** Its runs are kept */
  deleteExperiment: boolean | null;
  addRunToExperiment: Experiment | null;
  removeRunFromExperiment: Experiment | null;
  createChat: Chat | null;
  updateChat: Chat | null;
  deleteChat: boolean | null;
  /** Poll `turn(chatId, id)` until it is `done`. Requests repeated with the same `clientRequestId` start one turn */
  startTurn: Turn | null;
  abortTurn: Turn | null;
  createBranch: Branch | null;
  updateBranch: Branch | null;
  deleteBranch: boolean | null;
  /** Discards the artifacts of its operations */
  resetBranchSession: Branch | null;
  /** Adds a variant, selects one, or hides the message */
  updateMessage: ChatMessage | null;
  deleteMessage: boolean | null;
  createProfile: Profile | null;
  /** New operations make a new version */
  updateProfile: Profile | null;
  /** Runs and turns in progress continue with it */
  deleteProfile: boolean | null;
  /** Discards the artifacts of its operations in all chats */
  resetProfileSession: Profile | null;
  createConnector: Connector | null;
  /** Omitted fields keep their values */
  updateConnector: Connector | null;
  deleteConnector: boolean | null;
  /** Sends one message to the agent */
  testConnector: ConnectorTestResult | null;
  /** Grades the transcripts of a run again, without calling its targets */
  createRescore: Rescore | null;
  /** Raises the budget of a rescore; one that was stopped by it continues */
  setRescoreBudget: Rescore | null;
  createEval: Eval | null;
  /** In this and other updates, omitted fields keep their values and null clears them */
  updateEval: Eval | null;
  /** Its runs are kept */
  deleteEval: boolean | null;
  /** Starts a run of an eval */
  startEvalRun: RunStarted | null;
  createPersona: Persona | null;
  updatePersona: Persona | null;
  /** Runs in progress continue with it */
  deletePersona: boolean | null;
  createSchedule: Schedule | null;
  updateSchedule: Schedule | null;
  /** Runs that it started continue */
  deleteSchedule: boolean | null;
  updateSettings: Settings | null;
  /** Of one provider, or of all; calls in flight complete */
  pauseQueue: QueueStatus | null;
  resumeQueue: QueueStatus | null;
  /** Sends dead letters again: all, those of one provider, or those named */
  redriveDeadLetters: RedriveResult | null;
}

/** The analysis in sentences, by rules or a model; each number in them is one of the figures that they cite. */
export interface Narrative {
  /** The main finding */
  headline: string;
  /** One of each topic */
  findings: NarrativeFinding[];
  /** At most five */
  limitations: string[];
  /** At most three */
  nextSteps: string[];
  /** All that is cited */
  facts: NarrativeFact[];
  /** Findings that are not shown; rules wrote those in their place */
  dropped: DroppedFinding[];
  /** Model that was asked to write it; null for rules alone */
  model: string | null;
  /** Of this model */
  calls: number;
  /** Of these calls; null without any, or if a price is unknown */
  costUsd: number | null;
  /** Why the model's sentences are missing; rules wrote all of them */
  error: string | null;
}

/** A figure that the sentences cite. */
export interface NarrativeFact {
  /** Unique in this analysis */
  id: string;
  /** What it is */
  label: string;
  /** The figure */
  value: number;
  /** 95% interval; see docs/statistics.md */
  interval95: number[] | null;
  /** What it is computed from, such as scenarios; null if it says itself */
  n: number | null;
}

/** What the figures say about one topic. */
export interface NarrativeFinding {
  /** What it is about */
  topic: NarrativeTopic;
  /** `information unavailable` if the figures say nothing about it */
  text: string;
  /** Ids of the figures that it rests on */
  facts: string[];
}

export type NarrativeTopic = "differences" | "agreement" | "dimensions" | "interactions" | "outliers" | "dataQuality";

/** Why an operation is not part of a turn. */
export type OmissionReason = "disabled" | "trigger_mismatch";

/** An indicator that could not be used. */
export interface OmittedIndicator {
  /** Which one */
  indicator: OutlierIndicator;
  /** Why */
  reason: string;
}

export interface OmittedOperation {
  /** Id of the operation */
  operationId: string;
  /** Why, in a sentence; null if there is none */
  reason: OmissionReason;
}

/** Of all probes of the compared targets, also of scenarios that only one side has. */
export interface OperatingDifferences {
  /** Of the baseline */
  baseline: SideOperations;
  /** Of the comparison side */
  comparison: SideOperations;
  /** Comparison minus baseline */
  difference: SideOperations;
}

/** What a target's probes took and cost. */
export interface OperatingFigures {
  /** Of the target's calls, without waits */
  durationMs: Quantiles | null;
  /** Calls of the target */
  turns: Quantiles | null;
  /** Of the target's calls */
  inputTokens: Quantiles | null;
  /** Of the target's calls */
  outputTokens: Quantiles | null;
  /** Of all calls; null without calls or if a price is unknown */
  costUsd: number | null;
  /** What the calls cost, by what the models were called for */
  costs: CostByRole[];
  /** Answers by version that the provider named */
  modelVersions: unknown;
  /** What calls that timed out or gave no answer may have cost besides */
  uncertainUsd: number;
}

/** One action before or after the main call: it makes one value, stores it under one tag, and may use it. */
export interface OperationInput {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Name for people to read */
  name: string;
  /** What makes the value: a template, a model, or a guard's questions */
  kind: OperationKind;
  /** Whether it is in use */
  enabled?: boolean | null;
  /** Whether the turn fails unless the operation is done */
  required?: boolean | null;
  /** Whether it runs before or after the main call, or both */
  hooks: Hook[];
  /** Whether it runs for a new message, for another answer to the last one, or both */
  triggers?: Trigger[] | null;
  /** Of operations that do not depend on each other, the lower comes first */
  order: unknown;
  /** Operations that must be done before this one starts */
  dependsOn?: string[] | null;
  /** What guards must have answered for it to run */
  runConditions?: RunConditionInput[] | null;
  /** Those of the operation's kind */
  params: unknown;
  /** How the value is stored */
  artifact: ArtifactInput;
  /** What the value changes */
  effects?: EffectInput[] | null;
  /** What records of turns also have of it */
  debug?: DebugInput | null;
}

export type OperationKind = "template" | "llm" | "guard";

export type OutlierCause = "opinion" | "noise" | "unknown";

/** How a target is found to answer unlike the others. */
export type OutlierIndicator = "distance" | "forest" | "agreement";

export interface OutlierScenarios {
  /** Positions in `columns` of the analysis */
  columns: number[];
  /** The 20 with the highest scores */
  scenarios: OutlyingScenario[];
}

/** Targets that answer unlike the others. */
export interface OutlierTargets {
  /** All that are compared */
  targets: TargetOutlyingness[];
  /** Indicators that could not be used */
  omitted: OmittedIndicator[];
}

/** A scenario that is answered unlike the others. */
export interface OutlyingScenario {
  /** Id of the scenario */
  scenarioId: string;
  /** Its name */
  scenarioName: string;
  /** Of an isolation forest; about 0.5 for usual ones */
  score: number;
  /** Of each target, in the order of `columns` */
  means: number[];
}

/** The difference on exactly these scenarios; it says nothing about others like them. */
export interface OwnDifference {
  /** Mean of the scenarios' differences */
  difference: number;
  /** Confidence interval, 1 - alpha */
  interval: number[] | null;
  /** That of a test stratified by scenario, not adjusted; null without repeats of decisions */
  p: number | null;
}

export interface PageInfo {
  /** Pass it as `after` to get the next page */
  endCursor: string | null;
  hasNextPage: boolean;
}

/** Two targets, over the scenarios that both have decided. */
export interface PairAgreement {
  /** Position in `columns` */
  first: number;
  /** Position in `columns` */
  second: number;
  /** That both have decided */
  scenarios: number;
  /** Quadratic-weighted: do they give the same answers? */
  kappa: number | null;
  /** Rank correlation: do they order the scenarios alike? */
  spearman: number | null;
  /** Of no correlation */
  spearmanP: number | null;
  /** p after Holm's adjustment for all such tests of the analysis */
  adjustedP: number | null;
  /** Share of equal answers */
  equalShare: number | null;
  /** Mean of the second less that of the first */
  difference: number | null;
  /** 95% interval; see docs/statistics.md */
  interval95: number[] | null;
  /** The difference in standard deviations of scenarios */
  effectSize: number | null;
}

export interface PauseCause {
  /** The model that cannot be called */
  model: string;
  /** Why, in the provider's words */
  message: string;
}

export type PauseReason = "user" | "budget" | "provider" | "judge";

export interface PendingRun {
  /** Id of the run */
  runId: string;
  /** Why it is not compared with the baseline, or not yet */
  reason: string;
  /** Whether nothing is known to be in the way of its comparison, but that nobody has requested it */
  canBeRequested: boolean;
  /** Whether this changes by itself: the run or the baseline goes on, or the comparison is queued, about to be, or being computed; false if the runs cannot be compared, or the comparison failed */
  isInProgress: boolean;
}

/** What is used of one limit, as workers have last reported: at most a minute ago. */
export interface PeriodBudget {
  /** The day, such as `2026-11-23`, or the month, such as `2026-11` */
  period: string;
  /** When the next period begins, and paused runs resume */
  endsAt: string;
  /** What may be spent; null for no limit */
  limitUsd: number | null;
  /** Calls whose cost is known; null while the workspace has no limit, because calls are not counted then */
  spentUsd: number | null;
  /** Calls that may have been billed: without an answer, or of a worker that died; null like `spentUsd` */
  uncertainUsd: number | null;
  /** Set aside for calls in flight and for the next ones; null like `spentUsd` */
  reservedUsd: number | null;
  /** What may still be drawn; negative after the limit was lowered, null without a limit */
  availableUsd: number | null;
  /** `spentUsd` by what the models were called for; null like `spentUsd` */
  byRole: RoleSpend[] | null;
}

export interface Persona {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Name for people to read */
  name: string;
  /** Names of the configured headers; their values are never returned */
  headerNames: string[];
  /** When it was created */
  createdAt: string;
  /** When it last changed */
  updatedAt: string;
  /** What it is, for people to read */
  description: string | null;
  /** System prompt of the simulated user */
  systemPrompt: string | null;
  /** Where the headers may be sent */
  connectorUrls: string[];
}

export interface PipelinePlan {
  /** In the order in which their effects apply */
  steps: PlannedStep[];
  /** Operations that do not run, and why */
  omitted: OmittedOperation[];
}

export interface PlannedStep {
  /** Id of the operation */
  operationId: string;
  /** Name for people to read */
  name: string;
  /** What makes the value */
  kind: OperationKind;
  /** Whether it runs before or after the main call */
  hook: Hook;
  /** Whether the turn fails unless the operation is done */
  required: boolean;
  /** Of operations that do not depend on each other, the lower comes first */
  order: number;
  /** Operations that must be done before it starts */
  dependsOn: string[];
  /** Where its value is stored */
  tag: string;
}

/** A direction in which the targets differ. */
export interface PrincipalComponent {
  /** Of the variance between targets */
  explainedShare: number;
  /** Share that shuffled answers exceed in one of 20 cases */
  chanceShare: number;
  /** Whether it and those before it explain more than chance */
  isAboveChance: boolean;
  /** Of each target, in the order of `columns` */
  coordinates: number[];
  /** The 20 largest, by their absolute value */
  loadings: ScenarioLoading[];
  /** What goes with the loadings */
  dimensions: LoadingCorrelation[];
}

/** Where targets lie if each scenario is a dimension of its own, seen from where they differ most. */
export interface PrincipalComponents {
  /** Positions in `columns` of the analysis */
  columns: number[];
  /** That at least 80 % of the targets have decided */
  scenarios: number;
  /** Of the values: estimated, because a target has no answer */
  imputedShare: number;
  /** Leading components that explain more than chance */
  aboveChance: number;
  /** At most 5, the largest first */
  components: PrincipalComponent[];
}

export type Priority = "LOW" | "NORMAL" | "HIGH";

export interface Probe {
  /** The target's label, or its model if it has none */
  targetId: string;
  /** The definition's prompt; null if the definition has none */
  promptId: string | null;
  /** The prompt's name for people; null if it has none */
  promptLabel: string | null;
  /** The target's; of an agent without one, `connector/` and the connector's name */
  label: string | null;
  /** Model as `provider/name`, or `connector/<id>` */
  modelId: string;
  /** Of an agent under test; null for a model */
  connectorId: string | null;
  /** Id of the scenario */
  scenarioId: string;
  /** Null only if the run's snapshot is gone */
  scenarioName: string | null;
  /** Id of the persona; null for none */
  personaId: string | null;
  /** Name of the persona when the run started; null for none */
  personaName: string | null;
  /** From 0 */
  repeat: number;
  /** The scenario's `metadata.vars`, used in its assertions */
  variables: unknown;
  /** The scenario's score per dimension */
  dimensions: unknown;
  /** The scenario's metadata, without `vars` */
  metadata: unknown;
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Id of the run */
  runId: string;
  /** Position in the run, from 0; it never changes */
  index: number;
  /** Current status */
  status: ProbeStatus;
  /** Id under which the agent knows the conversation; changes on retry */
  threadId: string;
  /** When its run was created */
  createdAt: string;
  /** When its conversation started; of a running probe without a checkpoint, when a worker took it, which may be a little earlier; null before that, or if not known */
  startedAt: string | null;
  /** When it completed or ended in an error */
  completedAt: string | null;
  /** The latest of these times */
  updatedAt: string;
  /** Time spent in calls of the target */
  latencyMs: number | null;
  /** Whether it passed, with score and reason; null if nothing was judged */
  result: ProbeResult | null;
  /** Why it failed; null if it did not */
  error: ProbeError | null;
  /** Errors of earlier attempts, before retries, oldest first */
  attempts: ProbeError[];
  /** As it was when the run started */
  scenario: Scenario | null;
  /** Null unless it is completed */
  transcript: Transcript | null;
}

export interface ProbeConnection {
  nodes: Probe[];
  pageInfo: PageInfo;
}

export interface ProbeDetail {
  /** The target's label, or its model if it has none */
  targetId: string;
  /** The definition's prompt; null if the definition has none */
  promptId: string | null;
  /** The prompt's name for people; null if it has none */
  promptLabel: string | null;
  /** The target's; of an agent without one, `connector/` and the connector's name */
  label: string | null;
  /** Model as `provider/name`, or `connector/<id>` */
  modelId: string;
  /** Of an agent under test; null for a model */
  connectorId: string | null;
  /** Id of the scenario */
  scenarioId: string;
  /** Null only if the run's snapshot is gone */
  scenarioName: string | null;
  /** Id of the persona; null for none */
  personaId: string | null;
  /** Name of the persona when the run started; null for none */
  personaName: string | null;
  /** From 0 */
  repeat: number;
  /** The scenario's `metadata.vars`, used in its assertions */
  variables: unknown;
  /** The scenario's score per dimension */
  dimensions: unknown;
  /** The scenario's metadata, without `vars` */
  metadata: unknown;
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Id of the run */
  runId: string;
  /** Position in the run, from 0; it never changes */
  index: number;
  /** Current status */
  status: ProbeStatus;
  /** Id under which the agent knows the conversation; changes on retry */
  threadId: string;
  /** When its run was created */
  createdAt: string;
  /** When its conversation started; of a running probe without a checkpoint, when a worker took it, which may be a little earlier; null before that, or if not known */
  startedAt: string | null;
  /** When it completed or ended in an error */
  completedAt: string | null;
  /** The latest of these times */
  updatedAt: string;
  /** Time spent in calls of the target */
  latencyMs: number | null;
  /** Whether it passed, with score and reason; null if nothing was judged */
  result: ProbeResult | null;
  /** Why it failed; null if it did not */
  error: ProbeError | null;
  /** Errors of earlier attempts, before retries, oldest first */
  attempts: ProbeError[];
  /** Id of the eval; null for a run that was started without one */
  evalId: string | null;
  /** Sequence number of the eval run within the workspace */
  executionId: number | null;
  /** The definition's system prompt, and what the user and the target said; sent to the target as is, as far as it is known */
  messages: Message[];
  /** System prompt made of the persona and the scenario's `instructions`, by which a model wrote user messages; never sent to the target. Null if no model did, and for transcripts of earlier releases */
  simulatedUserPrompt: string | null;
  /** The last answer that is the JSON object that was requested and satisfies its schema, or what an agent returned besides its message */
  output: unknown | null;
  /** Of a running probe: calls that have no answer yet, and are attempted again */
  repeatedCalls: FailedCall[];
}

/** An infrastructure error; it never counts as the model's failure. */
export interface ProbeError {
  /** Kind of error; see docs/architecture.md */
  code: ProbeErrorCode;
  /** What happened, for people to read */
  message: string;
  /** Number of calls that were tried */
  attempts: number;
  /** Spent on the calls that were answered before the error */
  totalSpend: Spend;
  /** What the calls cost, by what the models were called for */
  costs: CostByRole[];
  /** When it was created */
  createdAt: string;
}

/** Why a probe has no transcript. The values are the same in stored items, metrics, API and UI. */
export type ProbeErrorCode = "rate_limited" | "timeout" | "provider_error" | "auth" | "invalid_request" | "content_filtered" | "network" | "judge_error" | "simulated_user_error" | "tool_error" | "operation_error" | "expression_limit" | "file_not_found" | "budget" | "dead_letter" | "internal";

export interface ProbeResult {
  /** Whether it passed */
  success: boolean;
  /** From 0 to 1 */
  score: number | null;
  /** Why, in a sentence; null if there is none */
  reason: string | null;
}

export interface ProbeResultInput {
  /** Whether it passed */
  success: boolean;
  /** From 0 to 1; null for none */
  score?: number | null;
  /** Why, in a sentence; null if there is none */
  reason?: string | null;
}

export type ProbeStatus = "QUEUED" | "RUNNING" | "COMPLETED" | "ERROR" | "CANCELLED";

export interface Profile {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Name for people to read */
  name: string;
  /** What it is, for people to read */
  description: string | null;
  /** The newest version; in a profile, the one that is shown */
  version: number;
  /** Whether it is in use */
  enabled: boolean;
  /** Of the artifacts that its operations store in chats: with another one, turns have none */
  sessionId: string;
  /** When it was created */
  createdAt: string;
  /** When it last changed */
  updatedAt: string;
  /** Whether operations run one at a time, or up to 8 together */
  executionMode: ExecutionMode;
  /** What runs before and after the main call; see docs/pipeline.md */
  operations: unknown[];
  /** What may be a mistake, but is no error */
  warnings: ProfileIssue[];
}

export interface ProfileCheck {
  /** Empty if the profile can be created */
  errors: ProfileIssue[];
  /** What may be a mistake, but is no error */
  warnings: ProfileIssue[];
  /** What turns would run; null with errors */
  plan: TurnPlans | null;
}

export interface ProfileIssue {
  /** Path of the field, such as `content.template` */
  field: string;
  /** What happened, for people to read */
  message: string;
}

export interface ProfileSummary {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Name for people to read */
  name: string;
  /** What it is, for people to read */
  description: string | null;
  /** The newest version; in a profile, the one that is shown */
  version: number;
  /** Whether it is in use */
  enabled: boolean;
  /** Of the artifacts that its operations store in chats: with another one, turns have none */
  sessionId: string;
  /** When it was created */
  createdAt: string;
  /** When it last changed */
  updatedAt: string;
}

export interface PromptMessage {
  /** `system`, `user` or `assistant` */
  role: string;
  /** The text */
  content: string;
  /** The operation that has added it; null for what was said, and the system prompt */
  operationId: string | null;
}

export type PromptPlace = "system_prepend" | "system_append" | "after_last_user" | "depth";

/** Of a message that an operation adds to the prompt. */
export type PromptRole = "system" | "developer" | "user" | "assistant";

export interface Provider {
  /** Name for people to read */
  name: string;
  /** Name for display */
  title: string;
  /** Address of the agent or of the provider's API */
  baseUrl: string;
  /** Whether it is in use */
  enabled: boolean;
  /** Enabled, with the address and the API key it needs */
  usable: boolean;
  /** Whether the provider requires an API key */
  needsKey: boolean;
  /** Whether an API key is stored */
  hasKey: boolean;
  /** Requests in flight at most, over all runs of the workspace */
  maxParallelRequests: number;
  /** Requests per minute at most; null for no limit */
  requestsPerMinute: number | null;
  /** Tokens per minute at most; null for no limit */
  tokensPerMinute: number | null;
  /** What the workspace pays for models; the price list applies to all others */
  prices: ProviderPrice[];
}

/** What the workspace pays for a model of the provider. */
export interface ProviderPrice {
  /** The provider's name of the model; null for all models without a price of their own */
  model: string | null;
  /** Price of a million input tokens in USD; null if unknown */
  inputUsdPerMillion: number;
  /** Price of a million output tokens in USD; null if unknown */
  outputUsdPerMillion: number;
  /** Of input tokens that the provider's prompt cache had; null for no discount */
  cachedInputUsdPerMillion: number | null;
  /** Of each call beside its tokens */
  usdPerCall: number;
}

/** This workspace's work with one provider. */
export interface ProviderQueue {
  /** Name of the provider */
  provider: string;
  /** Probes without an outcome, in the oldest 50 of the runs that have not ended nor are paused */
  pending: number;
  /** Parallel requests that the workers may make together */
  granted: number;
  /** Messages that failed too often, whose probes are recorded as errored; at most 10,000 */
  deadLetters: number;
  /** Whether this workspace has paused its work with the provider */
  paused: boolean;
  /** Until when the provider refuses calls; null if it does not */
  throttledUntil: string | null;
  /** Maximum parallel requests; null until a worker has reported */
  limit: number | null;
  /** Lower limit that the provider currently sustains, if it is below `limit` */
  learnedLimit: number | null;
  /** Workers that share the provider's limits now */
  workers: number;
  /** Models that are not called for now, because their calls keep failing */
  suspendedModels: SuspendedModel[];
}

/** Over completed probes; within 1 %. */
export interface Quantiles {
  /** Exact */
  mean: number;
  /** Median */
  p50: number;
  /** 95th percentile */
  p95: number;
  /** 99th percentile */
  p99: number;
  /** Largest value; exact */
  max: number;
}

export interface Query {
  /** The caller of the request */
  me: Viewer;
  definition: Definition | null;
  /** Newest first; `includeChildren` includes subfolders, `search` matches part of the name */
  definitions: Definition[];
  definitionsConnection: DefinitionConnection;
  /** Tags of the newest 1,000 definitions; the most frequent first */
  tags: Tag[];
  scenario: ScenarioDetail | null;
  scenarioGeneration: ScenarioGeneration | null;
  /** Scenarios that a generation in mode `matrix` would write; nothing is stored */
  previewScenarios: ScenarioPreview | null;
  run: Run | null;
  /** Newest first */
  runs: Run[];
  runsConnection: RunConnection;
  transcript: Transcript | null;
  /** With its conversation, even while it runs or after an error */
  probe: ProbeDetail | null;
  /** The newest analysis of a run; null while there is none */
  analysis: Analysis | null;
  /** Cost and duration of such a run, and the basis of the estimate; nothing is started */
  estimateRun: Estimate;
  /** Cost of retrying errored probes: all, those of one model, or one */
  estimateRetry: Estimate;
  /** Cost of the probes that an expansion would add */
  estimateExpansion: Estimate;
  estimateScaleRun: Estimate;
  estimateEvalRun: Estimate;
  /** Size and cost of a trial of the prompt that a report suggests */
  estimateTrial: TrialPlan;
  comparison: RunComparison | null;
  /** Newest first; all, or those of a run or an experiment */
  comparisons: RunComparison[];
  /** Figures over up to 20 runs that have ended, with a row per group */
  aggregate: AggregateResult;
  experiment: Experiment | null;
  /** Newest first */
  experiments: Experiment[];
  job: Job | null;
  /** Newest first */
  jobs: Job[];
  /** Use of the workspace's daily and monthly budgets */
  budgets: Budgets;
  profile: Profile | null;
  profiles: ProfileSummary[];
  /** Errors and warnings of a profile, and the order in which its operations would run; nothing is stored */
  checkProfile: ProfileCheck;
  /** An agent under test behind HTTP */
  connector: Connector | null;
  /** Newest first */
  connectors: Connector[];
  providers: Provider[];
  models: Model[];
  queueStatus: QueueStatus;
  /** Messages that were given up after too many failures */
  deadLetters: DeadLetter[];
  chat: Chat | null;
  /** Newest first */
  chats: Chat[];
  turn: Turn | null;
  /** The messages sent to the model; null if it was not called */
  turnPrompt: TurnPrompt | null;
  /** The workspace's defaults: models that judge, simulate users and narrate, and limits of runs */
  settings: Settings;
  eval: Eval | null;
  /** Newest first */
  evals: Eval[];
  persona: Persona | null;
  /** Newest first */
  personas: Persona[];
  schedule: Schedule | null;
  /** Newest first */
  schedules: Schedule[];
  rescore: Rescore | null;
}

export interface QueueStatus {
  /** False if the queue of any provider is paused */
  isRunning: boolean;
  isPaused: boolean;
  pending: number;
  deadLetters: number;
  providers: ProviderQueue[];
}

/** The pass rate if all errored probes had failed, and if all had passed. */
export interface RateBounds {
  /** If all errored probes had failed */
  errorsAsFailures: ShareEstimate;
  /** If all errored probes had passed */
  errorsAsPasses: ShareEstimate;
}

/** How much a reasoning model thinks before it answers. */
export type ReasoningEffort = "none" | "minimal" | "low" | "medium" | "high" | "xhigh";

/** All requested messages have been removed from the dead-letter queue. */
export interface RedriveResult {
  /** Messages sent again because their probes had no outcome */
  sent: number;
  /** Messages discarded because nothing was left to do */
  dropped: number;
  /** Ids of runs with errored probes from these messages; retry them with POST /runs/{id}/retry */
  runsToRetry: string[];
  /** Those of the requested `messageIds` that no dead letter has; they change nothing */
  unknownMessageIds: string[];
}

/** What one dimension does to the answers of a target, all others being equal. */
export interface RegressionSlope {
  /** Name of the dimension */
  dimension: string;
  /** Points, or the share that passes, per unit of the score */
  slope: number;
  /** Per step between neighboring levels */
  perStep: number;
  /** In standard deviations; null for equal answers */
  standardized: number | null;
  /** Of the slope, clustered by scenario */
  standardError: number;
  /** 95% interval; see docs/statistics.md */
  interval95: number[] | null;
  /** Of no slope; null if the answers follow the line exactly */
  p: number | null;
  /** p after Holm's adjustment for all such tests of the analysis */
  adjustedP: number | null;
}

/** What a reply of the target used and took. */
export interface Reply {
  /** Tokens that were used */
  usage: TokenUsage;
  /** Duration in milliseconds */
  durationMs: number;
  /** In US dollars; null for a model without a known price */
  costUsd: number | null;
  /** Null if no judge was asked about the conversation up to here */
  verdict: ReplyVerdict | null;
}

/** A judge's decision on the conversation up to an answer. */
export interface ReplyVerdict {
  /** Whether the success criteria are met */
  successMet: boolean;
  /** Whether the failure criteria are met */
  failureMet: boolean;
  /** From 0 to 1, as the judge states it; null if it does not */
  confidence: number | null;
  /** Why the judge decided so */
  reasoning: string;
}

export interface Report {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Id of the run */
  runId: string;
  /** Writes the summary; null for none */
  summarizerModel: string | null;
  /** Current status */
  status: JobStatus;
  /** Whether the run has other outcomes by now */
  isStale: boolean;
  /** When it was created */
  createdAt: string;
  /** When it ended; null until then */
  completedAt: string | null;
  /** Why it failed; null if it did not */
  failure: Failure | null;
  /** Null until it is completed, and in lists */
  content: ReportContent | null;
  /** Null until it is completed, in lists, and once a conversation of the run was deleted */
  texts: ReportTexts | null;
  /** Of its revised prompt; null if there is none, and in lists */
  trial: Trial | null;
  /** Why the trial that the run asked for did not start; null if it did not ask */
  trialRefusal: string | null;
  /** The conversations it covers, by probe */
  conversations: ReportConversationConnection;
}

export interface ReportBreakdown {
  /** `persona`, a dimension, a field of the scenarios' metadata or a variable */
  by: string;
  /** Numbers by size, then texts */
  groups: ReportGroup[];
}

/** The budget of the run when the report was made. */
export interface ReportBudget {
  /** What the run may spend in all, in USD */
  maxBudgetUsd: number;
  /** Calls whose cost is known */
  spentUsd: number;
  /** Calls that may have been billed: without an answer, or of a worker that died */
  uncertainUsd: number;
}

export interface ReportColumn {
  /** The target's label, or its model if it has none */
  targetId: string;
  /** The definition's prompt; null if the definition has none */
  promptId: string | null;
  /** The prompt's name for people; null if it has none */
  promptLabel: string | null;
  /** The target's; of an agent without one, `connector/` and the connector's name */
  label: string | null;
  /** Model as `provider/name`, or `connector/<id>` */
  modelId: string;
  /** Of an agent under test; null for a model */
  connectorId: string | null;
  /** Of target and prompt, for people */
  name: string;
  /** Of this target and prompt */
  figures: ReportFigures;
}

/** The figures of a report: nothing that was said. */
export interface ReportContent {
  /** The run's own name */
  runName: string | null;
  /** Id of the definition */
  definitionId: string;
  /** As it was at the start */
  definitionName: string | null;
  /** Version of the definition */
  definitionVersion: number;
  /** Status of the run */
  runStatus: RunStatus;
  /** When it started; null until then */
  startedAt: string | null;
  /** When it ended; null until then */
  completedAt: string | null;
  /** Probes of the run */
  probes: number;
  /** Scenarios of the run */
  scenarios: number | null;
  /** Scenarios of the definition's version */
  scenarioTotal: number | null;
  /** Model that judges criteria, as `provider/name`; null for none */
  judgeModel: string | null;
  /** Of a batch: which default evaluators ran, or why not */
  evaluators: unknown;
  /** Of all targets together */
  overall: ReportFigures;
  /** By target, then by prompt */
  columns: ReportColumn[];
  /** Infrastructure errors, the most frequent first */
  errors: ErrorCount[];
  /** Why conversations were not scored, the most frequent first; each counts once */
  unscoredReasons: UnscoredCount[];
  /** Spent, against an estimate */
  cost: ReportCost;
  /** At most 20, the most frequent first */
  topFailureModes: FailureMode[];
  /** Number of different failure tags; 1,000 if there are more */
  failureTags: number;
  /** At most 100, the least passed first */
  judgeStats: CheckStatistics[];
  /** Of the run with rescores and with corrections by users */
  graderAgreement: GraderAgreement[];
  /** The first 1,000 completed ones */
  conversations: ReportConversation[];
  /** At most 100 scenarios that a target has failed, the most failed first */
  failedScenarios: FailedScenario[];
  /** Each pair of targets and prompts, of at most six; empty for one */
  differences: ReportDifference[];
  /** By the first four of what the cases can be grouped by and that have at most 12 values; `getRunBreakdown` has all */
  breakdowns: ReportBreakdown[];
  /** What could not be computed, and why */
  notes: string[];
}

export interface ReportConversation {
  /** Id of the transcript, and of its probe */
  conversationId: string;
  /** Label of the target, or its model */
  targetId: string;
  /** Prompt of the definition; null if it has none */
  promptId: string | null;
  /** Id of the scenario */
  scenarioId: string;
  /** Null in reports of earlier releases */
  scenarioName: string | null;
  /** Null without a persona */
  personaName: string | null;
  /** Null if it was not judged */
  success: boolean | null;
  /** From 0 to 1; null if it was not judged */
  score: number | null;
  /** At most 20 */
  failureTags: string[];
  /** By metric or type; null if it could not be computed */
  assertionResults: unknown;
}

export interface ReportConversationConnection {
  nodes: ReportConversation[];
  pageInfo: PageInfo;
}

/** What the run has cost, against the estimate. */
export interface ReportCost {
  /** Of all calls; null if a price is unknown */
  usd: number | null;
  /** The part of it whose price is known */
  pricedUsd: number;
  /** What an estimate of this run says, at its own prices; null if it cannot be made */
  estimatedUsd: EstimateInterval | null;
  /** Spent less expected */
  differenceUsd: number | null;
  /** Of the expected cost; null if that is 0 */
  differenceShare: number | null;
  /** The price list of the estimate */
  priceList: string;
  /** What was used of the run's budget; null if it has none */
  budget: ReportBudget | null;
  /** Models without a price, whose calls are neither in `pricedUsd` nor limited by a budget */
  unpriced: UnpricedModel[];
}

/** Two targets, paired by scenario; see docs/statistics.md. */
export interface ReportDifference {
  /** Target and prompt, for people */
  first: string;
  /** Target and prompt that the first is compared with */
  second: string;
  /** Name under which the result is counted; null for none */
  metric: Metric;
  /** Scenarios with results of both; each counts once */
  scenarios: number;
  /** First minus second */
  difference: number | null;
  /** 95% interval of the difference */
  interval95: number[] | null;
  /** Adjusted over all pairs of the report by Holm's method */
  adjustedP: number | null;
}

/** Figures of a target and prompt, or of all together. */
export interface ReportFigures {
  /** Conversations with a transcript */
  completed: number;
  /** Infrastructure errors; they never count against the target */
  errored: number;
  /** Completed ones of which a weighted assertion could not be computed */
  unscored: number;
  /** Passed conversations among the judged */
  winRate: ShareEstimate;
  /** Answers of the target per conversation */
  turns: Quantiles | null;
  /** Time in the target's calls per conversation */
  durationMs: Quantiles | null;
  /** Time in the target's calls per answer, on average */
  meanTurnMs: number | null;
  /** Time in the target's calls per answer; null in reports and for runs of earlier releases */
  turnMs: Quantiles | null;
  /** Of the target's calls per conversation */
  inputTokens: Quantiles | null;
  /** Of the target's calls per conversation */
  outputTokens: Quantiles | null;
  /** Input and output together, of the target's calls per conversation; null in reports and for runs of earlier releases */
  tokens: Quantiles | null;
  /** Of all conversations together */
  totalInputTokens: number;
  /** Of all conversations together */
  totalOutputTokens: number;
  /** By what models were called for */
  costs: RoleCost[];
}

/** The cases that have one value in common. */
export interface ReportGroup {
  /** Null of the cases without a value */
  value: string | null;
  /** The scenarios with a case in the group */
  scenarios: number;
  /** By target and prompt, as in `columns` */
  passRates: ShareEstimate[];
}

/** What a model says about sample conversations. `information unavailable` is what they do not show. */
export interface ReportSummary {
  /** The summarizer */
  model: string;
  /** Calls of it, with repairs */
  calls: number;
  /** Of these calls; null if a price is unknown or none was made */
  costUsd: number | null;
  /** Why there is no summary; the figures do not need it */
  error: string | null;
  /** At most 150 words */
  text: string;
  /** At most 7 */
  failureModes: Finding[];
  /** At most 7 */
  hallucinations: Finding[];
  /** At most 7 */
  goalFailures: Finding[];
  /** At most 7 */
  inconsistencies: Finding[];
  /** Quotations that occur in no conversation it was shown */
  droppedQuotes: number;
  /** The system prompt with the changes it suggests */
  revisedPrompt: string;
  /** Why its revised prompt is not offered */
  revisedPromptIssue: string | null;
  /** Why these changes; at most 100 words */
  rationale: string;
  /** Unified diff of the two prompts; at most 20,000 characters */
  diff: string;
  /** What the summarizer has read */
  shownConversationIds: string[];
}

/** What quotes conversations. It is deleted with them. */
export interface ReportTexts {
  /** Null if no model was asked for one */
  summary: ReportSummary | null;
  /** Two of each of the ten most frequent failure modes */
  excerpts: Excerpt[];
  /** Of at most 50 failed conversations */
  failedAnswers: FailedReply[];
}

/** Parts of a request that may have to be left out; the values are the same in stored items and the API. */
export type RequestParameter = "temperature" | "topP" | "topK" | "maxOutputTokens" | "stop" | "seed" | "frequencyPenalty" | "presencePenalty" | "reasoningEffort" | "tools" | "toolChoice" | "extraBody" | "systemRole" | "jsonSchema" | "personaHeaders";

/** The rerun has the definition's version, scenarios, personas and configuration of the run as they were. Given fields replace the run's; in `config`, omitted fields keep the run's value and null removes one. */
export interface RerunRunInput {
  /** What the run may spend, in USD; it is paused when this is used up. No limit by default */
  maxBudgetUsd?: number | null;
  /** Whether a run with a budget may call models whose price is unknown; they cost nothing */
  allowUnpriced?: boolean | null;
  /** The expected cost that you have agreed to. Required if the estimate exceeds `maxBudgetUsd`; the start is refused if the estimate then valid is higher */
  confirmedUsd?: number | null;
  /** Need not be unique */
  name?: string | null;
  /** Words to find runs by, without an order */
  tags?: string[] | null;
  /** Your own data about the run, such as a commit */
  metadata?: unknown | null;
  /** Models as `provider/name` */
  models?: string[] | null;
  /** What the probes talk to; see docs/targets.md */
  targets?: TargetInput[] | null;
  /** Which queue its probes wait in */
  priority?: Priority | null;
  /** How often each case is run */
  repeats?: number | null;
  /** The experiment that groups this run with others */
  experimentId?: string | null;
  /** What was changed or skipped */
  report?: boolean | null;
  /** Settings; what is omitted is inherited */
  config?: RunConfigInput | null;
}

export interface Rescore {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Id of the run */
  runId: string;
  /** Current status */
  status: RescoreStatus;
  /** What the transcripts are graded by */
  config: RescoreConfig;
  /** How much is done */
  progress: RescoreProgress;
  /** When it was created */
  createdAt: string;
  /** When it ended; null until then */
  completedAt: string | null;
  /** Why it failed; null if it did not */
  failure: Failure | null;
  /** Null without a budget of its own: that of the run pays */
  budget: RescoreBudget | null;
  /** By probe; those stored so far */
  results: RescoreResultConnection;
}

/** What is used of a rescore's own budget, as its workers have last reported: at most a minute ago. */
export interface RescoreBudget {
  /** What it may spend, in USD */
  maxBudgetUsd: number;
  /** Calls whose cost is known */
  spentUsd: number;
  /** Calls that may have been billed: without an answer, or of a worker that died */
  uncertainUsd: number;
  /** Set aside for calls in flight and for the next ones */
  reservedUsd: number;
}

/** Null fields keep the run's configuration. */
export interface RescoreConfig {
  /** Checks of the answer; see docs/assertions.md */
  assertions: unknown[] | null;
  /** Model that judges criteria, as `provider/name`; null for none */
  judgeModel: string | null;
  /** Model that compares texts by meaning, as `provider/name`; null for none */
  embeddingModel: string | null;
  /** Address of the external evaluator; null for none */
  evaluatorUrl: string | null;
  /** What the judge judges by */
  criteria: unknown | null;
}

/** Numbers of transcripts. */
export interface RescoreProgress {
  /** Transcripts to grade */
  total: number;
  /** Transcripts that were scored */
  completed: number;
  /** Transcripts with a weighted result that could not be computed */
  failed: number;
}

export interface RescoreResult {
  /** The target's label, or its model if it has none */
  targetId: string;
  /** The definition's prompt; null if the definition has none */
  promptId: string | null;
  /** The prompt's name for people; null if it has none */
  promptLabel: string | null;
  /** The target's; of an agent without one, `connector/` and the connector's name */
  label: string | null;
  /** Model as `provider/name`, or `connector/<id>` */
  modelId: string;
  /** Of an agent under test; null for a model */
  connectorId: string | null;
  /** Index of the probe in its run, from 0; never changes */
  probeIndex: number;
  /** Id of the scenario */
  scenarioId: string;
  /** Null only if the run's snapshot is gone */
  scenarioName: string | null;
  /** Id of the persona; null for none */
  personaId: string | null;
  /** Null if nothing was graded or grading failed */
  success: boolean | null;
  /** From 0 to 1 */
  score: number | null;
  /** Null once the probe's content has been deleted */
  scoring: Scoring | null;
  /** The judge's verdict on the criteria; null if there is none */
  verdict: Verdict | null;
  /** Spent on judging */
  judgeSpend: Spend;
}

export interface RescoreResultConnection {
  nodes: RescoreResult[];
  pageInfo: PageInfo;
}

export type RescoreStatus = "PENDING" | "RUNNING" | "COMPLETED" | "FAILED";

/** `json` asks for any JSON object, `json_schema` for one that satisfies `schema`. Enforced by the provider where it can, else by instruction. */
export interface ResponseFormatInput {
  /** `text`, `json` or `json_schema` */
  type: FormatType;
  /** Required for `json_schema` */
  schema?: unknown | null;
  /** A name for the schema, which some providers show */
  name?: string | null;
}

/** How much of the history of a persisted artifact stays; its newest value always does. */
export interface RetentionInput {
  /** How many values stay */
  maxVersions?: number | null;
  /** For how many days an earlier value is part of the history; for ever if omitted */
  maxAgeDays?: number | null;
}

/** Calls of one kind. */
export interface RoleCost {
  /** What models were called for */
  role: string;
  /** Number of calls */
  calls: number;
  /** Null if a price is unknown */
  usd: number | null;
  /** The part of it whose price is known */
  pricedUsd: number;
  /** Of all calls; null in reports of earlier releases */
  inputTokens: number | null;
  /** Of all calls; null in reports of earlier releases */
  outputTokens: number | null;
}

export interface RoleSpend {
  /** What the models were called for */
  role: ModelRole;
  /** In US dollars */
  usd: number;
}

export interface Run {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Given by a person; see `definitionName` otherwise */
  name: string | null;
  /** Tags, for filters */
  tags: string[];
  /** Any JSON object of your own */
  metadata: unknown;
  /** Id of the definition */
  definitionId: string;
  /** As it was at the start; null for runs of earlier releases */
  definitionName: string | null;
  /** Version of the definition */
  definitionVersion: number;
  /** Number of scenarios of the run */
  scenarioCount: number | null;
  /** Number of scenarios of the definition's version */
  scenarioTotal: number | null;
  /** Token, user or schedule that started it */
  startedBy: StartedBy | null;
  /** The run that it repeats */
  rerunOf: string | null;
  /** Id that groups runs; null for none */
  experimentId: string | null;
  /** The schedule that started it */
  scheduleId: string | null;
  /** The eval that it is a run of */
  evalId: string | null;
  /** Sequence number of the eval run within the workspace */
  executionId: number | null;
  /** Whether it is a playground run */
  playground: boolean;
  /** Whether it was started as a batch */
  scale: boolean;
  /** Whether that report's revised prompt is tried, for at most the run's cost and two further calls */
  trial: boolean;
  /** Current status */
  status: RunStatus;
  /** Who or what paused the run */
  pauseReason: PauseReason | null;
  /** What must be repaired if Cupel paused the run; it then resumes by itself, unless a user has paused it since */
  pauseCause: PauseCause | null;
  /** Which budget is used up, if that paused the run: its own, or the workspace's for a period */
  exhaustedBudget: BudgetScope | null;
  /** Which queue its probes wait in */
  priority: Priority;
  /** The settings that the run was started with */
  config: unknown;
  /** How much is done */
  progress: RunProgress;
  /** What the calls cost */
  spend: RunSpend;
  /** When it was created */
  createdAt: string;
  /** When it started; null until then */
  startedAt: string | null;
  /** When it ended; null until then */
  completedAt: string | null;
  /** From the start of the first probe to the end of the run; null until then */
  durationMs: number | null;
  /** When its status, progress or labels last changed */
  updatedAt: string;
  /** When it was last read; null if never */
  lastAccessedAt: string | null;
  /** Why it failed; null if it did not */
  failure: Failure | null;
  /** Models that are temporarily not called, because their calls kept failing; empty in lists */
  suspendedModels: SuspendedModel[];
  /** Its current state; `config` has what the run was started with */
  definition: Definition | null;
  models: string[];
  targets: Target[];
  /** Null for a run without a budget */
  budget: RunBudget | null;
  /** Progress, rate and delays of each target */
  targetProgress: DetailedProgress;
  /** The most recently ended probes, latest first */
  recentTasks: Task[];
  probes: ProbeConnection;
  /** Without a `limit`, 100 of one run, and 20 of each run of a list; `extensions.truncated` names lists with more */
  transcripts: Transcript[];
  transcriptsConnection: TranscriptConnection;
  /** The newest analysis; null while there is none */
  analysis: Analysis | null;
  /** The newest deep analysis; null while there is none */
  deepAnalysis: DeepAnalysis | null;
  analysisHistory: AnalysisSummary[];
  /** In order; continue with the `seq` of the last one */
  events: RunEvent[];
  costUsd: number | null;
  /** The scenarios of the run, as they were when it started */
  selectedScenarios: ScenarioConnection;
  /** Results of each target, by scenario and persona */
  cases: CaseResultsConnection;
  experiment: Experiment | null;
  /** The eval that it is a run of */
  eval: Eval | null;
  /** Newest first */
  rescores: Rescore[];
  /** Those that include this run, newest first */
  comparisons: RunComparison[];
  /** The newest report; null while there is none */
  report: Report | null;
  /** Newest first */
  reports: Report[];
}

export interface RunBudget {
  /** Id of the run */
  runId: string;
  /** Current status */
  status: RunStatus;
  /** Who or what paused the run */
  pauseReason: PauseReason | null;
  /** What the run may spend in all, in USD */
  maxBudgetUsd: number;
  /** Set aside for summaries, selections and the report: probes may not use it */
  finishUsd: number;
  /** Calls whose cost is known */
  spentUsd: number;
  /** Calls that may have been billed: without an answer, or of a worker that died */
  uncertainUsd: number;
  /** Set aside for calls in flight and for the next ones */
  reservedUsd: number;
  /** What probes may still draw; negative after the limit was lowered below what is used */
  availableUsd: number;
  /** `spentUsd` by what the models were called for */
  byRole: RoleSpend[];
  /** Of the workers at work */
  leases: BudgetLease[];
  /** By what the budget may be exceeded: nothing, calls in flight, or unpriced calls; as at the start. Null for runs of earlier releases */
  guarantee: BudgetGuarantee | null;
  /** Targets without `maxOutputTokens`, whose calls in flight may cost more than was set aside */
  unlimitedTargets: string[];
  /** Why the run cannot continue; null while it can */
  shortage: string | null;
  /** What the run was expected to cost when it started, in USD, without later retries and expansions; null if a price was unknown, and for runs of earlier releases */
  estimatedUsd: EstimateInterval | null;
}

export interface RunChange {
  /** What differs: a stable name, such as `prompt` or `params` */
  aspect: string;
  /** The difference in a sentence */
  summary: string;
  /** Value of the baseline, if it has one */
  baseline: unknown;
  /** Value of the comparison side, if it has one */
  comparison: unknown;
  /** Whether it can explain a difference of the figures */
  isCause: boolean;
}

export interface RunComparison {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Current status */
  status: JobStatus;
  /** What it is compared with */
  baseline: ComparisonSide;
  /** What is compared with the baseline */
  comparison: ComparisonSide;
  /** Id that groups runs; null for none */
  experimentId: string | null;
  /** Of all pairs together; null until it is completed */
  verdict: ComparisonVerdict | null;
  /** The verdict in words */
  sentence: string | null;
  /** Why it failed; null if it did not */
  failure: Failure | null;
  /** When it was created */
  createdAt: string;
  /** When it ended; null until then */
  completedAt: string | null;
  /** The job that computes it */
  jobId: string;
  /** Whether a run has other results by now; comparing again gives another comparison */
  isStale: boolean;
  /** Null until it is completed */
  figures: ComparisonFigures | null;
  baselineRun: Run | null;
  comparisonRun: Run | null;
  /** By target: comparison minus baseline; null until it is computed */
  deltaByModel: unknown | null;
  /** By target: the test, its p-value and the verdict */
  statisticalSignificance: unknown | null;
  /** Of all pairs of targets together, or of the one at this position in `figures.rows` */
  mostChangedScenarios: ScenarioDelta[];
  whatChanged: WhatChanged | null;
}

/** What an output of a guard must be; an operation runs if all of its conditions hold. */
export interface RunConditionInput {
  /** A guard, which must also be in `dependsOn` */
  operationId: string;
  /** The key of one of the guard's outputs */
  output: string;
  /** What the output must be */
  operator: ConditionOperator;
}

/** Grading models and the evaluator override those of the eval, which override the workspace's settings; null means that this run has none. */
export interface RunConfigInput {
  /** An operation profile; see docs/pipeline.md */
  profileId?: string | null;
  /** Version of the profile; defaults to the newest */
  profileVersion?: number | null;
  /** Short for `params.temperature` */
  temperature?: number | null;
  /** Parameters of every target that knows them */
  params?: ModelParametersInput | null;
  /** Attempts of one call to a target, with the first; null for the default */
  maxAttempts?: number | null;
  /** Longest wait before the second attempt of a call; null for the default */
  retryDelaySeconds?: number | null;
  /** Timeout of one call to a target; null for the default */
  callTimeoutSeconds?: number | null;
  /** Turns of a conversation at most */
  maxTurns?: number | null;
  /** Conversations in progress at the same time, of all targets together; null for no limit of the run's own */
  maxConcurrency?: number | null;
  /** Shortest and longest gap between two starts of one worker, in milliseconds; null for none */
  staggerMs?: unknown[] | null;
  /** Model that judges criteria and assertions */
  judgeModel?: string | null;
  /** Model that simulates the user; defaults to the judge model */
  personaModel?: string | null;
  /** Model for assertions of type `similar` */
  embeddingModel?: string | null;
  /** External evaluator called for each transcript */
  evaluatorUrl?: string | null;
  /** Model that writes the summaries of the run's reports; null for the judge */
  summarizerModel?: string | null;
  /** Tokens of each reply of a judge or a simulated user at most; null for the default */
  judgeMaxOutputTokens?: number | null;
}

export interface RunConnection {
  nodes: Run[];
  pageInfo: PageInfo;
}

export interface RunEvent {
  /** Numbered from 1 without gaps; null for progress events, which are computed and not stored */
  seq: number | null;
  /** Kind of event, such as `run.finished` */
  type: string;
  /** When it happened */
  ts: string;
  /** Id of the run */
  runId: string;
  /** What the event reports; its fields depend on `type` */
  data: unknown;
}

/** Numbers of probes. */
export interface RunProgress {
  /** Planned probes */
  total: number;
  /** Probes with a transcript */
  completed: number;
  /** Probes that ended in an infrastructure error */
  failed: number;
}

/** Which part of the definition's scenarios the run has. */
export interface RunSample {
  /** That the run has */
  scenarios: number;
  /** That the definition's version has */
  total: number;
  /** Of the sample */
  seed: number;
  /** Whether they are a random sample; otherwise all, or those that an eval names */
  isDrawn: boolean;
  /** By an expansion to all scenarios; about, if personas differ much */
  probesToAdd: number;
  /** In words; null for a run that is no sample */
  note: string | null;
}

/** What the run has spent so far, on all calls of targets, judges, simulated users and summaries. `costUsd` is the sum of `totalSpend.costUsd` over its transcripts and errors, also those of earlier attempts, and of what the conversations have cost that a pause or a cancellation has interrupted. */
export interface RunSpend {
  /** In US dollars; null for a model without a known price */
  costUsd: number | null;
  /** The part of it whose price is known, in USD */
  pricedUsd: number;
  /** Spent besides, in USD, on outcomes that do not count: the second one of a probe that two workers ran after a fault, and errors that came too late for a retry of the running run; only calls whose price is known */
  lostUsd: number;
  /** The same by target and prompt */
  models: ModelSpend[];
  /** What is used of its budget; null without one */
  budget: BudgetUse | null;
  /** What the run was expected to cost when it started, in USD, without later retries and expansions; null if a price was unknown, and for runs of earlier releases */
  estimatedUsd: EstimateInterval | null;
  /** When the latest of these costs was recorded, or the run ended; null before the first. Those of `budget` are reported apart, at least once a minute */
  asOf: string | null;
}

export interface RunStarted {
  /** The run, as it was at its start */
  run: Run;
  /** Number of probes of the run */
  jobCount: number;
  /** What it is expected to cost; null only if the request is repeated after the run was erased */
  estimate: Estimate | null;
  id: string;
  status: RunStatus;
  progress: RunProgress;
}

export type RunStatus = "PENDING" | "RUNNING" | "PAUSED" | "SUMMARIZING" | "COMPLETED" | "FAILED" | "CANCELLED";

export interface Scenario {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Name for people to read */
  name: string;
  /** The messages, in order */
  messages: Message[];
  /** Score of the scenario in each dimension */
  dimensions: unknown;
  /** Any JSON object of your own */
  metadata: unknown;
  /** What the simulated user wants */
  instructions: string | null;
  /** User messages after the first answer, in order */
  followUps: string[];
  /** Whether each message is a request of its own */
  separateTurns: boolean;
  /** Messages of the conversation at most, those of the scenario included */
  maxMessages: number | null;
  /** What a successful conversation looks like, for the judge */
  successCriteria: string | null;
  /** What a failed conversation looks like, for the judge */
  failureCriteria: string | null;
  /** Whether any or all failure criteria must be met for a failure */
  failureCriteriaMode: FailureCriteriaMode;
  /** Checks of the answer; see docs/assertions.md */
  assertions: unknown[];
  /** Personas that hold the conversation, one case each */
  personaIds: string[];
  /** By id of the definition's prompts: messages to start with instead */
  messagesByPrompt: unknown;
  /** What calls of tools return; the first that matches a call answers it */
  toolResults: unknown[];
  /** Checks that their imports left out, by type */
  leftOutChecks: unknown;
}

/** What one target made of a scenario. */
export interface ScenarioCell {
  /** Position in `columns` */
  column: number;
  /** Answers with a decision from 1 to 5 */
  decided: number;
  /** Null without one */
  meanDecision: number | null;
  /** Answers with a result */
  judged: number;
  /** Of these, the successful ones */
  passed: number;
  /** Answers without a readable decision */
  other: number;
  /** Probes without an answer */
  errored: number;
  /** Between the repeats; null for fewer than two */
  variance: number | null;
}

export interface ScenarioConnection {
  nodes: Scenario[];
  pageInfo: PageInfo;
}

export interface ScenarioDelta {
  /** The pair's position in `figures.rows` */
  row: number;
  /** The pair, named as in `deltaByModel` */
  model: string;
  scenarioId: string;
  scenarioName: string;
  baselineScore: number;
  comparisonScore: number;
  delta: number;
  change: ChangeDirection;
  standardError: number | null;
  /** p adjusted over all scenarios */
  q: number | null;
}

export interface ScenarioDetail {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Name for people to read */
  name: string;
  /** The messages, in order */
  messages: Message[];
  /** Score of the scenario in each dimension */
  dimensions: unknown;
  /** Any JSON object of your own */
  metadata: unknown;
  /** What the simulated user wants */
  instructions: string | null;
  /** User messages after the first answer, in order */
  followUps: string[];
  /** Whether each message is a request of its own */
  separateTurns: boolean;
  /** Messages of the conversation at most, those of the scenario included */
  maxMessages: number | null;
  /** What a successful conversation looks like, for the judge */
  successCriteria: string | null;
  /** What a failed conversation looks like, for the judge */
  failureCriteria: string | null;
  /** Whether any or all failure criteria must be met for a failure */
  failureCriteriaMode: FailureCriteriaMode;
  /** Checks of the answer; see docs/assertions.md */
  assertions: unknown[];
  /** Personas that hold the conversation, one case each */
  personaIds: string[];
  /** By id of the definition's prompts: messages to start with instead */
  messagesByPrompt: unknown;
  /** What calls of tools return; the first that matches a call answers it */
  toolResults: unknown[];
  /** Checks that their imports left out, by type */
  leftOutChecks: unknown;
  /** Id of the definition */
  definitionId: string;
  /** The version of the definition in which it is like this */
  definitionVersion: number;
}

export interface ScenarioGeneration {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Id of the definition */
  definitionId: string;
  /** Version of the definition */
  definitionVersion: number;
  /** `matrix` combines the levels of dimensions, `llm` has a model write the texts */
  mode: GenerationMode;
  /** Options of the generation */
  options: LevelOptionChoice;
  /** Seed of the selection of combinations */
  seed: number;
  /** Model as `provider/name` */
  model: string | null;
  /** Whether the new scenarios replace the existing ones */
  replace: boolean;
  /** Current status */
  status: GenerationStatus;
  /** How much is done */
  progress: GenerationProgress;
  /** Why the generation failed */
  error: string | null;
  /** When it was created */
  createdAt: string;
  /** When it last changed */
  updatedAt: string;
  /** Null without a budget of its own (`maxBudgetUsd`) */
  budget: GenerationBudget | null;
}

/** What a scenario contributes to a component. */
export interface ScenarioLoading {
  /** Id of the scenario */
  scenarioId: string;
  /** Its name */
  scenarioName: string;
  /** Loading; the squares of all scenarios add up to 1 */
  value: number;
}

export interface ScenarioPreview {
  /** Number of scenarios that would be written */
  total: number;
  /** A selection that includes the first and the last; they have no ids yet */
  scenarios: Scenario[];
}

export type ScenarioSort = "variance" | "withinVariance" | "mean" | "id";

export interface ScenariosCreated {
  /** Ids of the new scenarios, in order */
  ids: string[];
  /** Number of scenarios the definition has now */
  total: number;
  /** The version of the definition that has them */
  definitionVersion: number;
}

export interface Schedule {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Name for people to read */
  name: string;
  /** When it fires, as `at(…)`, `rate(…)` or `cron(…)` */
  expression: string;
  /** IANA time zone of the expression */
  timezone: string;
  /** Null if it runs an eval */
  run: ScheduledRun | null;
  /** The eval to run, with its options */
  evalRun: ScheduledEvalRun | null;
  /** Whether it is in use */
  enabled: boolean;
  /** PENDING until it is registered with EventBridge; ENDED once a one-time schedule has fired */
  status: ScheduleStatus;
  /** Most recent firings, newest first */
  firings: ScheduleFiring[];
  /** When it was created */
  createdAt: string;
  /** When it last changed */
  updatedAt: string;
  /** Runs that it started, newest first */
  runs: Run[];
}

export interface ScheduleFiring {
  /** The time it was scheduled for */
  scheduledTime: string;
  /** When it fired */
  firedAt: string;
  /** Id of the run */
  runId: string | null;
  /** Why the firing started no run */
  error: string | null;
  /** Null if no run was started */
  run: Run | null;
}

export type ScheduleStatus = "PENDING" | "ENABLED" | "DISABLED" | "ENDED";

export interface ScheduledEvalRun {
  /** Id of the eval; null for a run that was started without one */
  evalId: string;
  /** Of each run that it starts, like tags and metadata */
  name: string | null;
  /** Tags, for filters */
  tags: string[];
  /** Any JSON object of your own */
  metadata: unknown;
  /** Which queue its probes wait in */
  priority: Priority;
  /** Id that groups runs; null for none */
  experimentId: string | null;
  /** How often each case is run */
  repeats: number;
  /** What each run may spend, in USD; null for no limit */
  maxBudgetUsd: number | null;
  /** Whether a run with a budget may call models whose price is unknown */
  allowUnpriced: boolean;
  /** Expected cost up to which runs start that may not end within their budget */
  confirmedUsd: number | null;
  /** Whether each run writes a report when it completes */
  report: boolean;
  /** Settings; what is omitted is inherited */
  config: unknown;
}

export interface ScheduledRun {
  /** Id of the definition */
  definitionId: string;
  /** Null for the latest at each firing */
  definitionVersion: number | null;
  /** Of each run that it starts, like tags and metadata */
  name: string | null;
  /** Tags, for filters */
  tags: string[];
  /** Any JSON object of your own */
  metadata: unknown;
  /** The models of its targets, each once */
  models: string[];
  /** What the probes talk to; see docs/targets.md */
  targets: Target[];
  /** Share of the scenarios that are run, in percent */
  samplePercentage: number;
  /** Null to choose a new random seed at each firing */
  sampleSeed: number | null;
  /** Which queue its probes wait in */
  priority: Priority;
  /** Id that groups runs; null for none */
  experimentId: string | null;
  /** How often each case is run */
  repeats: number;
  /** What each run may spend, in USD; null for no limit */
  maxBudgetUsd: number | null;
  /** Whether a run with a budget may call models whose price is unknown */
  allowUnpriced: boolean;
  /** Expected cost up to which runs start that may not end within their budget */
  confirmedUsd: number | null;
  /** Whether each run writes a report when it completes */
  report: boolean;
  /** Settings; what is omitted is inherited */
  config: unknown;
}

/** Of the scores of two dimensions, over the run's scenarios. */
export interface ScoreCorrelation {
  /** Name of the dimension */
  first: string;
  /** Name of the dimension */
  second: string;
  /** With scores in all dimensions */
  scenarios: number;
  /** Pearson's */
  correlation: number | null;
}

export interface Scoring {
  /** Null if a weighted result could not be computed, or if there is no result */
  success: boolean | null;
  /** From 0 to 1 */
  score: number | null;
  /** Why, in a sentence; null if there is none */
  reason: string;
  /** Result of each assertion */
  results: AssertionResult[];
  /** Failure categories */
  tags: string[];
  /** Scores by the name of their metric */
  metrics: unknown;
  /** Why the external evaluator's result is missing */
  evaluatorNote: string | null;
  /** Checks that their imports left out, by type */
  leftOutChecks: unknown;
}

/** Workspace defaults for evaluation; a run or its eval may override them. */
export interface Settings {
  /** Model that judges criteria, as `provider/name`; null for none */
  judgeModel: string | null;
  /** Model that simulates users, as `provider/name`; null for none */
  personaModel: string | null;
  /** Model that compares texts by meaning, as `provider/name`; null for none */
  embeddingModel: string | null;
  /** Model that writes the summaries of reports; null for the judge of the run */
  summarizerModel: string | null;
  /** Model that writes the narratives of deep analyses, as `provider/name`; null: rules do */
  analysisModel: string | null;
  /** External evaluator that scores answers over HTTP; null for none */
  evaluator: Evaluator | null;
  /** Runs that a token, a user or a schedule may have that have not ended; more are refused with 429 */
  openRunsPerOwner: number;
  /** Runs that the workspace may have that have not ended; more are refused with 429 */
  openRuns: number;
  /** Conversations of each target that a batch may have; null for no limit but 1,000 */
  maxBatchCount: number | null;
  /** Conversations that a batch may have in progress at the same time; null for no limit */
  maxBatchConcurrency: number | null;
  /** What the workspace may spend per day and month */
  budgets: BudgetLimits;
}

/** A share of trials, such as a pass rate; every scenario counts once. */
export interface ShareEstimate {
  /** Trials that the share counts */
  successes: number;
  /** Trials that the share is of */
  trials: number;
  /** Scenarios with a trial */
  scenarios: number;
  /** Mean of the scenarios' shares; null without a trial */
  share: number | null;
  /** Of the share, clustered by scenario */
  standardError: number | null;
  /** 95% interval; see docs/statistics.md */
  interval95: number[] | null;
  /** Independent trials that would say as much about scenarios like these; null in analyses of earlier releases */
  effectiveTrials: number | null;
}

/** What the probes of a side took and cost, or the difference of both sides. Described, not tested. */
export interface SideOperations {
  /** Per probe, of the target's calls; null without calls or if a price is unknown */
  costUsd: number | null;
  /** Per probe, of judging and summarizing */
  judgeCostUsd: number | null;
  /** Per probe, of simulating users */
  simulatedUserCostUsd: number | null;
  /** Per probe, of operations of a profile */
  operationsCostUsd: number | null;
  /** Per completed probe: the target's, in and out */
  tokens: number | null;
  /** Of the target's calls of a probe; within 1 % */
  medianDurationMs: number | null;
  /** Of the target's calls of a probe; within 1 % */
  p95DurationMs: number | null;
  /** Errored ones among the probes with an outcome */
  errorRate: number | null;
  /** Answers without a readable decision; null if there are no decisions */
  otherRate: number | null;
}

export type SignificanceTest = "PAIRED_T" | "SIGN_MID_P" | "MCNEMAR_MID_P" | "WELCH_T" | "FISHER_EXACT";

/** Whether a dimension moves all targets alike. */
export interface SlopeEquality {
  /** Name of the dimension */
  dimension: string;
  /** Standard deviation of the targets' slopes per step */
  spread: number;
  /** F of Hotelling's test; null without p */
  statistic: number | null;
  /** Its degrees of freedom */
  df: number[] | null;
  /** Of equal slopes; null for too few scenarios */
  p: number | null;
  /** p after Holm's adjustment for all such tests of the analysis */
  adjustedP: number | null;
}

/** Calls in flight, of the target and its graders, that are repeats or have taken more than 30 s. Workers report up to 10 of each slice, every 16 s or so. */
export interface SlowCalls {
  /** How many were reported */
  calls: number;
  /** Number of the attempt, of the call with the most attempts */
  attempt: number;
  /** How many that call may have */
  maxAttempts: number;
  /** How long this attempt has taken so far */
  seconds: number;
}

export interface Spend {
  /** Number of model calls */
  calls: number;
  /** Tokens that were used */
  usage: TokenUsage;
  /** In US dollars; null for a model without a known price */
  costUsd: number | null;
  /** What calls that timed out or gave no answer may have cost besides */
  uncertainUsd: number;
}

export type StaleReason = "inputs" | "algorithm" | "requested";

/** Exactly one of `models` and `targets` is required. */
export interface StartRunInput {
  /** What the run may spend, in USD; it is paused when this is used up. No limit by default */
  maxBudgetUsd?: number | null;
  /** Whether a run with a budget may call models whose price is unknown; they cost nothing */
  allowUnpriced?: boolean | null;
  /** The expected cost that you have agreed to. Required if the estimate exceeds `maxBudgetUsd`; the start is refused if the estimate then valid is higher */
  confirmedUsd?: number | null;
  /** Need not be unique */
  name?: string | null;
  /** Words to find runs by, without an order */
  tags?: string[] | null;
  /** Your own data about the run, such as a commit */
  metadata?: unknown | null;
  /** Id of the definition */
  definitionId: string;
  /** Version of the definition; defaults to the latest */
  definitionVersion?: number | null;
  /** Models as `provider/name` */
  models?: string[] | null;
  /** What the probes talk to; see docs/targets.md */
  targets?: TargetInput[] | null;
  /** Share of the scenarios that are run, in percent */
  samplePercentage?: number | null;
  /** Seed of the sample; chosen at random if omitted */
  sampleSeed?: number | null;
  /** Which queue its probes wait in */
  priority?: Priority | null;
  /** The experiment that groups this run with others */
  experimentId?: string | null;
  /** Conversations of each target with each scenario and persona */
  repeats?: number | null;
  /** Whether a report is written when the run completes */
  report?: boolean | null;
  /** Settings; what is omitted is inherited */
  config?: RunConfigInput | null;
  /** Short for `config.temperature` */
  temperature?: number | null;
  /** Short for `config.maxTurns` */
  maxTurns?: number | null;
  idempotencyKey?: string | null;
}

/** `generate` sends `content` as a new message; `regenerate` has the last message answered again. */
export interface StartTurnInput {
  /** Whether a new message is answered, or the last one again */
  trigger?: Trigger | null;
  /** The user's message; with `generate` only */
  content?: string | null;
  /** The active branch if omitted */
  branchId?: string | null;
  /** Operation profile instead of the chat's; null for none in this turn */
  profileId?: string | null;
  /** Model or agent asked in this turn instead of the chat's. The chat's settings apply, except parameters that its provider does not know */
  model?: string | null;
  /** The same id and body start one turn within a day, however often they are sent */
  clientRequestId?: string | null;
  /** From now; a turn that is not over by then is aborted */
  deadlineMs?: number | null;
}

/** Who or what started a run. */
export interface StartedBy {
  /** Whether a token, a user or a schedule started it */
  type: StarterType;
  /** Id of the token, the user or the schedule */
  id: string | null;
  /** Name for people to read */
  name: string | null;
}

export type StarterType = "token" | "user" | "schedule" | "system";

/** Why an answer ended although its model would have gone on. */
export type StopReason = "max_tool_rounds";

/** A model that is temporarily not called, because its calls kept failing. */
export interface SuspendedModel {
  /** Model as `provider/name` */
  model: string;
  /** When a single probe may try the model again */
  until: string;
  /** Why, in a sentence; null if there is none */
  reason: string;
}

export type SystemUpdate = "prepend" | "append" | "replace";

export interface Tag {
  name: string;
  definitionCount: number;
}

/** What a run's probes talk to. Exactly one of `model` and `connectorId` is set. */
export interface Target {
  /** The target's label, or its model if it has none */
  id: string;
  /** Short name for people to read */
  label: string | null;
  /** Model as `provider/name` */
  model: string | null;
  /** Connector of the agent under test */
  connectorId: string | null;
  /** Name of the connector when its run started; null for a model, and outside of runs */
  agentName: string | null;
  /** Its own; they take precedence over the run's */
  params: unknown;
  /** Of one call; null for the run's */
  maxAttempts: number | null;
  /** Of one call; null for the run's */
  callTimeoutSeconds: number | null;
}

/** Why probes are errored, of those that were read: at least the latest 100, divided by the number of targets. */
export interface TargetErrors {
  /** Number of errored probes that were read */
  probes: number;
  /** Whether these are all, so that the counts are exact */
  isComplete: boolean;
  /** The most frequent first */
  causes: ErrorCause[];
}

export interface TargetEstimate {
  /** Model as `provider/name` */
  model: string;
  /** Number of calls */
  calls: EstimateInterval;
  /** Tokens of prompts */
  inputTokens: EstimateInterval;
  /** Tokens of answers */
  outputTokens: EstimateInterval;
  /** Null if the price of the model is unknown */
  usd: EstimateInterval | null;
  /** The target's label, or its model if it has none */
  targetId: string;
  /** Number of its probes */
  probes: number;
  /** What the figures rest on; see docs/costs.md */
  basis: Basis;
  /** Conversations held before that the figures rest on */
  samples: number;
  /** Formula for tokens of images and PDFs; null if no message has any */
  fileBasis: FileBasis | null;
}

/** Exactly one of `model` and `connectorId`. One model may be several targets under different labels. */
export interface TargetInput {
  /** Model as `provider/name` */
  model?: string | null;
  /** Connector of the agent under test */
  connectorId?: string | null;
  /** Identifies the target in results; its model if omitted */
  label?: string | null;
  /** They take precedence over those of the run */
  params?: ModelParametersInput | null;
  /** Attempts of one call to a target, with the first; null for the default */
  maxAttempts?: number | null;
  /** Timeout of one call to a target; null for the default */
  callTimeoutSeconds?: number | null;
}

/** How far one target answers unlike the others. */
export interface TargetOutlyingness {
  /** Position in `columns` */
  column: number;
  /** Mahalanobis's, in the space of the first components */
  distance: number | null;
  /** Of so large a distance by chance; approximate */
  distanceP: number | null;
  /** After Holm's adjustment for all targets */
  distanceAdjustedP: number | null;
  /** Of an isolation forest; about 0.5 for usual ones */
  forestScore: number | null;
  /** By how much alpha rises without it */
  agreementGain: number | null;
  /** Indicators that flag it */
  indicators: OutlierIndicator[];
  /** Two indicators flag it; below 5 targets, agreement alone does */
  isOutlier: boolean;
}

export interface TargetProgress {
  /** The target's label, or its model if it has none */
  targetId: string;
  /** The definition's prompt; null if the definition has none */
  promptId: string | null;
  /** The prompt's name for people; null if it has none */
  promptLabel: string | null;
  /** The target's; of an agent without one, `connector/` and the connector's name */
  label: string | null;
  /** Model as `provider/name`, or `connector/<id>` */
  modelId: string;
  /** Of an agent under test; null for a model */
  connectorId: string | null;
  /** The same as `targetId` */
  target: string;
  /** Number of probes */
  total: number;
  /** Probes with a transcript; exact */
  completed: number;
  /** Probes that ended in an infrastructure error; exact */
  errored: number;
  /** Probes in progress, also of a stopped run: a call was made, and there is no outcome yet. Workers report them within about three seconds */
  running: number;
  /** Probes with an outcome per second, since the earliest time in the last 15 s at which this was read, else the latest in the last minute; null if it was not read in the last minute */
  ratePerSecond: number | null;
  /** Seconds until every probe has an outcome, at this rate; null if it is unknown or 0 */
  etaSeconds: number | null;
  /** Spent on its probes with an outcome, judging included; null if a price is unknown */
  costUsd: number | null;
  /** The part of it whose price is known, in USD */
  pricedUsd: number;
  /** Result of each assertion */
  results: TargetResults;
  /** Every invalid field */
  errors: TargetErrors;
  /** What holds it up; empty if nothing does */
  delays: Delay[];
  /** Calls in flight that are repeats or take long; null without any */
  slowCalls: SlowCalls | null;
}

/** Results of completed probes that were read: of all while there are at most 500, divided by the number of targets; then of a random sample of that size or up to half of it, spread over everything that completed. */
export interface TargetResults {
  /** Number of completed probes that were read */
  probes: number;
  /** Whether these are all, so that the figures are exact */
  isComplete: boolean;
  /** Those of them that passed or failed */
  judged: number;
  /** Share of the judged ones that passed; null if none is */
  passRate: number | null;
  /** Those of them with a decision from 1 to 5 */
  decided: number;
  /** Mean of these decisions; null if there is none */
  meanDecision: number | null;
  /** Tokens of the target's calls: those of the probes that were read, times the share they are of all completed ones */
  estimatedTokens: number;
  /** Why those that were read were not scored, the most frequent first */
  unscoredReasons: UnscoredReason[];
}

/** A probe that has ended */
export interface Task {
  probeIndex: number;
  scenarioId: string;
  model: string;
  modelId: string;
  targetId: string;
  promptId: string | null;
  status: ProbeStatus;
  error: string | null;
  completedAt: string | null;
}

export interface TokenUsage {
  /** Tokens of prompts */
  inputTokens: number;
  /** Tokens of answers */
  outputTokens: number;
  /** Of the input tokens, those that the provider's cache of prompts had; they cost less */
  cachedInputTokens: number;
  /** Of the input tokens, those that the provider has written to its cache of prompts */
  cacheWriteTokens: number;
  /** Calls whose usage nobody reported; their tokens are in none of the counts */
  unreportedCalls: number;
}

export interface ToolCall {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Name for people to read */
  name: string;
  /** As the model wrote them; not necessarily valid JSON */
  arguments: string;
}

export interface ToolCallInput {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Name for people to read */
  name: string;
  /** JSON of the arguments, as a text */
  arguments: string;
}

/** A function that the model may call. */
export interface ToolInput {
  /** Name for people to read */
  name: string;
  /** What it is, for people to read */
  description?: string | null;
  /** JSON Schema of its arguments */
  parameters?: unknown | null;
  /** Whether the provider enforces the schema, where it can */
  strict?: boolean | null;
}

/** What calls of a function return, instead of being executed: exactly one of `result` and `error`. */
export interface ToolResultInput {
  /** Name for people to read */
  name: string;
  /** Only of calls with these arguments; a call may have others besides. Of all if omitted */
  arguments?: unknown | null;
  /** What the model gets: a text, or any other JSON value */
  result?: unknown | null;
  /** What the model gets as the error of the call */
  error?: string | null;
  /** How many calls of a conversation it answers, after which the next match does; null for all */
  times?: number | null;
}

export interface Transcript {
  /** The target's label, or its model if it has none */
  targetId: string;
  /** The definition's prompt; null if the definition has none */
  promptId: string | null;
  /** The prompt's name for people; null if it has none */
  promptLabel: string | null;
  /** The target's; of an agent without one, `connector/` and the connector's name */
  label: string | null;
  /** Model as `provider/name`, or `connector/<id>` */
  modelId: string;
  /** Of an agent under test; null for a model */
  connectorId: string | null;
  /** Id of the scenario */
  scenarioId: string;
  /** Null only if the run's snapshot is gone */
  scenarioName: string | null;
  /** Id of the persona; null for none */
  personaId: string | null;
  /** Name of the persona when the run started; null for none */
  personaName: string | null;
  /** From 0 */
  repeat: number;
  /** The scenario's `metadata.vars`, used in its assertions */
  variables: unknown;
  /** The scenario's score per dimension */
  dimensions: unknown;
  /** The scenario's metadata, without `vars` */
  metadata: unknown;
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Id of the run */
  runId: string;
  /** Index of the probe in its run, from 0; never changes */
  probeIndex: number;
  /** The model's version, as the provider reports it */
  modelVersion: string | null;
  /** Why the model stopped, as the provider reports it */
  finishReason: string | null;
  /** Why an answer ended although its model would have gone on; null if none did */
  stopReason: StopReason | null;
  /** What requests to the target left out because it rejects it; see docs/architecture.md */
  omittedParameters: RequestParameter[];
  /** Content of the definition as it was when the run started; null once the run is erased */
  definitionSnapshot: unknown | null;
  /** Null once it has expired */
  content: TranscriptContent | null;
  /** Number of turns of the conversation */
  turnCount: number;
  /** Replies of the target whose calls of tools were executed */
  toolRounds: number;
  /** Words of the target's answers; null for transcripts of earlier releases */
  wordCount: number | null;
  /** Input and output tokens together */
  tokenCount: number;
  /** Tokens that were used */
  usage: TokenUsage;
  /** Spent on judging; not included in `usage` and `costUsd` */
  judgeSpend: Spend;
  /** Spent on simulating the user; not included in `usage` and `costUsd` */
  personaSpend: Spend;
  /** Spent on the judge's decision; not included in `usage` and `costUsd` */
  summarySpend: Spend;
  /** Spent on operations of the profile; not included in `usage` and `costUsd` */
  operationSpend: Spend;
  /** Target, judge, simulated user, summary and operations together */
  totalSpend: Spend;
  /** What the calls cost, by what the models were called for */
  costs: CostByRole[];
  /** Time spent in calls of the target */
  durationMs: number;
  /** In US dollars; null for a model without a known price */
  costUsd: number | null;
  /** Decision that was read from the transcript, `1` to `5` or `other` */
  decisionCode: string | null;
  /** Why the decision was made, in one or two sentences */
  decisionText: string | null;
  /** When the decision was made; null until then */
  summarizedAt: string | null;
  /** Why the judge made no decision */
  summaryError: string | null;
  /** The code of `summaryError`; null without one, and for earlier releases */
  summaryCause: UnscoredCause | null;
  /** The judge's last verdict on the criteria */
  verdict: Verdict | null;
  /** Result of the criteria and assertions */
  scoring: Scoring | null;
  /** Null if nothing was judged, or judging was not possible */
  result: ProbeResult | null;
  /** Whether the result was corrected by a person */
  corrected: boolean;
  /** When it was created */
  createdAt: string;
  /** When it was last read; null if never */
  lastAccessedAt: string | null;
  /** From then on the content cannot be read; null for never */
  contentExpiresAt: string | null;
  run: Run | null;
  /** As it was when the run started */
  scenario: Scenario | null;
  /** Its current state; null without one or after its deletion */
  persona: Persona | null;
}

export interface TranscriptConnection {
  nodes: Transcript[];
  pageInfo: PageInfo;
}

export interface TranscriptContent {
  /** The definition's system prompt, and what the user and the target said; sent to the target as is */
  messages: Message[];
  /** System prompt made of the persona and the scenario's `instructions`, by which a model wrote user messages; never sent to the target. Null if no model did, and for transcripts of earlier releases */
  simulatedUserPrompt: string | null;
  /** With an operation profile: what ran in each turn, and what it changed */
  turns: unknown[];
  /** Values of the persisted artifacts after the last turn, by their tags */
  artifacts: unknown;
}

/** How answers change with the score. */
export interface Trend {
  /** Points, or the share that passes, per unit of the score */
  slope: number;
  /** Pearson's */
  correlation: number | null;
  /** Of the slope, clustered by scenario */
  standardError: number;
  /** 95% interval; see docs/statistics.md */
  interval95: number[] | null;
  /** Of no trend; null if the answers follow a line exactly */
  p: number | null;
  /** p after Holm's adjustment for all such tests of the analysis */
  adjustedP: number | null;
}

/** The original and the revised system prompt on the same scenarios, both run anew. */
export interface Trial {
  /** RUNNING until both runs have ended and are compared */
  status: JobStatus;
  /** The run with the original prompt */
  originalRunId: string;
  /** The run with the revised prompt */
  revisedRunId: string;
  /** The experiment that both belong to */
  experimentId: string;
  /** The comparison of both; null until it is requested */
  comparisonId: string | null;
  /** Scenarios that both prompts are tried on */
  scenarios: number;
  /** Those of them of which the summarizer has read no conversation; they are taken first */
  unseenScenarios: number;
  /** Conversations of either prompt per scenario, target and persona */
  repeats: number;
  /** Difference of pass rates that such a trial finds with a chance of 80 %, from 0 to 1 */
  detectableDifference: number;
  /** What both prompts may cost together; null without a limit */
  maxBudgetUsd: number | null;
  /** When it was created */
  createdAt: string;
  /** Why there will be no result */
  failure: string | null;
  /** Null until it is completed */
  result: TrialResult | null;
}

/** What the trial of the report's revised prompt adds to a batch that asks for it, if the report offers one. */
export interface TrialEstimate {
  /** Number of probes of both prompts together, which are both run anew */
  jobCount: number;
  /** Not included in `usd` of the batch, nor limited by its `maxBudgetUsd` */
  usd: EstimateInterval;
  /** Whether it costs no more than the conversations of the batch, which is what it may cost; otherwise it is not expected to start, and the report says why */
  isWithinLimit: boolean;
}

/** What a trial would be. */
export interface TrialPlan {
  /** Scenarios that both prompts are tried on */
  scenarios: number;
  /** Those of them of which the summarizer has read no conversation; they are taken first */
  unseenScenarios: number;
  /** Conversations of either prompt per scenario, target and persona */
  repeats: number;
  /** Difference of pass rates that such a trial finds with a chance of 80 %, from 0 to 1 */
  detectableDifference: number;
  /** What both prompts may cost together; null without a limit */
  maxBudgetUsd: number | null;
  /** Of both prompts together */
  estimate: Estimate;
}

/** What the comparison of both prompts says. */
export interface TrialResult {
  /** Whether the revised prompt raises the pass rate */
  verdict: TrialVerdict;
  /** The verdict in words, with its figures */
  sentence: string;
  /** Pass rate with the original prompt */
  originalRate: number | null;
  /** Pass rate with the revised prompt */
  revisedRate: number | null;
  /** Revised minus original */
  difference: number | null;
  /** 95% interval of the difference */
  interval95: number[] | null;
  /** Difference of pass rates that such a trial finds with a chance of 80 %, from 0 to 1 */
  detectableDifference: number;
  /** Two-sided p-value */
  p: number | null;
  /** What both took and cost; described, not tested */
  operations: OperatingDifferences;
  /** At most 20 failure tags, the most frequent first */
  tags: TrialTag[];
  /** What limits these figures */
  notes: string[];
}

export interface TrialTag {
  /** Failure tag */
  tag: string;
  /** Conversations with the original prompt that have it */
  original: number;
  /** Conversations with the revised prompt that have it */
  revised: number;
}

export type TrialVerdict = "helps" | "hurts" | "not_shown";

/** Why a turn runs. */
export type Trigger = "generate" | "regenerate";

export interface Turn {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Its chat */
  chatId: string;
  /** Its branch */
  branchId: string;
  /** The exchange whose answer it makes */
  exchangeId: string;
  /** The message that it answers */
  userMessageId: string;
  /** Whether a new message is answered, or the last one again */
  trigger: Trigger;
  /** The id of the token that asked for it */
  initiator: string;
  /** As it was sent; null without one */
  clientRequestId: string | null;
  /** The profile at the version that it runs; null without one */
  profile: TurnProfile | null;
  /** Model as `provider/name` */
  model: string;
  /** `queued`, `running`, `done`, `failed` or `aborted` */
  status: TurnStatus;
  /** Where it stands */
  phase: TurnPhase;
  /** Where it failed: before the main call, in it, or after it; null unless it did */
  failedType: FailedType | null;
  /** Why it failed; null unless it did */
  failedDetails: TurnFailure | null;
  /** `user` or `deadline`; null unless it was aborted */
  abortReason: AbortReason | null;
  /** When it was created */
  createdAt: string;
  /** When a worker began; null until then */
  startedAt: string | null;
  /** When it ended; null until then */
  finishedAt: string | null;
  /** When it is aborted if it is not over */
  deadlineAt: string;
  /** From its acceptance to its end */
  durationMs: number | null;
  /** Operations that are not part of the turn, and why */
  leftOut: unknown[];
  /** How each operation has ended; see docs/chats.md */
  operations: unknown[];
  /** The main call; empty until the turn is over */
  main: unknown;
  /** What became of each effect */
  commits: unknown[];
  /** What it has written; null until it is over with an answer */
  artifacts: TurnArtifacts | null;
  /** Of all operations; null until it is over */
  operationsSpend: Spend | null;
  /** What calls that were not answered may have cost besides; null until it is over */
  uncertainUsd: number | null;
}

/** The artifacts that a turn has written. */
export interface TurnArtifacts {
  /** Those that later turns begin with */
  persisted: ArtifactVersion[];
  /** Those that last no longer than the turn */
  runOnly: ArtifactDigest[];
}

export interface TurnFailure {
  /** The required operation that was not done */
  operationId: string | null;
  /** Kind of error; see docs/pipeline.md */
  errorCode: string;
  /** What went wrong */
  errorMessage: string;
}

export type TurnPhase = "planning" | "before_main_llm" | "barrier" | "main_llm" | "after_main_llm" | "commit" | "finished";

export interface TurnPlans {
  /** For a new message of the user */
  generate: PipelinePlan;
  /** For another answer to the last message */
  regenerate: PipelinePlan;
}

export interface TurnProfile {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Version number, from 1 */
  version: number;
  /** Whether its operations run */
  enabled: boolean;
  /** The profile's when the turn was accepted */
  sessionId: string;
}

export interface TurnPrompt {
  /** SHA-256; equal for equal prompts */
  hash: string;
  /** As they were sent */
  messages: PromptMessage[];
}

export type TurnStatus = "queued" | "running" | "done" | "failed" | "aborted";

export interface TurnSummary {
  /** Unique id; ids of later things sort after those of earlier ones */
  id: string;
  /** Its chat */
  chatId: string;
  /** Its branch */
  branchId: string;
  /** The exchange whose answer it makes */
  exchangeId: string;
  /** The message that it answers */
  userMessageId: string;
  /** Whether a new message is answered, or the last one again */
  trigger: Trigger;
  /** The id of the token that asked for it */
  initiator: string;
  /** As it was sent; null without one */
  clientRequestId: string | null;
  /** The profile at the version that it runs; null without one */
  profile: TurnProfile | null;
  /** Model as `provider/name` */
  model: string;
  /** `queued`, `running`, `done`, `failed` or `aborted` */
  status: TurnStatus;
  /** Where it stands */
  phase: TurnPhase;
  /** Where it failed: before the main call, in it, or after it; null unless it did */
  failedType: FailedType | null;
  /** Why it failed; null unless it did */
  failedDetails: TurnFailure | null;
  /** `user` or `deadline`; null unless it was aborted */
  abortReason: AbortReason | null;
  /** When it was created */
  createdAt: string;
  /** When a worker began; null until then */
  startedAt: string | null;
  /** When it ended; null until then */
  finishedAt: string | null;
  /** When it is aborted if it is not over */
  deadlineAt: string;
  /** From its acceptance to its end */
  durationMs: number | null;
}

/** A part that this run has too few targets, scenarios or dimensions for. */
export interface UnavailablePart {
  /** Field that is null */
  part: DeepPart;
  /** What it needs */
  reason: string;
}

/** A model whose calls are not in the cost, because its price is unknown. */
export interface UnpricedModel {
  /** As `provider/name` */
  model: string;
  /** What it was called for */
  roles: string[];
  /** Calls that are not in the cost; null if that is not known */
  calls: number | null;
}

/** The cause of a missing result. */
export interface UnscoredCause {
  /** What kept the check from a result, such as `judge_reply` */
  code: UnscoredCode;
  /** The judge or embedding model; null if none was to be called */
  model: string | null;
  /** The error code of the failed call, of `judge_failed` */
  providerCode: string | null;
}

/** Each code says why a check has no result. The values are the same in stored items, API, command and page. */
export type UnscoredCode = "judge_reply" | "judge_refused" | "judge_failed" | "no_judge" | "budget" | "evaluator" | "input" | "assertion" | "code" | "limit" | "deleted" | "unknown";

/** Conversations that were not scored, for one reason. */
export interface UnscoredCount {
  /** What kept the check from a result, such as `judge_reply` */
  code: UnscoredCode;
  /** The judge or embedding model; null if none was to be called */
  model: string | null;
  /** The error code of the failed call, of `judge_failed` */
  providerCode: string | null;
  /** Conversations that were not scored for this reason */
  probes: number;
}

/** Why completed probes were not scored. */
export interface UnscoredReason {
  /** What kept the check from a result, such as `judge_reply`: the judge gave no usable reply */
  code: UnscoredCode;
  /** The judge or embedding model; null if the cause is no call of a model */
  model: string | null;
  /** The error code of the failed call; only of `judge_failed` */
  providerCode: string | null;
  /** Completed probes that were not scored for this reason */
  count: number;
  /** The first of them; null for probes that an earlier release has counted */
  probeIndex: number | null;
  /** The error of its check; null if it was deleted, or is not among those that are read */
  example: string | null;
}

/** A judge gave this reply in place of a verdict. */
export interface UnusableJudgement {
  /** What is wrong with the reply */
  problem: string;
  /** The last reply, at most 2,000 characters of it */
  reply: string;
}

export interface UpdateBranchInput {
  /** What people call it */
  name: string;
}

/** Omitted fields keep their value and null clears it. */
export interface UpdateBudgetsInput {
  /** What all calls of models may cost on a calendar day, in USD; null for no limit */
  dayUsd?: number | null;
  /** What all calls of models may cost in a calendar month, in USD; null for no limit */
  monthUsd?: number | null;
  /** IANA time zone in which days and months begin; null for UTC */
  timezone?: string | null;
}

/** Omitted fields keep their value. Turns that have started are not changed. */
export interface UpdateChatInput {
  /** What people call it */
  title?: string | null;
  /** The model or connector that answers */
  target?: ChatTargetInput | null;
  /** The system prompt */
  system?: string | null;
  /** Operation profile of its turns */
  profileId?: string | null;
  /** How many earlier exchanges are part of a prompt */
  historyLimit?: number | null;
  /** Without effect on the chat */
  metadata?: unknown | null;
  /** The branch that turns go to by default */
  activeBranchId?: string | null;
}

/** Omitted fields keep their value; null clears `headers` and `config`, and a new value replaces them entirely. */
export interface UpdateConnectorInput {
  /** Name for people to read */
  name?: string | null;
  /** Protocol of the agent */
  type?: ConnectorType | null;
  /** If the address changes (`config.path` included), `headers` must be sent again, or null to remove them */
  baseUrl?: string | null;
  /** Headers of every request; their values are stored as secrets and never returned */
  headers?: unknown | null;
  /** Settings of the protocol; see docs/connectors.md */
  config?: unknown | null;
}

/** Omitted fields keep their value; a null `folder` removes the definition from its folder. New content, scenarios or both create the next version; `versionLabel` names it or, without them, the latest version. */
export interface UpdateDefinitionInput {
  /** Name for people to read */
  name?: string | null;
  /** Folder, with `/` between its levels; null for none */
  folder?: string | null;
  /** Tags, for filters */
  tags?: string[] | null;
  /** Fields to replace in the next version; null unsets one */
  content?: unknown | null;
  /** Name of the version, for people to read */
  versionLabel?: string | null;
  /** Scenarios that replace all existing ones in the next version */
  scenarios?: unknown[] | null;
}

/** Omitted fields keep their value and null clears it. `targets`, `connectorId` and `model` replace each other; `params` replaces all parameters. */
export interface UpdateEvalInput {
  /** Name for people to read */
  name?: string | null;
  /** Ids of the scenarios */
  scenarioIds?: string[] | null;
  /** Required only to select a fork, because a fork shares scenarios with its parent */
  definitionId?: string | null;
  /** Connector of the agent under test */
  connectorId?: string | null;
  /** Model as `provider/name` */
  model?: string | null;
  /** What the probes talk to; see docs/targets.md */
  targets?: TargetInput[] | null;
  /** Of every target that knows them */
  params?: ModelParametersInput | null;
  /** Model that judges criteria, as `provider/name`; null for none */
  judgeModel?: string | null;
  /** Model that simulates the user; null to use the judge model */
  personaModel?: string | null;
  /** Model that compares texts by meaning, as `provider/name`; null for none */
  embeddingModel?: string | null;
  /** Address of the external evaluator; null for none */
  evaluatorUrl?: string | null;
}

/** Omitted fields keep their value and null clears it. `conclusion` ends the experiment; null opens it again. */
export interface UpdateExperimentInput {
  /** Name for people to read */
  name?: string | null;
  /** What the experiment is to show */
  hypothesis?: string | null;
  /** What holds if the hypothesis does not; null if it was not written */
  nullHypothesis?: string | null;
  /** What it is, for people to read */
  description?: string | null;
  /** How runs are expected to differ from the baseline */
  direction?: ExpectedDirection | null;
  /** Target that the expectation is about; null for all */
  target?: string | null;
  /** Null: decisions if there are any, else pass rates */
  metric?: Metric | null;
  /** Smaller differences do not matter */
  minimumEffect?: number | null;
  /** Significance level */
  alpha?: number | null;
  /** What is varied on purpose */
  independentVariable?: string | null;
  /** What is meant to stay equal */
  controlledVariables?: string[] | null;
  /** Run that the others are compared with */
  baselineRunId?: string | null;
  /** Tags, for filters */
  tags?: string[] | null;
  /** What a person concludes; null while it is open */
  conclusion?: Conclusion | null;
  /** Why it was concluded so */
  note?: string | null;
}

/** Exactly one of `content`, `selected` and `hidden`. */
export interface UpdateMessageInput {
  /** An edit: a new variant, which is selected */
  content?: string | null;
  /** The number of a variant */
  selected?: number | null;
  /** Whether the message is left out of later prompts */
  hidden?: boolean | null;
  /** Of the branch that the change is based on; 409 for another */
  revision?: number | null;
}

/** Omitted fields keep their value and null clears it. New `headers` replace the old ones entirely. */
export interface UpdatePersonaInput {
  /** Name for people to read */
  name?: string | null;
  /** What it is, for people to read */
  description?: string | null;
  /** System prompt of the model that simulates this user */
  systemPrompt?: string | null;
  /** Headers added to each request made for this persona to a connector in `connectorUrls` */
  headers?: unknown | null;
  /** The `baseUrl` of each connector that may get the headers; required with `headers`. A new one requires the headers again */
  connectorUrls?: string[] | null;
}

/** Omitted fields keep their value. Another mode or other operations make the next version. */
export interface UpdateProfileInput {
  /** Name for people to read */
  name?: string | null;
  /** What it is, for people to read */
  description?: string | null;
  /** Whether turns with this profile run its operations */
  enabled?: boolean | null;
  /** Whether operations run one at a time, or up to 8 together */
  executionMode?: ExecutionMode | null;
  /** What runs before and after the main call; see docs/pipeline.md */
  operations?: OperationInput[] | null;
}

/** Omitted fields keep their value; `tags` and `metadata` replace all of them, and a null `name` removes it. */
export interface UpdateRunInput {
  /** Need not be unique */
  name?: string | null;
  /** Words to find runs by, without an order */
  tags?: string[] | null;
  /** Your own data about the run, such as a commit */
  metadata?: unknown | null;
}

/** Omitted fields keep their value; null removes one. `prompt` replaces all messages. */
export interface UpdateScenarioInput {
  /** Name for people to read */
  name?: string | null;
  /** The user's first message */
  prompt?: string | null;
  /** Messages the conversation starts with */
  messages?: MessageInput[] | null;
  /** By id of the definition's prompts: messages to start with instead */
  messagesByPrompt?: unknown | null;
  /** Scores by dimension name */
  dimensions?: unknown | null;
  /** Any JSON object of your own */
  metadata?: unknown | null;
  /** What the simulated user wants; not shown to the target */
  instructions?: string | null;
  /** User messages after the first answer, in order, instead of the definition's */
  followUps?: string[] | null;
  /** Whether each message is a request of its own, without the earlier ones; `[answer 1]` in a follow-up is then the first answer */
  separateTurns?: boolean | null;
  /** Messages of the conversation at most, those of the scenario included */
  maxMessages?: number | null;
  /** When the judge ends with success */
  successCriteria?: string | null;
  /** When the judge ends with failure */
  failureCriteria?: string | null;
  /** Whether any or all failure criteria must be met for a failure */
  failureCriteriaMode?: FailureCriteriaMode | null;
  /** Checks, each `{type, value?, threshold?, weight?, metric?, …}`; see docs/assertions.md */
  assertions?: unknown[] | null;
  /** Ids of personas; each one has its own conversation */
  personaIds?: string[] | null;
  /** What calls of tools return; the first that matches a call answers it */
  toolResults?: ToolResultInput[] | null;
  /** How many checks of each type the author of an imported file wrote that are not in `assertions`; results say that they were left out, and a gate does not pass without them */
  leftOutChecks?: unknown | null;
}

/** Omitted fields keep their value. */
export interface UpdateScheduleInput {
  /** Name for people to read */
  name?: string | null;
  /** EventBridge Scheduler expression: `cron(0 9 ? * MON-FRI *)`, `rate(6 hours)` or `at(2027-01-31T09:30:00)` */
  expression?: string | null;
  /** IANA time zone name */
  timezone?: string | null;
  /** The run to start; either this or `evalRun` */
  run?: unknown | null;
  /** The eval to run, with its options */
  evalRun?: unknown | null;
  /** Whether it is in use */
  enabled?: boolean | null;
}

/** Omitted fields keep their value and null clears it. */
export interface UpdateSettingsInput {
  /** Model that judges criteria, as `provider/name`; null for none */
  judgeModel?: string | null;
  /** Model that simulates the user; null to use the judge model */
  personaModel?: string | null;
  /** Model that compares texts by meaning, as `provider/name`; null for none */
  embeddingModel?: string | null;
  /** Model that writes the summaries of reports; null for the judge of the run */
  summarizerModel?: string | null;
  /** Model that writes the narratives of deep analyses, as `provider/name`; null: rules do */
  analysisModel?: string | null;
  /** An external evaluator of transcripts */
  evaluator?: EvaluatorInput | null;
  /** Runs that a token, a user or a schedule may have that have not ended; more are refused with 429; null for 50 */
  openRunsPerOwner?: number | null;
  /** Runs that the workspace may have that have not ended; more are refused with 429; null for 200 */
  openRuns?: number | null;
  /** Conversations of each target that a batch may have; null for no limit but 1,000 */
  maxBatchCount?: number | null;
  /** Conversations that a batch may have in progress at the same time; null for no limit */
  maxBatchConcurrency?: number | null;
  /** What the workspace may spend; null removes all limits */
  budgets?: UpdateBudgetsInput | null;
}

/** Of the repeats. */
export interface Variability {
  /** At most 100, the most variable first */
  most: VariableScenario[];
  /** At most 100, the least variable first */
  least: VariableScenario[];
}

/** A scenario that one target answers differently in its repeats. */
export interface VariableScenario {
  /** Id of the scenario */
  scenarioId: string;
  /** Its name */
  scenarioName: string;
  /** Position in `columns` */
  column: number;
  /** Between the repeats */
  variance: number;
}

/** Where the differences between single answers come from; the shares add up to 1. */
export interface VarianceShares {
  /** Positions in `columns` of the analysis */
  columns: number[];
  /** That all of these targets have answered */
  scenarios: number;
  /** Of single answers */
  variance: number;
  /** Share between targets */
  target: number;
  /** Share between scenarios */
  scenario: number;
  /** Targets react differently to the same scenarios */
  targetByScenario: number;
  /** Between answers of one target to one scenario; null without */
  repeat: number | null;
}

/** One wording of a message. It never changes. */
export interface Variant {
  /** The number of the variant */
  number: number;
  /** `main` as it was sent or answered, `edit` of a person, `rewrite` of an operation */
  kind: VariantKind;
  /** The text */
  content: string;
  /** Whether the call that wrote it was answered to its end */
  status: VariantStatus;
  /** The variant that was edited or rewritten */
  basedOn: number | null;
  /** The branch in which it was made */
  branchId: string;
  /** The turn that made it */
  turnId: string | null;
  /** Of an answer: the model that gave it */
  modelId: string | null;
  /** Tokens of the main call; null if there was none */
  usage: TokenUsage | null;
  /** Of the main call; null if it is unknown, or there was none */
  costUsd: number | null;
  /** What operations have stored beside it */
  annotations: unknown[];
  /** When it was created */
  createdAt: string;
}

export interface VariantConnection {
  nodes: Variant[];
  pageInfo: PageInfo;
}

export type VariantKind = "main" | "edit" | "rewrite";

/** Whether a message is complete. */
export type VariantStatus = "done" | "aborted" | "error";

/** A judge's decision on success and failure criteria. */
export interface Verdict {
  /** Whether the success criteria are met */
  successMet: boolean;
  /** Whether the failure criteria are met */
  failureMet: boolean;
  /** From 0 to 1, as the judge states it; null if it does not */
  confidence: number | null;
  /** Why the judge decided so */
  reasoning: string;
  /** The judge's reply as it was received */
  rawResponse: string;
}

/** The workspace, the role and the token of the request */
export interface Viewer {
  workspace: string;
  role: AccessRole;
  tokenId: string;
}

/** A warning about a field that is valid but probably not intended. */
export interface Warning {
  /** Path of the field, such as `content.template` */
  field: string;
  /** What happened, for people to read */
  message: string;
}

export interface WhatChanged {
  /** Everything that differs between the runs */
  changes: RunChange[];
  /** The changes in sentences */
  summary: string[];
  /** Unified diff of the texts that targets are sent; at most 20,000 characters */
  diff: string;
  /** Definitions from the baseline's to the other's in the tree of forks */
  definitionPath: string[];
  /** Aspects that can explain a difference */
  causes: string[];
  /** Whether there are several, so that none of them alone explains a difference */
  isConfounded: boolean;
}

/** How often a target decided for one of the two dimensions that the decision's codes favor. */
export interface WinRate {
  /** Name of the dimension */
  dimension: string;
  /** Answers for it */
  prioritized: number;
  /** Answers for the other dimension */
  opposed: number;
  /** Answers with the decision 3 */
  neutral: number;
  /** Scenarios with a decided answer */
  scenarios: number;
  /** Mean over scenarios of the share for it; null without answers */
  rate: number | null;
  /** 95% interval; see docs/statistics.md */
  interval95: number[] | null;
}

export type WriteMode = "replace" | "append";
