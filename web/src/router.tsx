import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  redirect,
} from "@tanstack/react-router";
import { readToken } from "./api/session";
import { basePath } from "./lib/base";
import { loginSearch, newSearch, runsSearch, transcriptsSearch } from "./lib/search";
import { Shell } from "./ui/shell";
import { NotFound } from "./ui/states";

interface Context {
  client: QueryClient;
}

const root = createRootRouteWithContext<Context>()({
  component: Shell,
  notFoundComponent: () => <NotFound what="This page" />,
});

/** Every route but the login needs a token. */
function requireToken({ location }: { location: { href: string } }): void {
  if (readToken() === null) throw redirect({ to: "/login", search: { to: location.href } });
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
  component: lazyRouteComponent(() => import("./routes/new_run"), "NewRun"),
});
const run = createRoute({
  getParentRoute: () => root,
  path: "/runs/$id",
  beforeLoad: requireToken,
  component: lazyRouteComponent(() => import("./routes/run"), "RunPage"),
});
const overview = createRoute({
  getParentRoute: () => run,
  path: "/",
  component: lazyRouteComponent(() => import("./routes/overview"), "Overview"),
});
const transcripts = createRoute({
  getParentRoute: () => run,
  path: "/transcripts",
  validateSearch: transcriptsSearch,
  component: lazyRouteComponent(() => import("./routes/transcripts"), "Transcripts"),
});
const analysis = createRoute({
  getParentRoute: () => run,
  path: "/analysis",
  component: lazyRouteComponent(() => import("./routes/analysis"), "AnalysisPage"),
});

const tree = root.addChildren([
  index,
  login,
  runs,
  newRun,
  run.addChildren([overview, transcripts, analysis]),
]);

export function makeRouter(client: QueryClient) {
  return createRouter({
    routeTree: tree,
    basepath: basePath,
    context: { client },
    defaultPreload: false,
    scrollRestoration: true,
  });
}

declare module "@tanstack/react-router" {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
  interface HistoryState {
    refusal?: string;
  }
}
