import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { useIsAdmin } from "../../api/role";
import { providersQuery } from "../../api/system";
import type { Provider } from "../../api/types";
import { formatCount, visible } from "../../lib/format";
import { stateOf } from "../../lib/provider_state";
import { Field } from "../../ui/field";
import { FigureHeader } from "../../ui/figure_header";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";
import { SystemTabs } from "./system_tabs";

export function Providers() {
  const query = useQuery(providersQuery);
  const isAdmin = useIsAdmin();
  return (
    <>
      <title>Providers · Cupel</title>
      <h1>Providers</h1>
      <SystemTabs />
      {query.isPending && <Loading what="providers" />}
      {query.isError && <Failure error={query.error} what="Providers" retry={() => void query.refetch()} />}
      {query.data && <Table providers={query.data} />}
      {query.data && isAdmin && <OwnServer />}
    </>
  );
}

function Table({ providers }: { providers: readonly Provider[] }) {
  const limit = (value: number | null) => (value === null ? "no limit" : formatCount(value));
  return (
    <ScrollRegion label="Providers">
      <table>
        <thead>
          <tr>
            <th scope="col">Provider</th>
            <th scope="col">State</th>
            <th scope="col">Address</th>
            <FigureHeader>Parallel requests</FigureHeader>
            <FigureHeader>Requests per minute</FigureHeader>
            <FigureHeader>Tokens per minute</FigureHeader>
            <FigureHeader>Own prices</FigureHeader>
          </tr>
        </thead>
        <tbody>
          {providers.map((each) => (
            <tr key={each.name}>
              <th scope="row" className={page.name}>
                <Link to="/providers/$name" params={{ name: each.name }}>
                  {visible(each.title)}
                </Link>
                <small>{visible(each.name)}</small>
              </th>
              <td>
                <span className={page.state} data-ready={stateOf(each) === "ready"}>
                  <span aria-hidden="true">{stateOf(each) === "ready" ? "✓" : "–"}</span> {stateOf(each)}
                </span>
              </td>
              <td className={page.name}>{visible(each.baseUrl)}</td>
              <td className="figure">{formatCount(each.maxParallelRequests)}</td>
              <td className="figure">{limit(each.requestsPerMinute)}</td>
              <td className="figure">{limit(each.tokensPerMinute)}</td>
              <td className="figure">{each.prices.length > 0 ? formatCount(each.prices.length) : "none"}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}

const NAME = /^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/;

/** Adds a server with the wire format of OpenAI, which is a provider as soon as it has an address. */
function OwnServer() {
  const navigate = useNavigate();
  const [name, setName] = useState("");
  const isValid = NAME.test(name);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid) void navigate({ to: "/providers/$name", params: { name: `custom-${name}` } });
  };
  return (
    <div className={page.apart}>
      <Section title="A server of your own">
        <form className={page.form} onSubmit={submit}>
          <Field
            label="Name"
            id="own-name"
            error={
              name !== "" && !isValid ? "Lower-case letters, digits and inner hyphens, 40 at most" : null
            }
            note="Any server with OpenAI's chat completions; its models are custom-<name>/<model>"
          >
            <input
              id="own-name"
              size={24}
              maxLength={40}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          </Field>
          <button type="submit" disabled={!isValid}>
            Set it up…
          </button>
        </form>
      </Section>
    </div>
  );
}
