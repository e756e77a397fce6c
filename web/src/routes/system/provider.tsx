import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, ifMatch, read } from "../../api/client";
import { UpdateProvider } from "../../api/limits";
import { useIsAdmin } from "../../api/role";
import { modelsOfQuery, providerQuery } from "../../api/system";
import type { Provider, Schemas } from "../../api/types";
import { formatUsd, UNKNOWN, visible } from "../../lib/format";
import { type Bounds, changesOf, parseWhole } from "../../lib/forms";
import { stateOf } from "../../lib/provider_state";
import { Field } from "../../ui/field";
import { FigureHeader } from "../../ui/figure_header";
import { More } from "../../ui/more";
import { NumberField, wholeNumberError } from "../../ui/number_field";
import page from "../../ui/page.module.css";
import { ScrollRegion } from "../../ui/scroll";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";

const route = getRouteApi("/providers/$name");
type Changes = Schemas["UpdateProvider"];

export function ProviderPage() {
  const { name } = route.useParams();
  const query = useQuery(providerQuery(name));
  if (query.isPending) return <Loading what="the provider" />;
  if (query.data === undefined) {
    return (
      <Failure error={query.error} what={`Provider ${visible(name)}`} retry={() => void query.refetch()} />
    );
  }
  const { value: provider, etag } = query.data;
  return (
    <>
      <title>{`${visible(provider.title)} · Cupel`}</title>
      <p>
        <Link to="/providers">All providers</Link>
      </p>
      <h1>{visible(provider.title)}</h1>
      <p className={page.facts}>
        <code>{visible(provider.name)}</code>
        <span>{stateOf(provider)}</span>
        {provider.hasKey && <span>an API key is stored</span>}
      </p>
      <Form key={etag} provider={provider} etag={etag} />
      <Prices provider={provider} />
      <Models name={name} />
    </>
  );
}

function Form({ provider, etag }: { provider: Provider; etag: string | null }) {
  const isAdmin = useIsAdmin();
  const client = useQueryClient();
  const [isEnabled, enable] = useState(provider.enabled);
  const [address, setAddress] = useState(provider.baseUrl);
  const [apiKey, setApiKey] = useState("");
  const [parallel, setParallel] = useState(String(provider.maxParallelRequests));
  const [requests, setRequests] = useState(String(provider.requestsPerMinute ?? ""));
  const [tokens, setTokens] = useState(String(provider.tokensPerMinute ?? ""));
  const save = useMutation({
    mutationFn: (body: Changes) =>
      read(
        api.PUT("/v1/providers/{name}", {
          params: { path: { name: provider.name }, header: ifMatch(etag) },
          body,
        }),
      ),
    onSuccess: () => {
      setApiKey("");
      void client.invalidateQueries({ queryKey: ["models"] });
      return client.invalidateQueries({ queryKey: ["providers"] });
    },
  });
  const limits = {
    maxParallelRequests: parseWhole(parallel, UpdateProvider.maxParallelRequests),
    requestsPerMinute: parseWhole(requests, UpdateProvider.requestsPerMinute),
    tokensPerMinute: parseWhole(tokens, UpdateProvider.tokensPerMinute),
  };
  const isValid =
    Object.values(limits).every((each) => each !== undefined) && limits.maxParallelRequests !== null;
  const changes = {
    ...changesOf(provider, { enabled: isEnabled, ...(limits as Partial<Provider>) }),
    ...(address.trim() !== provider.baseUrl && { baseUrl: address.trim() || null }),
    ...(apiKey && { apiKey }),
  };
  const isChanged = Object.keys(changes).length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid && isChanged) save.mutate(changes);
  };
  const isOwnAddress = provider.name !== "sim" && provider.name !== "connector";
  return (
    <Section title="Settings">
      <form className={page.form} onSubmit={submit}>
        {!isAdmin && <p className={page.note}>Changing providers needs the role admin.</p>}
        <label className={page.check}>
          <input
            type="checkbox"
            checked={isEnabled}
            disabled={!isAdmin}
            onChange={(event) => enable(event.target.checked)}
          />
          In use
        </label>
        {isOwnAddress && (
          <Field label="API key" id="key" note={keyNote(provider)}>
            <input
              id="key"
              type="password"
              autoComplete="off"
              spellCheck={false}
              size={40}
              disabled={!isAdmin}
              placeholder={provider.hasKey ? "stored; leave empty to keep it" : "none"}
              value={apiKey}
              onChange={(event) => setApiKey(event.target.value)}
            />
          </Field>
        )}
        {isOwnAddress && (
          <Field label="Address" id="address" note="If it changes, the key has to be entered again">
            <input
              id="address"
              type="url"
              size={48}
              maxLength={UpdateProvider.baseUrl.maxLength}
              disabled={!isAdmin}
              value={address}
              onChange={(event) => setAddress(event.target.value)}
            />
          </Field>
        )}
        <Limit
          label="Maximum parallel requests"
          id="parallel"
          value={parallel}
          change={setParallel}
          isWrong={typeof limits.maxParallelRequests !== "number"}
          bounds={UpdateProvider.maxParallelRequests}
          disabled={!isAdmin}
        />
        <Limit
          label="Maximum requests per minute"
          id="requests"
          value={requests}
          change={setRequests}
          isWrong={limits.requestsPerMinute === undefined}
          bounds={UpdateProvider.requestsPerMinute}
          disabled={!isAdmin}
        />
        <Limit
          label="Maximum tokens per minute"
          id="tokens"
          value={tokens}
          change={setTokens}
          isWrong={limits.tokensPerMinute === undefined}
          bounds={UpdateProvider.tokensPerMinute}
          disabled={!isAdmin}
        />
        {isAdmin && (
          <p className={page.bar} data-actions>
            <button type="submit" data-kind="primary" disabled={!isValid || !isChanged || save.isPending}>
              {save.isPending ? "Saving…" : "Save"}
            </button>
            {provider.hasKey && (
              <button type="button" disabled={save.isPending} onClick={() => save.mutate({ apiKey: null })}>
                Remove the key
              </button>
            )}
          </p>
        )}
        {save.isError && <Failure error={save.error} what="The provider was not changed" />}
      </form>
    </Section>
  );
}

function keyNote(provider: Provider): string {
  const kept = "It is stored as a secret and never shown.";
  return provider.needsKey ? kept : `Not every address needs one. ${kept}`;
}

interface LimitProps {
  label: string;
  id: string;
  value: string;
  change: (value: string) => void;
  isWrong: boolean;
  bounds: Bounds;
  disabled: boolean;
}

function Limit({ label, id, value, change, isWrong, bounds, disabled }: LimitProps) {
  const error = isWrong ? wholeNumberError(bounds) : null;
  return (
    <NumberField
      label={label}
      id={id}
      error={error}
      size={14}
      placeholder="no limit"
      disabled={disabled}
      value={value}
      change={change}
    />
  );
}

function Prices({ provider }: { provider: Provider }) {
  if (provider.prices.length === 0) return null;
  return (
    <Section title="Prices of this workspace">
      <p className={page.note}>They take precedence over the price list, in USD per million tokens.</p>
      <ScrollRegion label="Prices of this workspace">
        <table>
          <thead>
            <tr>
              <th scope="col">Model</th>
              <FigureHeader>Input</FigureHeader>
              <FigureHeader>Output</FigureHeader>
              <FigureHeader>Per call</FigureHeader>
            </tr>
          </thead>
          <tbody>
            {provider.prices.map((each) => (
              <tr key={each.model}>
                <th scope="row" className={page.name}>
                  {each.model === null ? "all others" : visible(each.model)}
                </th>
                <td className="figure">{formatUsd(each.inputUsdPerMillion)}</td>
                <td className="figure">{formatUsd(each.outputUsdPerMillion)}</td>
                <td className="figure">{formatUsd(each.usdPerCall)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  );
}

function Models({ name }: { name: string }) {
  const query = useInfiniteQuery(modelsOfQuery(name));
  const items = query.data?.pages.flatMap((each) => each.items) ?? [];
  return (
    <Section title="Models">
      {query.isPending && <Loading what="models" />}
      {query.isError && <Failure error={query.error} what="Models" retry={() => void query.refetch()} />}
      {query.isSuccess && items.length === 0 && (
        <p className={page.note}>None is listed; models of this provider can be named all the same.</p>
      )}
      {items.length > 0 && (
        <>
          <ScrollRegion label="Models">
            <table>
              <thead>
                <tr>
                  <th scope="col">Model</th>
                  <FigureHeader>Input, per million tokens</FigureHeader>
                  <FigureHeader>Output, per million tokens</FigureHeader>
                  <FigureHeader>Context, tokens</FigureHeader>
                </tr>
              </thead>
              <tbody>
                {items.map((each) => (
                  <tr key={each.id}>
                    <th scope="row" className={page.name}>
                      {visible(each.id)}
                    </th>
                    <td className="figure">{formatUsd(each.inputUsdPerMillion)}</td>
                    <td className="figure">{formatUsd(each.outputUsdPerMillion)}</td>
                    <td className="figure">{each.contextLength?.toLocaleString("en") ?? UNKNOWN}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrollRegion>
          <More query={query} shown={items.length} noun="model" />
        </>
      )}
    </Section>
  );
}
