/** Limits and defaults of requests. Written by `python -m tools.request_fields --update`. */

export const CreateRun = {
  maxBudgetUsd: { min: 0.000001, max: 1_000_000 },
  allowUnpriced: { default: false },
  confirmedUsd: { min: 0, max: 1_000_000_000_000 },
  name: { maxLength: 200 },
  tags: { maxItems: 20, maxItemLength: 100 },
  definitionId: { maxLength: 100 },
  definitionVersion: { min: 1 },
  models: { maxItems: 100, maxItemLength: 256 },
  targets: { maxItems: 100 },
  samplePercentage: { min: 1, max: 100, default: 100 },
  sampleSeed: { min: 0, max: 9_007_199_254_740_991 },
  priority: { options: ["LOW", "NORMAL", "HIGH"], default: "NORMAL" },
  experimentId: { maxLength: 100 },
  repeats: { min: 1, max: 1_000, default: 1 },
  report: { default: false },
  "config.profileId": { maxLength: 100 },
  "config.profileVersion": { min: 1 },
  "config.temperature": { min: 0, max: 2 },
  "config.maxAttempts": { min: 1, max: 10 },
  "config.retryDelaySeconds": { min: 0, max: 60 },
  "config.callTimeoutSeconds": { min: 1, max: 900 },
  "config.maxTurns": { min: 1, max: 100 },
  "config.maxConcurrency": { min: 1, max: 1_000 },
  "config.staggerMs": { maxItems: 2 },
  "config.judgeModel": { maxLength: 256 },
  "config.personaModel": { maxLength: 256 },
  "config.embeddingModel": { maxLength: 256 },
  "config.evaluatorUrl": { maxLength: 2_048 },
  "config.summarizerModel": { maxLength: 256 },
  "config.judgeMaxOutputTokens": { min: 1, max: 10_000_000 },
} as const;

export const CreateEvalRun = {
  maxBudgetUsd: { min: 0.000001, max: 1_000_000 },
  allowUnpriced: { default: false },
  confirmedUsd: { min: 0, max: 1_000_000_000_000 },
  name: { maxLength: 200 },
  tags: { maxItems: 20, maxItemLength: 100 },
  priority: { options: ["LOW", "NORMAL", "HIGH"], default: "NORMAL" },
  repeats: { min: 1, max: 1_000, default: 1 },
  experimentId: { maxLength: 100 },
  "config.profileId": { maxLength: 100 },
  "config.profileVersion": { min: 1 },
  "config.temperature": { min: 0, max: 2 },
  "config.maxAttempts": { min: 1, max: 10 },
  "config.retryDelaySeconds": { min: 0, max: 60 },
  "config.callTimeoutSeconds": { min: 1, max: 900 },
  "config.maxTurns": { min: 1, max: 100 },
  "config.maxConcurrency": { min: 1, max: 1_000 },
  "config.staggerMs": { maxItems: 2 },
  "config.judgeModel": { maxLength: 256 },
  "config.personaModel": { maxLength: 256 },
  "config.embeddingModel": { maxLength: 256 },
  "config.evaluatorUrl": { maxLength: 2_048 },
  "config.summarizerModel": { maxLength: 256 },
  "config.judgeMaxOutputTokens": { min: 1, max: 10_000_000 },
  report: { default: false },
} as const;

export const ExpandRun = {
  samplePercentage: { min: 1, max: 100 },
  confirmedUsd: { min: 0, max: 1_000_000_000_000 },
} as const;

export const CreateScaleRun = {
  maxBudgetUsd: { min: 0.000001, max: 1_000_000 },
  allowUnpriced: { default: false },
  confirmedUsd: { min: 0, max: 1_000_000_000_000 },
  name: { maxLength: 200 },
  tags: { maxItems: 20, maxItemLength: 100 },
  models: { maxItems: 100, maxItemLength: 256 },
  targets: { maxItems: 100 },
  connectorId: { maxLength: 100 },
  systemPrompt: { maxLength: 200_000 },
  userMessage: { maxLength: 500_000 },
  goal: { maxLength: 50_000 },
  count: { min: 1, max: 1_000 },
  personaIds: { maxItems: 100, maxItemLength: 100 },
  maxTurns: { min: 1, max: 100 },
  temperature: { min: 0, max: 2 },
  maxOutputTokens: { min: 1, max: 1_000_000 },
  maxAttempts: { min: 1, max: 10 },
  retryDelaySeconds: { min: 0, max: 60 },
  maxConcurrency: { min: 1, max: 1_000, default: 3 },
  staggerMs: { maxItems: 2, default: [200, 400] },
  judgeModel: { maxLength: 256 },
  personaModel: { maxLength: 256 },
  summarizerModel: { maxLength: 256 },
  report: { default: true },
  trial: { default: false },
  priority: { options: ["LOW", "NORMAL", "HIGH"], default: "NORMAL" },
  experimentId: { maxLength: 100 },
} as const;

export const AnswerFormatInput = {
  xmlElements: { maxItems: 100, maxItemLength: 1_000 },
  pattern: { maxLength: 5_000 },
  minWords: { min: 0, max: 1_000_000 },
  maxWords: { min: 0, max: 1_000_000 },
} as const;

export const JudgedEvaluatorInput = {
  judgeModel: { maxLength: 256 },
  threshold: { min: 0, max: 1 },
} as const;

export const ExternalEvaluatorInput = {
  url: { maxLength: 2_048 },
} as const;

export const CreateEval = {
  name: { maxLength: 100 },
  scenarioIds: { maxItems: 1_000, maxItemLength: 100 },
  definitionId: { maxLength: 100 },
  connectorId: { maxLength: 100 },
  model: { maxLength: 256 },
  targets: { maxItems: 100 },
  judgeModel: { maxLength: 256 },
  personaModel: { maxLength: 256 },
  embeddingModel: { maxLength: 256 },
  evaluatorUrl: { maxLength: 2_048 },
} as const;

export const CreateSchedule = {
  name: { maxLength: 100 },
  expression: { maxLength: 256 },
  timezone: { maxLength: 50, default: "UTC" },
  enabled: { default: true },
} as const;

export const TargetInput = {
  model: { maxLength: 256 },
  connectorId: { maxLength: 100 },
  label: { maxLength: 100 },
  maxAttempts: { min: 1, max: 10 },
  callTimeoutSeconds: { min: 1, max: 900 },
} as const;

export const ModelParametersInput = {
  temperature: { min: 0, max: 2 },
  topP: { above: 0, max: 1 },
  topK: { min: 1, max: 100_000 },
  maxOutputTokens: { min: 1, max: 10_000_000 },
  stop: { maxItems: 16, maxItemLength: 1_000 },
  seed: { min: 0, max: 9_007_199_254_740_991 },
  frequencyPenalty: { min: -2, max: 2 },
  presencePenalty: { min: -2, max: 2 },
  reasoningEffort: { options: ["none", "minimal", "low", "medium", "high", "xhigh"] },
  tools: { maxItems: 128 },
  maxToolRounds: { min: 0, max: 100 },
  toolConnectorId: { maxLength: 100 },
} as const;

export const ToolInput = {
  description: { maxLength: 10_000 },
} as const;

export const ResponseFormatInput = {
  type: { options: ["text", "json", "json_schema"] },
} as const;

export const CreateChat = {
  title: { maxLength: 200 },
  system: { maxLength: 100_000 },
  profileId: { maxLength: 100 },
  historyLimit: { min: 0, max: 200, default: 50 },
  playground: { default: false },
} as const;

export const UpdateProvider = {
  baseUrl: { maxLength: 2_048 },
  maxParallelRequests: { min: 1, max: 1_000 },
  requestsPerMinute: { min: 1, max: 1_000_000_000 },
  tokensPerMinute: { min: 1, max: 1_000_000_000 },
  prices: { maxItems: 100 },
} as const;

export const UpdateSettings = {
  judgeModel: { maxLength: 256 },
  personaModel: { maxLength: 256 },
  embeddingModel: { maxLength: 256 },
  summarizerModel: { maxLength: 256 },
  analysisModel: { maxLength: 256 },
  openRunsPerOwner: { min: 1, max: 1_000 },
  openRuns: { min: 1, max: 1_000 },
  maxScaleRunCount: { min: 1, max: 1_000 },
  maxScaleRunConcurrency: { min: 1, max: 1_000 },
} as const;

export const UpdateBudgets = {
  dayUsd: { min: 0.000001, max: 10_000_000 },
  monthUsd: { min: 0.000001, max: 10_000_000 },
  timezone: { maxLength: 50 },
} as const;

export const CreateLabelSet = {
  criterion: { maxLength: 60, default: "result" },
  count: { min: 1, max: 2_000, default: 60 },
  seed: { min: 0, max: 9_007_199_254_740_992 },
  model: { maxLength: 200 },
  promptId: { maxLength: 200 },
  rescoreId: { maxLength: 64 },
  instructions: { maxLength: 10_000 },
  adjudicator: { maxLength: 200 },
} as const;

export const SaveLabel = {
  value: { options: ["pass", "fail", "skip", "1", "2", "3", "4", "5"] },
  note: { maxLength: 2_000 },
  labeller: { maxLength: 200 },
  verdictVisible: { default: false },
  criterion: { maxLength: 60, default: "result" },
  labelSetId: { maxLength: 200 },
} as const;

export const ExperimentFields = {
  name: { maxLength: 100 },
  hypothesis: { maxLength: 5_000 },
  nullHypothesis: { maxLength: 5_000 },
  description: { maxLength: 5_000 },
  direction: { options: ["HIGHER", "LOWER", "EQUIVALENT"] },
  target: { maxLength: 500 },
  metric: { options: ["DECISION", "PASS_RATE", "PASS_RATE_ERRORS_FAIL", "OTHER_RATE"] },
  minimumEffect: { above: 0, max: 4 },
  alpha: { min: 0.001, max: 0.2, default: 0.05 },
  independentVariable: { maxLength: 200 },
  controlledVariables: { maxItems: 50, maxItemLength: 200, default: [] },
  baselineRunId: { maxLength: 100 },
  tags: { maxItems: 50, maxItemLength: 200, default: [] },
} as const;

export const CreateDefinition = {
  name: { maxLength: 200 },
  folder: { maxLength: 200 },
  tags: { maxItems: 50, maxItemLength: 100 },
  scenarios: { maxItems: 1_000 },
  versionLabel: { maxLength: 100 },
} as const;
