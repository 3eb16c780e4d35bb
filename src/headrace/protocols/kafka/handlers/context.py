"""Who asks: what a handler may know of the connection."""

from __future__ import annotations

from headrace.protocols.kafka.codec import RequestHeader
from headrace.protocols.kafka.handlers.fetch_sessions import FetchSessions


class Peer:
    """The client at the other end of a connection, as far as it has told."""

    __slots__ = ("client_id", "local_host", "local_port", "remote_host", "software_name", "software_version")

    def __init__(self) -> None:
        self.local_host = ""  # the address the client connected to: what we advertise unless told otherwise
        self.local_port = 0
        self.remote_host = ""
        self.client_id = ""
        self.software_name = ""
        self.software_version = ""


class Context:
    """One request's surroundings."""

    __slots__ = ("client_id", "peer", "sessions", "version")

    def __init__(self, header: RequestHeader, peer: Peer, sessions: FetchSessions) -> None:
        self.version = header.api_version
        self.client_id = header.client_id or ""
        self.peer = peer
        self.sessions = sessions  # of the node
