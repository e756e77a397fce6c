import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, api, ifMatch, read, readTagged } from "../../api/client";
import type { Connector, Schemas } from "../../api/types";

import { changesOf, headersInput, parseObject } from "../../lib/forms";
import { editable } from "../../lib/json_text";
import { EditForm } from "../../ui/edit_form";
import { ConnectorFields, type ConnectorValues, isComplete } from "./connector_fields";

interface Props {
  connector: Connector;
  etag: string | null;
  reload: () => void;
}

export function EditConnector({ connector, etag, reload }: Props) {
  const client = useQueryClient();
  const stored: ConnectorValues = {
    name: connector.name,
    type: connector.type,
    address: connector.baseUrl,
    config: editable(connector.config),
    headers: { kind: "keep" },
  };
  const [values, change] = useState(stored);
  const headers = headersInput(values.headers);
  const changes = {
    ...changesOf(connector, {
      name: values.name.trim(),
      type: values.type,
      baseUrl: values.address.trim(),
    }),
    ...(values.config !== stored.config && { config: parseObject(values.config) }),
    ...headers,
  };
  const saving = useMutation({
    mutationFn: async ({ isOver }: { isOver: boolean }) => {
      const path = { connector_id: connector.id };
      const latest = async () =>
        (await readTagged(api.GET("/v1/connectors/{connector_id}", { params: { path } }))).etag;
      await read(
        api.PATCH("/v1/connectors/{connector_id}", {
          params: { path, header: ifMatch(isOver ? await latest() : etag) },
          body: changes as Schemas["UpdateConnector"],
        }),
      );
    },
    onSuccess: () => client.invalidateQueries({ queryKey: ["connectors"] }),
    gcTime: 0,
  });
  return (
    <EditForm
      failure="The connector was not changed"
      isChanged={Object.keys(changes).length > 0 || headers === undefined}
      isValid={isComplete(values) && headers !== undefined}
      saving={saving}
      reload={reload}
    >
      <ConnectorFields
        values={values}
        set={(edited) => change({ ...values, ...edited })}
        headerNames={connector.headerNames}
        issues={saving.error instanceof ApiError ? saving.error.fields : []}
      />
    </EditForm>
  );
}
