import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError, api, ifMatch, read, readTagged } from "../../api/client";
import { personaQuery } from "../../api/resources";
import { useCanWrite } from "../../api/role";
import type { Persona, Schemas } from "../../api/types";
import { visible } from "../../lib/format";
import { changesOf, type HeadersChange, headersInput, issuesOf, parseLines } from "../../lib/forms";
import { DeleteResource } from "../../ui/delete_resource";
import { EditForm } from "../../ui/edit_form";
import { HeadersField } from "../../ui/headers_field";
import page from "../../ui/page.module.css";
import { PlainText } from "../../ui/plain_text";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";
import { TextField } from "../../ui/text_field";

const route = getRouteApi("/personas/$id");
const MAX_URLS_LENGTH = 20 * 2048;

export function PersonaPage() {
  const { id } = route.useParams();
  const canWrite = useCanWrite();
  const query = useQuery(personaQuery(id));
  if (query.isPending) return <Loading what="the persona" />;
  if (query.data === undefined)
    return <Failure error={query.error} what={`Persona ${visible(id)}`} retry={() => void query.refetch()} />;
  const { value: persona, etag } = query.data;
  return (
    <>
      <title>{`${visible(persona.name)} · Cupel`}</title>
      <p>
        <Link to="/personas">All personas</Link>
      </p>
      <h1>{visible(persona.name)}</h1>
      <p className={page.facts}>
        <code>{visible(persona.id)}</code>
        {persona.headerNames.length > 0 && <span>sends {visible(persona.headerNames.join(", "))}</span>}
      </p>
      {canWrite ? (
        <>
          <Section title="Settings">
            <EditPersona key={etag} persona={persona} etag={etag} reload={() => void query.refetch()} />
          </Section>
          <DeleteResource noun="persona" list="personas" remove={() => remove(persona.id)}>
            Runs that have started go on with it; nothing else can be started with it.
          </DeleteResource>
        </>
      ) : (
        <>
          <Section title="System prompt">
            <p>{visible(persona.description ?? "")}</p>
            <PlainText label="Text of the system prompt" text={persona.systemPrompt ?? "none"} />
          </Section>
          <HeaderAddresses urls={persona.connectorUrls} />
        </>
      )}
    </>
  );
}

const remove = (id: string) =>
  read(api.DELETE("/v1/personas/{persona_id}", { params: { path: { persona_id: id } } }));

function HeaderAddresses({ urls }: { urls: readonly string[] }) {
  if (urls.length === 0) return null;
  return (
    <Section title="Where its headers are sent">
      <ul className={page.list}>
        {urls.map((url) => (
          <li key={url}>
            <code>{visible(url)}</code>
          </li>
        ))}
      </ul>
    </Section>
  );
}

interface EditPersonaProps {
  persona: Persona;
  etag: string | null;
  reload: () => void;
}

function EditPersona({ persona, etag, reload }: EditPersonaProps) {
  const client = useQueryClient();
  const [name, setName] = useState(persona.name);
  const [description, setDescription] = useState(persona.description ?? "");
  const [prompt, setPrompt] = useState(persona.systemPrompt ?? "");
  const [headersChange, setHeaders] = useState<HeadersChange>({ kind: "keep" });
  const storedUrls = persona.connectorUrls.join("\n");
  const [urls, setUrls] = useState(storedUrls);
  const headers = headersInput(headersChange);
  const changes = {
    ...changesOf(persona, {
      name: name.trim(),
      description: description.trim() || null,
      systemPrompt: prompt.trim() || null,
    }),
    ...headers,
    // Headers and the addresses they are for are set together.
    ...((urls !== storedUrls || headers?.headers) && { connectorUrls: parseLines(urls) }),
  };
  const saving = useMutation({
    mutationFn: async ({ isOver }: { isOver: boolean }) => {
      const path = { persona_id: persona.id };
      const latest = async () =>
        (await readTagged(api.GET("/v1/personas/{persona_id}", { params: { path } }))).etag;
      await read(
        api.PATCH("/v1/personas/{persona_id}", {
          params: { path, header: ifMatch(isOver ? await latest() : etag) },
          body: changes as Schemas["UpdatePersona"],
        }),
      );
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["personas"] }),
    gcTime: 0,
  });
  const fields = saving.error instanceof ApiError ? saving.error.fields : [];
  const errorOf = (field: string) => issuesOf(fields, field)[0]?.message;
  return (
    <EditForm
      failure="The persona was not changed"
      isChanged={Object.keys(changes).length > 0 || headers === undefined}
      isValid={name.trim() !== "" && headers !== undefined}
      saving={saving}
      reload={reload}
    >
      <TextField
        label="Name"
        id="name"
        maxLength={100}
        value={name}
        error={errorOf("name")}
        onChange={setName}
      />
      <TextField
        label="Description"
        id="description"
        rows={2}
        maxLength={2000}
        value={description}
        error={errorOf("description")}
        onChange={setDescription}
      />
      <TextField
        label="System prompt"
        id="prompt"
        note="Instructions for the model that acts as this user"
        rows={10}
        maxLength={20000}
        value={prompt}
        error={errorOf("systemPrompt")}
        onChange={setPrompt}
      />
      <HeadersField
        stored={persona.headerNames}
        change={headersChange}
        set={setHeaders}
        issues={issuesOf(fields, "headers")}
      />
      <TextField
        label="Addresses of connectors that get its headers"
        id="urls"
        note="One a line; a new one needs the headers again"
        rows={3}
        maxLength={MAX_URLS_LENGTH}
        value={urls}
        error={errorOf("connectorUrls")}
        onChange={setUrls}
      />
    </EditForm>
  );
}
