import { Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, read } from "../../api/client";
import { useCanWrite } from "../../api/role";
import type { ProfileBody } from "../../api/types";
import { editable } from "../../lib/json_text";
import { RoleTooLow } from "../../ui/states";
import { ProfileForm, type ProfileValues } from "./profile_form";

const SAMPLE: ProfileValues = {
  name: "",
  description: "",
  enabled: true,
  mode: "concurrent",
  operations: editable([
    {
      id: "tone",
      name: "Tone of the answer",
      kind: "template",
      hooks: ["before_main_llm"],
      order: 10,
      params: { template: "Answer politely." },
      artifact: { tag: "tone" },
      effects: [{ type: "prompt.system_update", mode: "append" }],
    },
  ]),
};

export function NewProfile() {
  const canWrite = useCanWrite();
  const navigate = useNavigate();
  const [key] = useState(() => crypto.randomUUID());
  const create = async (body: ProfileBody) => {
    const made = await read(
      api.POST("/v1/profiles", { params: { header: { "Idempotency-Key": key } }, body }),
    );
    await navigate({ to: "/profiles/$id", params: { id: made.id } });
  };
  return (
    <>
      <title>New profile · Cupel</title>
      <p>
        <Link to="/profiles">All profiles</Link>
      </p>
      <h1>New operation profile</h1>
      {canWrite ? (
        <ProfileForm initial={SAMPLE} action="Create" save={create} />
      ) : (
        <RoleTooLow detail="Creating a profile needs the role member or admin." />
      )}
    </>
  );
}
