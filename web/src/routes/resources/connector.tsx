import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { api, read } from "../../api/client";
import { connectorQuery } from "../../api/resources";
import { useCanWrite } from "../../api/role";
import type { Schemas } from "../../api/types";
import { asText } from "../../lib/definitions";
import { formatMs, visible } from "../../lib/format";
import { DeleteResource } from "../../ui/delete_resource";
import page from "../../ui/page.module.css";
import { PlainText } from "../../ui/plain_text";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";
import { EditConnector } from "./edit_connector";

const route = getRouteApi("/connectors/$id");

export function ConnectorPage() {
  const { id } = route.useParams();
  const canWrite = useCanWrite();
  const query = useQuery(connectorQuery(id));
  if (query.isPending) return <Loading what="the connector" />;
  if (query.data === undefined)
    return (
      <Failure error={query.error} what={`Connector ${visible(id)}`} retry={() => void query.refetch()} />
    );
  const { value: connector, etag } = query.data;
  const config = asText(connector.config);
  return (
    <>
      <title>{`${visible(connector.name)} · Cupel`}</title>
      <p>
        <Link to="/connectors">All connectors</Link>
      </p>
      <h1>{visible(connector.name)}</h1>
      <p className={page.facts}>
        <span>protocol {connector.type}</span>
        <code>{visible(connector.baseUrl)}</code>
        {connector.headerNames.length > 0 && (
          <span>sends {visible(connector.headerNames.join(", "))}; their values are never shown</span>
        )}
      </p>
      {canWrite && <Test id={connector.id} />}
      <Section title="Settings">
        {canWrite ? (
          <EditConnector key={etag} connector={connector} etag={etag} reload={() => void query.refetch()} />
        ) : (
          <PlainText label="Settings of the protocol" text={config || "none"} isCode />
        )}
      </Section>
      {canWrite && (
        <DeleteResource noun="connector" list="connectors" remove={() => remove(connector.id)}>
          Runs that have started go on with it; nothing else can be started with it.
        </DeleteResource>
      )}
    </>
  );
}

const remove = (id: string) =>
  read(api.DELETE("/v1/connectors/{connector_id}", { params: { path: { connector_id: id } } }));

/** Calls the agent once, with its protocol's shortest message. */
function Test({ id }: { id: string }) {
  const test = useMutation({
    mutationFn: () =>
      read(api.POST("/v1/connectors/{connector_id}/test", { params: { path: { connector_id: id } } })),
  });
  return (
    <Section title="Test">
      <p className={page.bar} data-actions>
        <button type="button" disabled={test.isPending} onClick={() => test.mutate()}>
          {test.isPending ? "Calling…" : "Call it once"}
        </button>
      </p>
      {test.isError && <Failure error={test.error} what="The test" />}
      {test.data && <Outcome result={test.data} />}
    </Section>
  );
}

function Outcome({ result }: { result: Schemas["ConnectorTestResult"] }) {
  return (
    <div role="status">
      <p>
        {result.ok ? "✓ It replied" : "! It did not reply"} after {formatMs(result.latencyMs)}.
      </p>
      <PlainText label="Reply" text={result.reply ?? result.error ?? ""} />
    </div>
  );
}
