import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { ApiError, api, ifMatch, read, readTagged } from "../../api/client";
import { definitionEditQuery, definitionQuery } from "../../api/definitions";
import { useCanWrite } from "../../api/role";
import type { Definition, Schemas } from "../../api/types";
import { presentContent } from "../../lib/content_fields";
import { areSameTags, ownTags, tagsToStore } from "../../lib/definition_tags";
import { contentChanges } from "../../lib/definitions";
import { visible } from "../../lib/format";
import { changesOf } from "../../lib/forms";
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
      <WithParent key={etag} definition={definition} etag={etag} reload={() => void query.refetch()} />
    </>
  );
}

interface EditorProps {
  definition: Definition;
  etag: string | null;
  reload: () => void;
}

/** Loads a fork with the content of its parent's version, which never changes. */
function WithParent(props: EditorProps) {
  const { parentId, parentVersion } = props.definition;
  const parent = useQuery({
    ...definitionQuery(parentId ?? "", parentVersion ?? undefined),
    enabled: parentId !== null,
  });
  if (parentId === null) return <Editor {...props} parent={null} />;
  if (parent.isPending) return <Loading what="inherited content" />;
  if (parent.data !== undefined) {
    return (
      <>
        <p className={page.note}>
          A fork of{" "}
          <Link
            to="/definitions/$id"
            params={{ id: parentId }}
            search={parentVersion === null ? {} : { v: parentVersion }}
          >
            version {parentVersion} of {visible(parent.data.name)}
          </Link>
          : what it does not override, it inherits.
        </p>
        <Editor {...props} parent={parent.data} />
      </>
    );
  }
  if (!(parent.error instanceof ApiError && parent.error.status === 404)) {
    return <Failure error={parent.error} what="Inherited content" retry={() => void parent.refetch()} />;
  }
  return (
    <>
      <p className={page.note}>
        A fork of a definition that was deleted: what it inherits stays, and is not marked here.
      </p>
      <Editor {...props} parent={null} />
    </>
  );
}

function Editor({ definition, etag, reload, parent }: EditorProps & { parent: Definition | null }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const labels = {
    name: definition.name,
    folder: definition.folder ?? "",
    tags: ownTags(definition.tags).join(", "),
    label: "",
  };
  const initial = useMemo(() => presentContent(definition.content), [definition]);
  const inherited = useMemo(() => (parent === null ? null : presentContent(parent.content)), [parent]);
  const write = async (written: WrittenDefinition, tag: string | null) => {
    const { content, tags, versionLabel, ...fields } = written;
    const changed = contentChanges(initial, content);
    const stored = tagsToStore(tags.join(","), definition.tags);
    const body = {
      ...changesOf(definition, fields),
      ...(!areSameTags(stored, definition.tags) && { tags: stored }),
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
    // The version's changes are shown, where saving has made one.
    const to = saved.version === definition.version ? "/definitions/$id" : "/definitions/$id/changes";
    await navigate({ to, params: { id: definition.id }, search: {} });
  };
  /** This overwrites the stored state, whatever it is. */
  const latestTag = async () => {
    const path = { definition_id: definition.id };
    return (await readTagged(api.GET("/v1/definitions/{definition_id}", { params: { path } }))).etag;
  };
  return (
    <DefinitionForm
      labels={labels}
      content={initial}
      inherited={inherited}
      action="Save"
      isStored
      save={async (written, isOver) => write(written, isOver ? await latestTag() : etag)}
      reload={reload}
    />
  );
}
