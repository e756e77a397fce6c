import { useCanWrite } from "../api/role";

/** Names the form above an empty list, and the command for the same, or says that the user may not. */
export function HowToCreate({ noun }: { noun: string }) {
  const command = <code>{`cupel ${noun}s create`}</code>;
  return useCanWrite() ? (
    <>The form above creates one, as does {command}.</>
  ) : (
    "Creating one needs the role member or admin."
  );
}
