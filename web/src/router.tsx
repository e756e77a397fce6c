import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { firstBlockQuery } from "./api/probes";
import { runQuery } from "./api/queries";
import { readToken } from "./api/session";
import { basePath } from "./lib/base";
import {
  chatSearch,
  compareSearch,
  definitionSearch,
  definitionsSearch,
  experimentSearch,
  loginSearch,
  newSearch,
  reportSearch,
  resultsSearch,
  runSearch,
  runsSearch,
  scenariosSearch,
  versionSearch,
} from "./lib/search";
import { Shell } from "./ui/shell";
import { BrokenScreen, NotFound } from "./ui/states";

interface Context {
  client: QueryClient;
}

const root = createRootRouteWithContext<Context>()({
  component: Shell,
  notFoundComponent: () => <NotFound what="This page" />,
});

/** Requires a token, which every route but the login needs. */
function requireToken({ location }: { location: { href: string } }): void {
  if (readToken() === null) throw redirect({ to: "/login", search: { to: location.href } });
}

/** Requests a run while the script of its screen is loaded; the screen shows errors. */
function askForRun(client: QueryClient, id: string): void {
  client.ensureQueryData(runQuery(id)).catch(() => undefined);
}

/** Does the same with the figures of its first conversations. */
async function askForFirstBlock(client: QueryClient, id: string): Promise<void> {
  const run = await client.ensureQueryData(runQuery(id)).catch(() => undefined);
  if (run !== undefined && run.progress.total > 0) await client.prefetchQuery(firstBlockQuery(id));
}

const index = createRoute({
  getParentRoute: () => root,
  path: "/",
  beforeLoad: () => {
    throw redirect({ to: "/runs" });
  },
});
const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: loginSearch,
  component: lazyRouteComponent(() => import("./routes/login"), "Login"),
});
const runs = createRoute({
  getParentRoute: () => root,
  path: "/runs",
  beforeLoad: requireToken,
  validateSearch: runsSearch,
  component: lazyRouteComponent(() => import("./routes/runs"), "Runs"),
});
const newRun = createRoute({
  getParentRoute: () => root,
  path: "/new",
  beforeLoad: requireToken,
  validateSearch: newSearch,
  component: lazyRouteComponent(() => import("./routes/new_run/new_run"), "NewRun"),
});
const newScaleRun = createRoute({
  getParentRoute: () => root,
  path: "/new/scale",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/new_run/scale_run"), "NewScaleRun"),
});
const playground = createRoute({
  getParentRoute: () => root,
  path: "/playground",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/playground/playground"), "PlaygroundPage"),
});
const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$id",
  beforeLoad: requireToken,
  validateSearch: runSearch,
  loaderDeps: ({ search: { label } }) => ({ label }),
  // Who labels may have no right to read the run.
  loader: ({ context, params, deps }) => {
    if (deps.label === undefined) askForRun(context.client, params.id);
  },
  staleTime: Number.POSITIVE_INFINITY,
  component: lazyRouteComponent(() => import("./routes/run"), "RunPage"),
});
const results = createRoute({
  getParentRoute: () => run,
  path: "/",
  validateSearch: resultsSearch,
  loader: ({ context, params }) => void askForFirstBlock(context.client, params.id),
  staleTime: Number.POSITIVE_INFINITY,
  component: lazyRouteComponent(() => import("./routes/results/results"), "ResultsPage"),
});
const analysis = createRoute({
  getParentRoute: () => run,
  path: "/analysis",
  component: lazyRouteComponent(() => import("./routes/analysis/analysis"), "AnalysisPage"),
});
const judge = createRoute({
  getParentRoute: () => run,
  path: "/judge",
  component: lazyRouteComponent(() => import("./routes/judge/judge"), "JudgePage"),
});
const history = createRoute({
  getParentRoute: () => run,
  path: "/history",
  component: lazyRouteComponent(() => import("./routes/history"), "HistoryPage"),
});
const runSettings = createRoute({
  getParentRoute: () => run,
  path: "/settings",
  component: lazyRouteComponent(() => import("./routes/run_settings"), "RunSettings"),
});
const report = createRoute({
  getParentRoute: () => run,
  path: "/report",
  validateSearch: reportSearch,
  component: lazyRouteComponent(() => import("./routes/report/report"), "ReportPage"),
});
const definitions = createRoute({
  getParentRoute: () => root,
  path: "/definitions",
  beforeLoad: requireToken,
  validateSearch: definitionsSearch,
  component: lazyRouteComponent(() => import("./routes/definitions/definitions"), "Definitions"),
});
const importDefinitions = createRoute({
  getParentRoute: () => root,
  path: "/definitions/import",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/definitions/import"), "ImportDefinitions"),
});
const definition = createRoute({
  getParentRoute: () => root,
  path: "/definitions/$id",
  beforeLoad: requireToken,
  validateSearch: definitionSearch,
  component: lazyRouteComponent(() => import("./routes/definitions/definition"), "DefinitionPage"),
});
const definitionContent = createRoute({
  getParentRoute: () => definition,
  path: "/",
  component: lazyRouteComponent(() => import("./routes/definitions/content"), "DefinitionContents"),
});
const scenarios = createRoute({
  getParentRoute: () => definition,
  path: "/scenarios",
  validateSearch: scenariosSearch,
  component: lazyRouteComponent(() => import("./routes/definitions/scenarios"), "DefinitionScenarios"),
});
const editScenario = createRoute({
  getParentRoute: () => definition,
  path: "/scenarios/$scenario",
  component: lazyRouteComponent(() => import("./routes/definitions/edit_scenario"), "EditScenario"),
});
const changes = createRoute({
  getParentRoute: () => definition,
  path: "/changes",
  component: lazyRouteComponent(() => import("./routes/definitions/changes"), "DefinitionChanges"),
});
const editDefinition = createRoute({
  getParentRoute: () => definition,
  path: "/edit",
  component: lazyRouteComponent(() => import("./routes/definitions/edit"), "EditDefinition"),
});
const newDefinition = createRoute({
  getParentRoute: () => root,
  path: "/definitions/new",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/definitions/new_definition"), "NewDefinition"),
});
const settings = createRoute({
  getParentRoute: () => root,
  path: "/settings",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/system/settings"), "SettingsPage"),
});
const workspaceBudgets = createRoute({
  getParentRoute: () => root,
  path: "/settings/budgets",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/system/budgets"), "WorkspaceBudgets"),
});
const tokens = createRoute({
  getParentRoute: () => root,
  path: "/settings/tokens",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/system/tokens"), "Tokens"),
});
const providers = createRoute({
  getParentRoute: () => root,
  path: "/providers",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/system/providers"), "Providers"),
});
const provider = createRoute({
  getParentRoute: () => root,
  path: "/providers/$name",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/system/provider"), "ProviderPage"),
});
const queue = createRoute({
  getParentRoute: () => root,
  path: "/queue",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/system/queue"), "QueuePage"),
});
const experiments = createRoute({
  getParentRoute: () => root,
  path: "/experiments",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/experiments/experiments"), "Experiments"),
});
const experiment = createRoute({
  getParentRoute: () => root,
  path: "/experiments/$id",
  beforeLoad: requireToken,
  validateSearch: experimentSearch,
  component: lazyRouteComponent(() => import("./routes/experiments/experiment"), "ExperimentPage"),
});
const evals = createRoute({
  getParentRoute: () => root,
  path: "/evals",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/resources/evals"), "Evals"),
});
const evalRoute = createRoute({
  getParentRoute: () => root,
  path: "/evals/$id",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/resources/eval"), "EvalPage"),
});
const editEval = createRoute({
  getParentRoute: () => root,
  path: "/evals/$id/edit",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/resources/edit_eval"), "EditEval"),
});
const schedules = createRoute({
  getParentRoute: () => root,
  path: "/schedules",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/resources/schedules"), "Schedules"),
});
const schedule = createRoute({
  getParentRoute: () => root,
  path: "/schedules/$id",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/resources/edit_schedule"), "EditSchedule"),
});
const personas = createRoute({
  getParentRoute: () => root,
  path: "/personas",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/resources/personas"), "Personas"),
});
const persona = createRoute({
  getParentRoute: () => root,
  path: "/personas/$id",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/resources/persona"), "PersonaPage"),
});
const connectors = createRoute({
  getParentRoute: () => root,
  path: "/connectors",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/resources/connectors"), "Connectors"),
});
const connector = createRoute({
  getParentRoute: () => root,
  path: "/connectors/$id",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/resources/connector"), "ConnectorPage"),
});

const chats = createRoute({
  getParentRoute: () => root,
  path: "/chats",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/chats/chats"), "Chats"),
});
const chat = createRoute({
  getParentRoute: () => root,
  path: "/chats/$id",
  beforeLoad: requireToken,
  validateSearch: chatSearch,
  component: lazyRouteComponent(() => import("./routes/chats/chat"), "ChatPage"),
});
const profiles = createRoute({
  getParentRoute: () => root,
  path: "/profiles",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/profiles/profiles"), "Profiles"),
});
const newProfile = createRoute({
  getParentRoute: () => root,
  path: "/profiles/new",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/profiles/new_profile"), "NewProfile"),
});
const profile = createRoute({
  getParentRoute: () => root,
  path: "/profiles/$id",
  beforeLoad: requireToken,
  validateSearch: versionSearch,
  component: lazyRouteComponent(() => import("./routes/profiles/profile"), "ProfilePage"),
});

const compare = createRoute({
  getParentRoute: () => root,
  path: "/compare",
  beforeLoad: requireToken,
  validateSearch: compareSearch,
  component: lazyRouteComponent(() => import("./routes/compare/compare"), "ComparePage"),
});

const tree = root.addChildren([
  index,
  login,
  runs,
  newRun,
  newScaleRun,
  playground,
  run.addChildren([results, analysis, judge, report, history, runSettings]),
  compare,
  definitions,
  importDefinitions,
  newDefinition,
  definition.addChildren([definitionContent, scenarios, editScenario, changes, editDefinition]),
  settings,
  workspaceBudgets,
  tokens,
  providers,
  provider,
  queue,
  experiments,
  experiment,
  evals,
  evalRoute,
  editEval,
  schedules,
  schedule,
  personas,
  persona,
  connectors,
  connector,
  chats,
  chat,
  profiles,
  newProfile,
  profile,
]);

export function makeRouter(client: QueryClient) {
  return createRouter({
    routeTree: tree,
    basepath: basePath,
    context: { client },
    defaultPreload: false,
    defaultErrorComponent: BrokenScreen,
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
  interface HistoryState {
    refusal?: string;
    /** Another tab has asked for the sign-in, and continues it. */
    isElsewhere?: true;
  }
}
