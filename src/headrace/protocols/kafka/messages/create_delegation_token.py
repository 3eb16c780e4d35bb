"""CreateDelegationToken, versions 1 to 3.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 38
VERSIONS = (1, 3)
FLEXIBLE_FROM = 2


class CreatableRenewers(Message):
    __slots__ = ("principal_name", "principal_type")
    FIELDS = """
        principal_type string 0+
        principal_name string 0+
    """

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name


class CreateDelegationTokenRequest(Message):
    __slots__ = ("max_lifetime_ms", "owner_principal_name", "owner_principal_type", "renewers")
    FIELDS = """
        owner_principal_type string 3+ nullable=3+
        owner_principal_name string 3+ nullable=3+
        renewers []CreatableRenewers 0+
        max_lifetime_ms int64 0+
    """

    def __init__(
        self,
        owner_principal_type: str | None = "",
        owner_principal_name: str | None = "",
        renewers: Sequence[CreatableRenewers] = (),
        max_lifetime_ms: int = 0,
    ) -> None:
        self.owner_principal_type = owner_principal_type
        self.owner_principal_name = owner_principal_name
        self.renewers = renewers
        self.max_lifetime_ms = max_lifetime_ms


class CreateDelegationTokenResponse(Message):
    __slots__ = (
        "error_code",
        "expiry_timestamp_ms",
        "hmac",
        "issue_timestamp_ms",
        "max_timestamp_ms",
        "principal_name",
        "principal_type",
        "throttle_time_ms",
        "token_id",
        "token_requester_principal_name",
        "token_requester_principal_type",
    )
    FIELDS = """
        error_code int16 0+
        principal_type string 0+
        principal_name string 0+
        token_requester_principal_type string 3+
        token_requester_principal_name string 3+
        issue_timestamp_ms int64 0+
        expiry_timestamp_ms int64 0+
        max_timestamp_ms int64 0+
        token_id string 0+
        hmac bytes 0+
        throttle_time_ms int32 0+
    """

    def __init__(
        self,
        error_code: int = 0,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp_ms: int = 0,
        expiry_timestamp_ms: int = 0,
        max_timestamp_ms: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp_ms = issue_timestamp_ms
        self.expiry_timestamp_ms = expiry_timestamp_ms
        self.max_timestamp_ms = max_timestamp_ms
        self.token_id = token_id
        self.hmac = hmac
        self.throttle_time_ms = throttle_time_ms
