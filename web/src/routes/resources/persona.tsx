import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, ifMatch, read, type Schemas } from "../../api/client";
import { type Persona, personaQuery } from "../../api/resources";
import { useCanWrite } from "../../api/role";
import { visible } from "../../lib/format";
import { changesOf } from "../../lib/forms";
import page from "../../ui/page.module.css";
import { PlainText } from "../../ui/plain_text";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";
import { TextField } from "../../ui/text_field";

const route = getRouteApi("/personas/$id");

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
        <Form key={etag} persona={persona} etag={etag} />
      ) : (
        <Section title="System prompt">
          <p>{visible(persona.description ?? "")}</p>
          <PlainText label="Text of the system prompt" text={persona.systemPrompt ?? "none"} />
        </Section>
      )}
      {persona.connectorUrls.length > 0 && (
        <Section title="Where its headers are sent">
          <ul className={page.list}>
            {persona.connectorUrls.map((url) => (
              <li key={url}>
                <code>{visible(url)}</code>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function Form({ persona, etag }: { persona: Persona; etag: string | null }) {
  const client = useQueryClient();
  const [name, setName] = useState(persona.name);
  const [description, setDescription] = useState(persona.description ?? "");
  const [prompt, setPrompt] = useState(persona.systemPrompt ?? "");
  const save = useMutation({
    mutationFn: (body: Schemas["UpdatePersona"]) =>
      read(
        api.PATCH("/v1/personas/{persona_id}", {
          params: { path: { persona_id: persona.id }, header: ifMatch(etag) },
          body,
        }),
      ),
    onSuccess: () => client.invalidateQueries({ queryKey: ["personas"] }),
  });
  const changes = changesOf(persona, {
    name: name.trim(),
    description: description.trim() || null,
    systemPrompt: prompt.trim() || null,
  });
  const isValid = name.trim() !== "" && Object.keys(changes).length > 0;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid) save.mutate(changes);
  };
  return (
    <Section title="Settings">
      <form className={page.form} onSubmit={submit}>
        <TextField label="Name" id="name" maxLength={100} value={name} onChange={setName} />
        <TextField
          label="Description"
          id="description"
          rows={2}
          maxLength={2000}
          value={description}
          onChange={setDescription}
        />
        <TextField
          label="System prompt"
          id="prompt"
          note="What the model that plays this user is told"
          rows={10}
          maxLength={20000}
          value={prompt}
          onChange={setPrompt}
        />
        <button type="submit" data-kind="primary" disabled={!isValid || save.isPending}>
          {save.isPending ? "Saving…" : "Save"}
        </button>
        {save.isError && <Failure error={save.error} what="The persona was not changed" />}
      </form>
    </Section>
  );
}
