import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { api, ifMatch, read, readTagged, type Schemas } from "../../api/client";
import { type Definition, definitionEditQuery } from "../../api/definitions";
import { useCanWrite } from "../../api/role";
import { type Content, contentChanges } from "../../lib/definitions";
import { visible } from "../../lib/format";
import { changesOf } from "../../lib/forms";
import { editable } from "../../lib/json_text";
import page from "../../ui/page.module.css";
import { Failure, Loading, RoleTooLow } from "../../ui/states";
import { DefinitionForm, type WrittenDefinition } from "./definition_form";

const route = getRouteApi("/definitions/$id/edit");

/** Writes the next version; earlier ones never change. */
export function EditDefinition() {
  const { id } = route.useParams();
  const { v } = route.useSearch();
  const canWrite = useCanWrite();
  const query = useQuery(definitionEditQuery(id));
  if (!canWrite) return <RoleTooLow detail="Changing a definition needs the role member or admin." />;
  if (query.isPending) return <Loading what="the definition" />;
  if (query.data === undefined)
    return (
      <Failure error={query.error} what={`Definition ${visible(id)}`} retry={() => void query.refetch()} />
    );
  const { value: definition, etag } = query.data;
  return (
    <>
      {v !== undefined && v !== definition.version && (
        <p className={page.note}>
          This is the latest version, {definition.version}: earlier ones never change.
        </p>
      )}
      <Editor key={etag} definition={definition} etag={etag} reload={() => void query.refetch()} />
    </>
  );
}

interface EditorProps {
  definition: Definition;
  etag: string | null;
  reload: () => void;
}

function Editor({ definition, etag, reload }: EditorProps) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const initial = {
    name: definition.name,
    folder: definition.folder ?? "",
    tags: definition.tags.join(", "),
    label: "",
    content: editable(definition.content),
  };
  const write = async (written: WrittenDefinition, tag: string | null) => {
    const { content, tags, versionLabel, ...fields } = written;
    const changed = contentChanges(JSON.parse(initial.content) as Content, content);
    const body = {
      ...changesOf(definition, fields),
      ...(tags.join() !== definition.tags.join() && { tags }),
      ...(versionLabel !== null && { versionLabel }),
      ...(Object.keys(changed).length > 0 && { content: changed }),
    };
    const saved = await read(
      api.PATCH("/v1/definitions/{definition_id}", {
        params: { path: { definition_id: definition.id }, header: ifMatch(tag) },
        body: body as Schemas["UpdateDefinition"],
      }),
    );
    await client.invalidateQueries({ queryKey: ["definitions"] });
    await client.invalidateQueries({ queryKey: ["definition", definition.id] });
    // What the version has changed, where it has made one.
    const to = saved.version === definition.version ? "/definitions/$id" : "/definitions/$id/changes";
    await navigate({ to, params: { id: definition.id }, search: {} });
  };
  /** Over what is stored now, whatever it is. */
  const latestTag = async () => {
    const path = { definition_id: definition.id };
    return (await readTagged(api.GET("/v1/definitions/{definition_id}", { params: { path } }))).etag;
  };
  return (
    <DefinitionForm
      initial={initial}
      action="Save as the next version"
      save={async (written, isOver) => write(written, isOver ? await latestTag() : etag)}
      reload={reload}
    />
  );
}
