import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, ifMatch, read, readTagged } from "../../api/client";
import { profileQuery } from "../../api/profiles";
import { useCanWrite } from "../../api/role";
import type { Profile, ProfileBody } from "../../api/types";
import { visible } from "../../lib/format";
import { changesOf } from "../../lib/forms";
import { editable } from "../../lib/json_text";
import { DeleteButton } from "../../ui/delete_button";
import { Dialog, DialogActions } from "../../ui/dialog";
import page from "../../ui/page.module.css";
import { PlainText } from "../../ui/plain_text";
import { Section } from "../../ui/section";
import { Failure, Loading } from "../../ui/states";
import { Ago } from "../../ui/time";
import { ProfileForm } from "./profile_form";

const route = getRouteApi("/profiles/$id");

export function ProfilePage() {
  const { id } = route.useParams();
  const { v } = route.useSearch();
  const canWrite = useCanWrite();
  const newest = useQuery(profileQuery(id));
  const query = useQuery(profileQuery(id, v));
  if (newest.isPending || query.isPending) return <Loading what="the profile" />;
  const error = newest.error ?? query.error;
  if (newest.data === undefined || query.data === undefined) {
    const what = v === undefined ? `Profile ${visible(id)}` : `Version ${v} of profile ${visible(id)}`;
    return <Failure error={error} what={what} retry={() => void query.refetch()} />;
  }
  const { value: profile, etag } = query.data;
  const isNewest = profile.version === newest.data.value.version;
  return (
    <>
      <title>{`${visible(profile.name)} · Cupel`}</title>
      <p>
        <Link to="/profiles">All profiles</Link>
      </p>
      <div className={page.head} data-actions>
        <div>
          <h1>{visible(profile.name)}</h1>
          <p className={page.facts}>
            <Versions id={id} shown={profile.version} newest={newest.data.value.version} />
            <span>{profile.enabled ? "in use" : "not in use"}</span>
            <span>
              changed <Ago time={profile.updatedAt} />
            </span>
          </p>
        </div>
        {canWrite && <Delete id={id} />}
      </div>
      {canWrite && isNewest ? (
        <Editor
          key={etag}
          profile={profile}
          etag={etag}
          reload={() => void Promise.all([newest.refetch(), query.refetch()])}
        />
      ) : (
        <ReadOnly profile={profile} isNewest={isNewest} />
      )}
    </>
  );
}

function Versions({ id, shown, newest }: { id: string; shown: number; newest: number }) {
  const navigate = useNavigate();
  const open = (version: number) =>
    void navigate({ to: "/profiles/$id", params: { id }, search: version === newest ? {} : { v: version } });
  return (
    <span>
      <label htmlFor="version">Version</label>{" "}
      <select id="version" value={shown} onChange={(event) => open(Number(event.target.value))}>
        {Array.from({ length: newest }, (_, index) => newest - index).map((version) => (
          <option key={version} value={version}>
            {version}
            {version === newest && " (latest)"}
          </option>
        ))}
      </select>
    </span>
  );
}

interface EditorProps {
  profile: Profile;
  etag: string | null;
  reload: () => void;
}

function Editor({ profile, etag, reload }: EditorProps) {
  const operations = editable(profile.operations);
  const path = { profile_id: profile.id };
  const latest = async () =>
    (await readTagged(api.GET("/v1/profiles/{profile_id}", { params: { path } }))).etag;
  const save = async (body: ProfileBody, isOver: boolean) => {
    const { operations: written, ...fields } = body;
    const changes = changesOf(profile, fields as Partial<Profile>);
    const isSame = JSON.stringify(written) === JSON.stringify(JSON.parse(operations));
    return read(
      api.PATCH("/v1/profiles/{profile_id}", {
        params: { path, header: ifMatch(isOver ? await latest() : etag) },
        body: isSame ? changes : { ...changes, operations: written },
      }),
    );
  };
  const initial = {
    name: profile.name,
    description: profile.description ?? "",
    enabled: profile.enabled,
    mode: profile.executionMode,
    operations,
  };
  return (
    <ProfileForm
      initial={initial}
      action="Save"
      save={save}
      reload={reload}
      others={(isChanged) => <ResetSessions id={profile.id} isDisabled={isChanged} />}
    />
  );
}

function ReadOnly({ profile, isNewest }: { profile: Profile; isNewest: boolean }) {
  return (
    <>
      {!isNewest && <p className={page.note}>An earlier version, which never changes.</p>}
      {profile.description && <p className={page.prose}>{visible(profile.description)}</p>}
      <Section title="Operations">
        <PlainText label="Operations as JSON" text={editable(profile.operations)} isCode />
      </Section>
      {profile.warnings.length > 0 && (
        <Section title="Possible mistakes">
          <ul className={page.list}>
            {profile.warnings.map((each) => (
              <li key={each.field + each.message}>
                <code>{visible(each.field)}</code> {visible(each.message)}
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

/** It is disabled while something is unsaved: the profile is read anew afterwards. */
function ResetSessions({ id, isDisabled }: { id: string; isDisabled: boolean }) {
  const client = useQueryClient();
  const [isAsking, ask] = useState(false);
  const reset = useMutation({
    mutationFn: () =>
      read(api.POST("/v1/profiles/{profile_id}/reset-session", { params: { path: { profile_id: id } } })),
    onSuccess: async () => {
      await client.invalidateQueries({ queryKey: ["chats"] });
      await client.invalidateQueries({ queryKey: ["profiles"] });
      ask(false); // Nothing can be written before the profile was read.
    },
  });
  return (
    <>
      <button type="button" disabled={isDisabled} onClick={() => ask(true)}>
        Reset sessions…
      </button>
      {isAsking && (
        <Dialog title="Begin without artifacts in every chat?" close={() => ask(false)}>
          <p>
            What operations of this profile have stored in chats is no part of later turns. What was said
            stays.
          </p>
          {reset.isError && <Failure error={reset.error} what="The sessions were not reset" />}
          <DialogActions>
            <button
              type="button"
              data-kind="primary"
              disabled={reset.isPending}
              onClick={() => reset.mutate()}
            >
              Reset
            </button>
            <button type="button" onClick={() => ask(false)}>
              Cancel
            </button>
          </DialogActions>
        </Dialog>
      )}
    </>
  );
}

function Delete({ id }: { id: string }) {
  const navigate = useNavigate();
  const client = useQueryClient();
  const remove = async () => {
    await read(api.DELETE("/v1/profiles/{profile_id}", { params: { path: { profile_id: id } } }));
    await navigate({ to: "/profiles" });
    await client.invalidateQueries({ queryKey: ["profiles", "list"] });
  };
  return (
    <DeleteButton what="this profile" remove={remove}>
      Runs that have started keep it as it was; later turns of chats that name it are refused.
    </DeleteButton>
  );
}
