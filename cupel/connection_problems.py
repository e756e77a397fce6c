import httpx

_REASONS = (
    ("refused", "no server answers at this address"),
    ("actively refused", "no server answers at this address"),
    ("name or service not known", "the name of the host is unknown"),
    ("nodename nor servname", "the name of the host is unknown"),
    ("name resolution", "the name of the host is unknown"),
    ("getaddrinfo failed", "the name of the host is unknown"),
    ("no address associated", "the name of the host is unknown"),
    ("network is unreachable", "this computer has no network connection to it"),
    ("no route to host", "this computer has no network connection to it"),
    ("certificate", "its certificate is not trusted here"),
    ("ssl", "it does not answer by HTTPS"),
)


def connection_problem(error: Exception) -> str:
    """Return the reason without the library's words, which may quote the token of the request."""
    match error:
        case httpx.ConnectTimeout() | httpx.PoolTimeout():
            return "no connection was made in time"
        case httpx.TimeoutException():
            return "it did not answer in time"
        case httpx.UnsupportedProtocol() | httpx.InvalidURL():
            return "the address is not a URL that starts with http:// or https://"
        case httpx.ProxyError():
            return "the proxy of this computer did not connect to it"
        case httpx.LocalProtocolError():
            return "the token or the address has characters that a request cannot have"
        case httpx.RemoteProtocolError():
            return "it closed the connection without an HTTP answer"
        case httpx.ConnectError():
            text = str(error).lower()
            return next((reason for words, reason in _REASONS if words in text), "no connection was made")
        case httpx.NetworkError():
            return "the connection was interrupted"
    return str(error) or type(error).__name__
