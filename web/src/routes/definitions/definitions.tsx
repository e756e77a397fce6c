import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { definitionListQuery } from "../../api/definitions";
import { useCanWrite } from "../../api/role";
import type { DefinitionSummary } from "../../api/types";
import { ownTags } from "../../lib/definition_tags";
import { formatAgo, visible } from "../../lib/format";
import { FigureHeader } from "../../ui/figure_header";
import { More } from "../../ui/more";
import { useNow } from "../../ui/now";
import page from "../../ui/page.module.css";
import { SampleButton } from "../../ui/sample_button";
import { ScrollRegion } from "../../ui/scroll";
import { Empty, Failure, Loading } from "../../ui/states";
import { TextFilter } from "../../ui/text_filter";

const route = getRouteApi("/definitions");

export function Definitions() {
  const search = route.useSearch();
  const canWrite = useCanWrite();
  const query = useInfiniteQuery(definitionListQuery(search));
  const items = query.data?.pages.flatMap((each) => each.items) ?? [];
  return (
    <>
      <title>Definitions · Cupel</title>
      <div className={page.head}>
        <h1>Definitions</h1>
        {canWrite && (
          <div className={page.bar} data-actions>
            <Link to="/definitions/import">Import…</Link>
            <Link to="/definitions/new" className={page.action}>
              New definition
            </Link>
          </div>
        )}
      </div>
      <Filters />
      {query.isPending && <Loading what="definitions" />}
      {query.isError && <Failure error={query.error} what="Definitions" retry={() => void query.refetch()} />}
      {query.isSuccess && items.length === 0 && <None isFiltered={Object.keys(search).length > 0} />}
      {items.length > 0 && (
        <>
          <ScrollRegion label="Definitions">
            <Table items={items} />
          </ScrollRegion>
          <More query={query} shown={items.length} noun="definition" />
        </>
      )}
    </>
  );
}

function Filters() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  return (
    <search className={page.filters}>
      <TextFilter
        label="Name contains"
        value={search.name}
        change={(name) => void navigate({ search: (old) => ({ ...old, name }), replace: true })}
      />
      {(["folder", "tag"] as const).map(
        (name) =>
          search[name] !== undefined && (
            <button
              key={name}
              type="button"
              onClick={() => void navigate({ search: (old) => ({ ...old, [name]: undefined }) })}
            >
              {name} {visible(search[name])} <span aria-hidden="true">✕</span>
              <span className="hidden-text">, remove this filter</span>
            </button>
          ),
      )}
    </search>
  );
}

function Table({ items }: { items: readonly DefinitionSummary[] }) {
  const now = useNow();
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">Name</th>
          <th scope="col">Folder</th>
          <th scope="col">Tags</th>
          <FigureHeader>Version</FigureHeader>
          <FigureHeader>Changed</FigureHeader>
          <th scope="col">Runs</th>
        </tr>
      </thead>
      <tbody>
        {items.map((each) => (
          <tr key={each.id}>
            <th scope="row" className={page.name}>
              <Link to="/definitions/$id" params={{ id: each.id }}>
                {visible(each.name)}
              </Link>
              {each.parentId !== null && <small>a fork</small>}
            </th>
            <td>
              {each.folder !== null && (
                <Link to="/definitions" search={{ folder: each.folder }}>
                  {visible(each.folder)}
                </Link>
              )}
            </td>
            <td>
              <span className={page.tags}>
                {ownTags(each.tags).map((tag) => (
                  <Link key={tag} to="/definitions" search={{ tag }}>
                    {visible(tag)}
                  </Link>
                ))}
              </span>
            </td>
            <td className="figure">{each.version}</td>
            <td className="figure" title={new Date(each.updatedAt).toLocaleString()}>
              {formatAgo(each.updatedAt, now)}
            </td>
            <td>
              <Link to="/runs" search={{ definition: each.id }} aria-label={`Runs of ${visible(each.name)}`}>
                Runs
              </Link>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function None({ isFiltered }: { isFiltered: boolean }) {
  const canWrite = useCanWrite();
  if (isFiltered) {
    return (
      <Empty title="No definition matches">
        <p>
          <Link to="/definitions" search={{}}>
            Show all definitions
          </Link>
        </p>
      </Empty>
    );
  }
  if (!canWrite) {
    return (
      <Empty title="No definitions yet">
        <p>
          A definition says what is evaluated: prompts, scenarios, and how answers are read. Creating one
          needs the role member or admin.
        </p>
      </Empty>
    );
  }
  return (
    <Empty title="No definitions yet">
      <p>
        A definition says what is evaluated: prompts, scenarios, and how answers are read. Three ways to get
        one:
      </p>
      <ul>
        <li>
          <Link to="/definitions/new">Write</Link> one
        </li>
        <li>
          <Link to="/definitions/import">Import</Link> an evaluation of promptfoo, Inspect or OpenAI evals, or
          a table of cases
        </li>
        <li>
          the sample, with simulated models, which cost nothing: <SampleButton />
        </li>
      </ul>
    </Empty>
  );
}
