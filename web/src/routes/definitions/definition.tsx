import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet, useNavigate } from "@tanstack/react-router";
import { definitionQuery } from "../../api/definitions";
import { useCanWrite } from "../../api/role";
import type { Definition } from "../../api/types";
import { ownTags } from "../../lib/definition_tags";
import { counted, formatAgo, visible } from "../../lib/format";
import { useNow } from "../../ui/now";
import page from "../../ui/page.module.css";
import { Failure, Loading } from "../../ui/states";
import { DefinitionActions } from "./definition_actions";

const route = getRouteApi("/definitions/$id");

/** Returns the definition that the address names, at its version. */
export function useDefinition() {
  const { id } = route.useParams();
  return useQuery(definitionQuery(id, route.useSearch().v));
}

export function DefinitionPage() {
  const { id } = route.useParams();
  const { v } = route.useSearch();
  const canWrite = useCanWrite();
  const query = useDefinition();
  if (query.isPending) return <Loading what="the definition" />;
  if (query.data === undefined) {
    const what = v === undefined ? `Definition ${visible(id)}` : `Version ${v} of definition ${visible(id)}`;
    return <Failure error={query.error} what={what} retry={() => void query.refetch()} />;
  }
  const search = v === undefined ? {} : { v };
  return (
    <>
      <Head definition={query.data} />
      <nav className={page.tabs} aria-label="Definition">
        <Link
          to="/definitions/$id"
          params={{ id }}
          search={search}
          activeOptions={{ exact: true, includeSearch: false }}
        >
          Content
        </Link>
        <Link
          to="/definitions/$id/scenarios"
          params={{ id }}
          search={search}
          activeOptions={{ includeSearch: false }}
        >
          Scenarios
        </Link>
        <Link
          to="/definitions/$id/changes"
          params={{ id }}
          search={search}
          activeOptions={{ includeSearch: false }}
        >
          Changes
        </Link>
        {canWrite && (
          <Link to="/definitions/$id/edit" params={{ id }} activeOptions={{ includeSearch: false }}>
            Edit
          </Link>
        )}
      </nav>
      <Outlet />
    </>
  );
}

function Head({ definition }: { definition: Definition }) {
  const now = useNow();
  const canWrite = useCanWrite();
  const name = visible(definition.name);
  return (
    <header className={page.head}>
      <title>{`${name} · Cupel`}</title>
      <div>
        <h1>{name}</h1>
        <p className={page.facts}>
          <Version definition={definition} />
          {definition.versionLabel && <span>“{visible(definition.versionLabel)}”</span>}
          <span>{counted(definition.scenarioCount, "scenario")}</span>
          <span title={new Date(definition.updatedAt).toLocaleString()}>
            changed {formatAgo(definition.updatedAt, now)}
          </span>
          {definition.parentId && (
            <span>
              a fork of{" "}
              <Link
                to="/definitions/$id"
                params={{ id: definition.parentId }}
                search={definition.parentVersion === null ? {} : { v: definition.parentVersion }}
              >
                version {definition.parentVersion} of another
              </Link>
            </span>
          )}
          <Link to="/runs" search={{ definition: definition.id }}>
            Runs of it
          </Link>
          {ownTags(definition.tags).map((tag) => (
            <Link key={tag} to="/definitions" search={{ tag }}>
              {visible(tag)}
            </Link>
          ))}
        </p>
      </div>
      <div className={page.bar} data-actions>
        {canWrite && (
          <Link to="/new" search={{ definition: definition.id }} className={page.action}>
            New run
          </Link>
        )}
        <DefinitionActions definition={definition} />
      </div>
    </header>
  );
}

/** Versions are numbered from 1 and never deleted, so the latest names all of them. */
function Version({ definition }: { definition: Definition }) {
  const navigate = useNavigate();
  const latest = useQuery(definitionQuery(definition.id));
  const newest = Math.max(definition.version, latest.data?.version ?? 1);
  return (
    <span>
      <label htmlFor="version">Version</label>{" "}
      <select
        id="version"
        value={definition.version}
        onChange={(event) => {
          const chosen = Number(event.target.value);
          void navigate({ to: ".", search: chosen === newest ? {} : { v: chosen } });
        }}
      >
        {Array.from({ length: newest }, (_, index) => newest - index).map((version) => (
          <option key={version} value={version}>
            {version}
            {version === newest && " (latest)"}
          </option>
        ))}
      </select>
    </span>
  );
}
