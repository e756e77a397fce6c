import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { branchesQuery, chatQuery, exchangesQuery } from "../../api/chats";
import { useCanWrite } from "../../api/role";
import type { Branch, Chat } from "../../api/types";
import { formatDate, visible } from "../../lib/format";
import { namedTarget } from "../../lib/targets";
import { LoadMore } from "../../ui/more";
import page from "../../ui/page.module.css";
import { Empty, Failure, Loading } from "../../ui/states";
import { TargetList } from "../../ui/target_list";
import { Ago } from "../../ui/time";
import { Artifacts } from "./artifacts";
import { BranchChoice } from "./branch_choice";
import styles from "./chat.module.css";
import { ChatSettings } from "./chat_settings";
import { Composer } from "./composer";
import { ExchangeView } from "./exchange";

const route = getRouteApi("/chats/$id");

export function ChatPage() {
  const { id } = route.useParams();
  const chat = useQuery(chatQuery(id));
  const branches = useQuery(branchesQuery(id));
  if (chat.isPending || (branches.isPending && !chat.isError)) return <Loading what="the chat" />;
  const error = chat.error ?? branches.error;
  if (chat.data === undefined || branches.data === undefined) {
    const retry = () => void Promise.all([chat.refetch(), branches.refetch()]);
    return <Failure error={error} what={`Chat ${visible(id)}`} retry={retry} />;
  }
  return <Loaded chat={chat.data.value} etag={chat.data.etag} branches={branches.data} />;
}

interface LoadedProps {
  chat: Chat;
  etag: string | null;
  branches: readonly Branch[];
}

function Loaded({ chat, etag, branches }: LoadedProps) {
  const { branch: chosen } = route.useSearch();
  const canWrite = useCanWrite();
  const name = visible(chat.title ?? chat.opening ?? chat.id);
  const branch = branches.find((each) => each.id === (chosen ?? chat.activeBranchId));
  return (
    <>
      <title>{`${name} · Cupel`}</title>
      <p>
        <Link to="/chats">All chats</Link>
      </p>
      <h1>{name}</h1>
      <p className={page.facts}>
        {chat.target.connectorId === null ? (
          <span>{visible(chat.target.model)}</span>
        ) : (
          <Link to="/connectors/$id" params={{ id: chat.target.connectorId }}>
            <TargetList targets={[namedTarget(chat.target.model)]} />
          </Link>
        )}
        {chat.profileId === null ? (
          <span>no profile</span>
        ) : (
          <Link to="/profiles/$id" params={{ id: chat.profileId }}>
            Its operation profile
          </Link>
        )}
        <span>
          changed <Ago time={chat.updatedAt} />
        </span>
        {chat.expiresAt && <span>erased on {formatDate(chat.expiresAt)} unless used</span>}
      </p>
      {canWrite && <ChatSettings key={etag} chat={chat} etag={etag} />}
      <BranchChoice chat={chat} branches={branches} branch={branch} />
      {branch === undefined ? (
        <Empty title={`Branch ${visible(chosen ?? "")}: not found`}>
          <p>It may have been deleted. Choose another one.</p>
        </Empty>
      ) : (
        <Conversation key={branch.id} chat={chat} branch={branch} />
      )}
    </>
  );
}

function Conversation({ chat, branch }: { chat: Chat; branch: Branch }) {
  const canWrite = useCanWrite();
  const query = useInfiniteQuery(exchangesQuery(chat.id, branch.id));
  const exchanges = query.data?.pages.flatMap((each) => each.items).reverse() ?? [];
  return (
    <section className={styles.conversation} aria-label="Conversation">
      {query.isPending && <Loading what="the conversation" />}
      {query.isError && (
        <Failure error={query.error} what="The conversation" retry={() => void query.refetch()} />
      )}
      <LoadMore query={query}>Load earlier exchanges</LoadMore>
      {chat.system && (
        <details className={page.fold}>
          <summary>System prompt</summary>
          <p className={styles.system}>{visible(chat.system)}</p>
        </details>
      )}
      <ol className={styles.exchanges} aria-label="Exchanges">
        {exchanges.map((exchange) => (
          <ExchangeView
            key={exchange.id}
            chatId={chat.id}
            branch={branch}
            exchange={exchange}
            isLast={exchange.position === branch.length - 1}
          />
        ))}
      </ol>
      {query.isSuccess && exchanges.length === 0 && <p className={page.note}>No messages yet.</p>}
      {canWrite && <Composer chatId={chat.id} branch={branch} />}
      {chat.profileId !== null && <Artifacts chatId={chat.id} branch={branch} />}
    </section>
  );
}
