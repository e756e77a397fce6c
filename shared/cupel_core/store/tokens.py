"""API tokens. Only the SHA-256 of a secret is stored: one item maps it to its caller, another lists the token."""

from collections.abc import Callable
from datetime import datetime, timedelta

from pynamodb.attributes import NumberAttribute, UnicodeAttribute
from pynamodb.exceptions import TransactWriteError
from pynamodb.transactions import TransactWrite

from cupel_core.base.clock import from_iso, to_iso
from cupel_core.base.errors import Conflict, NotFound
from cupel_core.base.paging import Page, fill_page
from cupel_core.domain.access import AccessRole, Caller, SecretState, Token
from cupel_core.store import clients, idempotency_keys, keys
from cupel_core.store.listing import list_newest
from cupel_core.store.table import Item, connection, error_code
from cupel_core.store.workspaces import WorkspaceItem, is_free

_SECRET = "token"  # noqa: S105 - a sort key
_SESSION_RETENTION = timedelta(days=30)
"""A session is listed for this time after its end."""


class SecretItem(Item):
    workspace = UnicodeAttribute()
    role = UnicodeAttribute()
    token_id = UnicodeAttribute(attr_name="tokenId")
    revoked_at = UnicodeAttribute(attr_name="revokedAt", null=True)
    expires_at = UnicodeAttribute(attr_name="expiresAt", null=True)
    last_used_at = UnicodeAttribute(attr_name="lastUsedAt", null=True)
    root_digest = UnicodeAttribute(attr_name="rootDigest", null=True)
    ttl = NumberAttribute(null=True)


class TokenItem(Item):
    name = UnicodeAttribute()
    role = UnicodeAttribute()
    digest = UnicodeAttribute()
    created_at = UnicodeAttribute(attr_name="createdAt")
    revoked_at = UnicodeAttribute(attr_name="revokedAt", null=True)
    expires_at = UnicodeAttribute(attr_name="expiresAt", null=True)
    ttl = NumberAttribute(null=True)


def create(workspace: str, token: Token, digest: str, *, of_new_workspace: bool = False) -> None:
    """Create a token. With `of_new_workspace`, create the workspace in the same transaction. Raise Conflict if an
    operator has created the workspace before."""
    try:
        with idempotency_keys.transaction() as transaction:
            _save(transaction, workspace, token, digest)
            if of_new_workspace:
                item = WorkspaceItem(keys.WORKSPACES, workspace, created_at=to_iso(token.created_at))
                transaction.save(item, condition=is_free())
    except TransactWriteError as error:
        is_refused = error_code(error) == "TransactionCanceledException" and not clients.is_transient(error)
        if not of_new_workspace or not is_refused:
            raise
        raise Conflict(f"the workspace {workspace} exists") from None


def create_session(transaction: TransactWrite, workspace: str, token: Token, digest: str, root_digest: str) -> None:
    """Write a session's token, which expires by itself. The transaction requires that the root token still exists."""
    is_live = SecretItem.pk.exists() & SecretItem.revoked_at.does_not_exist()
    transaction.condition_check(SecretItem, keys.token(root_digest), _SECRET, condition=is_live)
    _save(transaction, workspace, token, digest, root_digest)


def _save(
    transaction: TransactWrite, workspace: str, token: Token, digest: str, root_digest: str | None = None
) -> None:
    expires_at = to_iso(token.expires_at) if token.expires_at else None
    ttl = int((token.expires_at + _SESSION_RETENTION).timestamp()) if root_digest and token.expires_at else None
    secret = SecretItem(
        keys.token(digest),
        _SECRET,
        workspace=workspace,
        role=token.role,
        token_id=token.id,
        expires_at=expires_at,
        root_digest=root_digest,
        ttl=ttl,
    )
    entry = TokenItem(
        keys.tokens(workspace),
        token.id,
        name=token.name,
        role=token.role,
        digest=digest,
        created_at=to_iso(token.created_at),
        expires_at=expires_at,
        ttl=ttl,
    )
    transaction.save(secret, condition=SecretItem.pk.does_not_exist())
    transaction.save(entry, condition=TokenItem.pk.does_not_exist())


def find_secret(digest: str) -> SecretState | None:
    """Return the state of a secret, or None if it is unknown or revoked. The read is strongly consistent: revoking
    takes effect at once."""
    try:
        item = SecretItem.get(keys.token(digest), _SECRET, consistent_read=True)
    except SecretItem.DoesNotExist:
        return None
    if item.revoked_at:
        return None
    caller = Caller(item.workspace, AccessRole(item.role), item.token_id)
    return SecretState(caller, _time(item.expires_at), _time(item.last_used_at), item.root_digest)


def note_use(digest: str, now: datetime) -> None:
    SecretItem(keys.token(digest), _SECRET).update(
        [SecretItem.last_used_at.set(to_iso(now))], condition=SecretItem.pk.exists()
    )


def find(workspace: str, token_id: str) -> Token | None:
    """Return the token, without its last use, or None if the workspace never had it."""
    item = _find_item(workspace, token_id)
    return _token(item, None) if item else None


def find_name(workspace: str, token_id: str) -> str | None:
    item = _find_item(workspace, token_id)
    return item.name if item else None


def find_digest(workspace: str, token_id: str) -> str | None:
    item = _find_item(workspace, token_id)
    return item.digest if item else None


def _find_item(workspace: str, token_id: str) -> TokenItem | None:
    try:
        return TokenItem.get(keys.tokens(workspace), token_id)
    except TokenItem.DoesNotExist:
        return None


def erase_all(workspace: str, has_time: Callable[[], bool]) -> bool:
    """Erase the workspace's tokens while `has_time` allows. Return whether none is left. It takes effect
    immediately."""
    for item in TokenItem.query(keys.tokens(workspace), consistent_read=True):
        if not has_time():
            return False
        SecretItem(keys.token(item.digest), _SECRET).delete()
        item.delete()
    return True


def revoke(workspace: str, token_id: str, now: datetime) -> None:
    """Revoke a token. Revoking it again changes nothing. Raise NotFound if there is none."""
    try:
        item = TokenItem.get(keys.tokens(workspace), token_id, consistent_read=True)
    except TokenItem.DoesNotExist:
        raise NotFound(f"there is no token {token_id}") from None
    if item.revoked_at:
        return
    with TransactWrite(connection=connection()) as transaction:
        secret = SecretItem(keys.token(item.digest), _SECRET)
        transaction.update(secret, [SecretItem.revoked_at.set(to_iso(now))], condition=SecretItem.pk.exists())
        transaction.update(item, [TokenItem.revoked_at.set(to_iso(now))])


def list_tokens(workspace: str, limit: int, cursor: str | None) -> Page[Token]:
    page = fill_page(list_newest(TokenItem, keys.tokens(workspace), limit, cursor, by_sort_key=True), limit)
    secrets = SecretItem.batch_get([(keys.token(item.digest), _SECRET) for item in page.items])
    last_uses = {item.token_id: _time(item.last_used_at) for item in secrets}
    return page.map(lambda item: _token(item, last_uses.get(item.sk)))


def _token(item: TokenItem, last_used_at: datetime | None) -> Token:
    return Token(
        item.sk,
        item.name,
        AccessRole(item.role),
        from_iso(item.created_at),
        _time(item.revoked_at),
        _time(item.expires_at),
        last_used_at,
    )


def _time(text: str | None) -> datetime | None:
    return from_iso(text) if text else None
