import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { ApiError, api, read } from "../../api/client";
import { useCanWrite } from "../../api/role";
import { headersInput, parseObject } from "../../lib/forms";
import { NewFold } from "../../ui/new_fold";
import page from "../../ui/page.module.css";
import { Failure } from "../../ui/states";
import { ConnectorFields, type ConnectorValues, isComplete } from "./connector_fields";

const NONE: ConnectorValues = {
  name: "",
  type: "openai",
  address: "",
  config: "{}",
  headers: { kind: "keep" },
};

export function NewConnector() {
  const canWrite = useCanWrite();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [values, change] = useState(NONE);
  const [key] = useState(() => crypto.randomUUID());
  const headers = headersInput(values.headers);
  const create = useMutation({
    mutationFn: () =>
      read(
        api.POST("/v1/connectors", {
          params: { header: { "Idempotency-Key": key } },
          body: {
            name: values.name.trim(),
            type: values.type,
            baseUrl: values.address.trim(),
            config: parseObject(values.config) ?? {},
            ...headers,
          },
        }),
      ),
    onSuccess: async (made) => {
      change(NONE);
      await client.invalidateQueries({ queryKey: ["connectors"] });
      await navigate({ to: "/connectors/$id", params: { id: made.id } });
    },
    gcTime: 0,
  });
  if (!canWrite) return null;
  const isValid = isComplete(values) && headers !== undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isValid) create.mutate();
  };
  return (
    <NewFold noun="connector">
      <form className={page.form} onSubmit={submit}>
        <ConnectorFields
          values={values}
          set={(changes) => change({ ...values, ...changes })}
          headerNames={[]}
          issues={create.error instanceof ApiError ? create.error.fields : []}
        />
        <button type="submit" data-kind="primary" disabled={!isValid || create.isPending}>
          {create.isPending ? "Creating…" : "Create"}
        </button>
        {create.isError && <Failure error={create.error} what="No connector was created" />}
      </form>
    </NewFold>
  );
}
