import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api, read, type Schemas } from "../../api/client";
import { useCanWrite } from "../../api/role";
import { parseHeaders, parseObject } from "../../lib/forms";
import { Field } from "../../ui/field";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import { TextField } from "../../ui/text_field";

type Type = Schemas["ConnectorType"];
const TYPES: Record<Type, readonly [string, string]> = {
  openai: ["OpenAI's chat completions", '{"model": "my-agent"}'],
  langgraph: ["LangGraph server", '{"assistantId": "my-agent"}'],
  http: ["plain JSON over HTTP", '{"request": "{text: message}", "reply": "answer"}'],
  tools: ["executes the calls of tools", "{}"],
};

export function NewConnector() {
  const canWrite = useCanWrite();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [type, setType] = useState<Type>("openai");
  const [address, setAddress] = useState("");
  const [config, setConfig] = useState("");
  const [headers, setHeaders] = useState("");
  const [key] = useState(() => crypto.randomUUID());
  const settings = parseObject(config);
  const sent = parseHeaders(headers);
  const create = useMutation({
    mutationFn: () =>
      read(
        api.POST("/v1/connectors", {
          params: { header: { "Idempotency-Key": key } },
          body: {
            name: name.trim(),
            type,
            baseUrl: address.trim(),
            config: settings ?? {},
            headers: sent ?? {},
          },
        }),
      ),
    onSuccess: async (made) => {
      setHeaders("");
      await client.invalidateQueries({ queryKey: ["connectors"] });
      await navigate({ to: "/connectors/$id", params: { id: made.id } });
    },
    gcTime: 0,
  });
  if (!canWrite) return null;
  const isValid = name.trim() !== "" && address.trim() !== "" && settings !== undefined && sent !== undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid) create.mutate();
  };
  return (
    <details className={page.fold}>
      <summary>New connector</summary>
      <form className={page.form} onSubmit={submit}>
        <TextField label="Name" id="name" maxLength={100} value={name} onChange={setName} />
        <Field label="Protocol" id="type">
          <select id="type" value={type} onChange={(event) => setType(event.target.value as Type)}>
            {Object.entries(TYPES).map(([value, [label]]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Address" id="address">
          <input
            id="address"
            type="url"
            size={48}
            maxLength={2048}
            value={address}
            onChange={(event) => setAddress(event.target.value)}
          />
        </Field>
        <Field
          label="Settings of the protocol, as JSON"
          id="config"
          error={settings === undefined ? "A JSON object" : null}
          note={
            <>
              Such as <code>{TYPES[type][1]}</code>
            </>
          }
        >
          <textarea id="config" rows={3} value={config} onChange={(event) => setConfig(event.target.value)} />
        </Field>
        <Field
          label="Headers"
          id="headers"
          error={sent === undefined ? "Lines such as Authorization: Bearer …" : null}
          note="One a line; their values are stored as secrets and never shown"
        >
          <textarea
            id="headers"
            rows={3}
            autoComplete="off"
            spellCheck={false}
            value={headers}
            onChange={(event) => setHeaders(event.target.value)}
          />
        </Field>
        <button type="submit" data-kind="primary" disabled={!isValid || create.isPending}>
          {create.isPending ? "Creating…" : "Create"}
        </button>
        {create.isError && <Failure error={create.error} what="No connector was created" />}
      </form>
    </details>
  );
}
