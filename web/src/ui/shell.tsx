import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouterState } from "@tanstack/react-router";
import { LogOut, type LucideIcon, Moon, Sun, SunMoon } from "lucide-react";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { sessionQuery } from "../api/queries";
import { forgetToken, readToken } from "../api/session";
import { IconButton } from "./icon_button";
import { forgetForm } from "./kept";
import { Mark } from "./mark";
import { PageKeys } from "./page_keys";
import { SessionEnded } from "./session_ended";
import styles from "./shell.module.css";
import { Loading } from "./states";

const THEMES = ["system", "light", "dark"] as const;
type Theme = (typeof THEMES)[number];
const THEME_ICONS: Record<Theme, LucideIcon> = { system: SunMoon, light: Sun, dark: Moon };
const THEME_KEY = "cupel.theme";

function storedTheme(): Theme {
  return THEMES.find((each) => each === localStorage.getItem(THEME_KEY)) ?? "system";
}

export function applyTheme(theme: Theme = storedTheme()): void {
  if (theme === "system") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

function ThemeChoice() {
  const [theme, setTheme] = useState(storedTheme);
  useEffect(() => {
    localStorage.setItem(THEME_KEY, theme);
    applyTheme(theme);
  }, [theme]);
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "system";
  return (
    <IconButton
      label={`Theme: ${theme}, change to ${next}`}
      icon={THEME_ICONS[theme]}
      act={() => setTheme(next)}
    />
  );
}

function SessionLine() {
  const navigate = useNavigate();
  const client = useQueryClient();
  const { data } = useQuery({ ...sessionQuery, enabled: readToken() !== null });
  if (!data) return null;
  const signOut = () => {
    forgetToken();
    forgetForm();
    client.clear();
    void navigate({ to: "/login" });
  };
  return (
    <span className={styles.session}>
      <span className={styles.who} title={data.name ?? data.tokenId}>
        {data.workspace} · {data.role}
      </span>
      <IconButton label="Sign out" icon={LogOut} act={signOut} />
    </span>
  );
}

/** These screens belong to a link of the navigation besides the one that it leads to. */
const BELOW = {
  "/chats": /^\/profiles/,
  "/evals": /^\/(schedules|personas|connectors)/,
  "/settings": /^\/providers/,
} as const;

function Navigation() {
  const element = useRef<HTMLElement>(null);
  const path = useRouterState({ select: (state) => state.location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the link of another path is in another place
  useEffect(() => {
    const current = element.current?.querySelector("[aria-current='page'], [data-current='true']");
    current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [path]);
  return (
    <nav ref={element} aria-label="Main">
      <Link to="/runs" activeOptions={{ includeSearch: false }}>
        Runs
      </Link>
      <Link to="/new">New run</Link>
      <Link to="/playground">Playground</Link>
      <Link to="/compare" activeOptions={{ includeSearch: false }}>
        Compare
      </Link>
      <Link to="/definitions" activeOptions={{ includeSearch: false }}>
        Definitions
      </Link>
      <Link to="/experiments">Experiments</Link>
      <Link to="/chats" data-current={BELOW["/chats"].test(path)}>
        Chats
      </Link>
      <Link to="/evals" data-current={BELOW["/evals"].test(path)}>
        Resources
      </Link>
      <Link to="/queue">Queue</Link>
      <Link to="/settings" data-current={BELOW["/settings"].test(path)}>
        Settings
      </Link>
    </nav>
  );
}

const LabellerPage = lazy(() =>
  import("../routes/labelling/labeller").then((each) => ({ default: each.LabellerPage })),
);

/** Shows the screen of the address; to labellers, who may read no other, the one where they label. */
function Screen({ isLabeller }: { isLabeller: boolean }) {
  const path = useRouterState({ select: (state) => state.location.pathname });
  if (!isLabeller || path === "/login") return <Outlet />;
  return (
    <Suspense fallback={<Loading what="the transcripts" />}>
      <LabellerPage />
    </Suspense>
  );
}

export function Shell() {
  const isSignedIn = readToken() !== null;
  const session = useQuery({ ...sessionQuery, enabled: isSignedIn });
  const isLabeller = isSignedIn && session.data?.role === "labeller";
  return (
    <>
      <a className={styles.skip} href="#content">
        Skip to the content
      </a>
      <header className={styles.header}>
        <Link to="/runs" className={styles.name}>
          <Mark />
          <span>Cupel</span>
        </Link>
        {isSignedIn && !isLabeller && <Navigation />}
        <span className={styles.right}>
          {isSignedIn && <PageKeys />}
          <SessionLine />
          <ThemeChoice />
        </span>
      </header>
      <main id="content" className={styles.main} tabIndex={-1}>
        <Screen isLabeller={isLabeller} />
      </main>
      <SessionEnded />
    </>
  );
}
