import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useCanWrite } from "../api/role";
import { storeSample } from "../api/sample";
import { Failure } from "./states";

/** Stores the sample definition and opens the form for a run of it; shows nothing to users who may not. */
export function SampleButton() {
  const canWrite = useCanWrite();
  const client = useQueryClient();
  const navigate = useNavigate();
  const [key] = useState(() => crypto.randomUUID());
  const store = useMutation({
    mutationFn: () => storeSample(key),
    onSuccess: async (definition) => {
      await client.invalidateQueries({ queryKey: ["definitions"] });
      await navigate({ to: "/new", search: { definition } });
    },
  });
  if (!canWrite) return null;
  return (
    <>
      <button type="button" data-kind="primary" disabled={store.isPending} onClick={() => store.mutate()}>
        {store.isPending ? "Storing the sample…" : "Use the sample definition"}
      </button>
      {store.isError && <Failure error={store.error} what="The sample" />}
    </>
  );
}
