import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, read } from "../../api/client";
import { useCanWrite } from "../../api/role";
import type { Schemas } from "../../api/types";
import { RoleTooLow } from "../../ui/states";
import { DefinitionForm, type WrittenDefinition } from "./definition_form";

const NO_LABELS = { name: "", folder: "", tags: "", label: "" };
const SAMPLE = { system: "You are a support agent. Be brief." };

export function NewDefinition() {
  const canWrite = useCanWrite();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [key] = useState(() => crypto.randomUUID());
  const create = async (written: WrittenDefinition) => {
    const made = await read(
      api.POST("/v1/definitions", {
        params: { header: { "Idempotency-Key": key } },
        // The API checks whatever was typed.
        body: written as Schemas["CreateDefinition"],
      }),
    );
    await client.invalidateQueries({ queryKey: ["definitions"] });
    await navigate({ to: "/definitions/$id/scenarios", params: { id: made.id } });
  };
  return (
    <>
      <title>New definition · Cupel</title>
      <p>
        <Link to="/definitions">All definitions</Link>
      </p>
      <h1>New definition</h1>
      {canWrite ? (
        <DefinitionForm labels={NO_LABELS} content={SAMPLE} action="Create" save={create} />
      ) : (
        <RoleTooLow detail="Creating a definition needs the role member or admin." />
      )}
    </>
  );
}
