import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api, read } from "../../api/client";
import type { Schemas } from "../../api/types";
import { visible } from "../../lib/format";
import { CopyButton } from "../../ui/copy";
import { Field } from "../../ui/field";
import page from "../../ui/page.module.css";
import { Section } from "../../ui/section";
import { Failure } from "../../ui/states";

type Role = Schemas["CreateToken"]["role"];
const ROLES: Record<Role, string> = {
  viewer: "viewer: may read",
  member: "member: may also change",
  admin: "admin: may also manage tokens, providers and settings",
  labeller: "labeller: may only label transcripts of label sets",
};
const DAY_MS = 86_400_000;

/** Makes a token, and shows its secret, which is never shown again. */
export function NewToken() {
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [role, setRole] = useState<Role>("viewer");
  const [days, setDays] = useState("90");
  const make = useMutation({
    mutationFn: () => {
      const expiresAt = days === "" ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString();
      return read(api.POST("/v1/tokens", { body: { name: name.trim(), role, expiresAt } }));
    },
    onSuccess: () => {
      setName("");
      return client.invalidateQueries({ queryKey: ["tokens"] });
    },
    // The secret is dropped once the screen is left.
    gcTime: 0,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make.mutate();
  };
  return (
    <Section title="New token">
      <form className={page.filters} onSubmit={submit}>
        <Field label="Used for" id="token-name">
          <input
            id="token-name"
            required
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
        <Field label="Role" id="token-role">
          <select id="token-role" value={role} onChange={(event) => setRole(event.target.value as Role)}>
            {Object.entries(ROLES).map(([value, label]) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        </Field>
        <Field label="Expires" id="token-days">
          <select id="token-days" value={days} onChange={(event) => setDays(event.target.value)}>
            <option value="1">in a day</option>
            <option value="30">in 30 days</option>
            <option value="90">in 90 days</option>
            <option value="365">in a year</option>
            <option value="">never</option>
          </select>
        </Field>
        <button type="submit" data-kind="primary" disabled={name.trim() === "" || make.isPending}>
          {make.isPending ? "Creating…" : "Create"}
        </button>
      </form>
      {make.isError && <Failure error={make.error} what="No token was created" />}
      {make.data && (
        <div className={page.warning} role="status">
          <p>The token “{visible(make.data.name)}”. It is shown only once: store it now.</p>
          <p>
            <code>{make.data.token}</code>
          </p>
          <CopyButton label="Copy token" text={make.data.token} />
        </div>
      )}
    </Section>
  );
}
