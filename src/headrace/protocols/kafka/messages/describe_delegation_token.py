"""DescribeDelegationToken, versions 1 to 3.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 41
VERSIONS = (1, 3)
FLEXIBLE_FROM = 2


class DescribeDelegationTokenOwner(Message):
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


class DescribeDelegationTokenRequest(Message):
    __slots__ = ("owners",)
    FIELDS = """
        owners []DescribeDelegationTokenOwner 0+ nullable=0+
    """

    def __init__(
        self,
        owners: Sequence[DescribeDelegationTokenOwner] | None = (),
    ) -> None:
        self.owners = owners


class DescribedDelegationTokenRenewer(Message):
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


class DescribedDelegationToken(Message):
    __slots__ = (
        "expiry_timestamp",
        "hmac",
        "issue_timestamp",
        "max_timestamp",
        "principal_name",
        "principal_type",
        "renewers",
        "token_id",
        "token_requester_principal_name",
        "token_requester_principal_type",
    )
    FIELDS = """
        principal_type string 0+
        principal_name string 0+
        token_requester_principal_type string 3+
        token_requester_principal_name string 3+
        issue_timestamp int64 0+
        expiry_timestamp int64 0+
        max_timestamp int64 0+
        token_id string 0+
        hmac bytes 0+
        renewers []DescribedDelegationTokenRenewer 0+
    """

    def __init__(
        self,
        principal_type: str = "",
        principal_name: str = "",
        token_requester_principal_type: str = "",
        token_requester_principal_name: str = "",
        issue_timestamp: int = 0,
        expiry_timestamp: int = 0,
        max_timestamp: int = 0,
        token_id: str = "",
        hmac: bytes = b"",
        renewers: Sequence[DescribedDelegationTokenRenewer] = (),
    ) -> None:
        self.principal_type = principal_type
        self.principal_name = principal_name
        self.token_requester_principal_type = token_requester_principal_type
        self.token_requester_principal_name = token_requester_principal_name
        self.issue_timestamp = issue_timestamp
        self.expiry_timestamp = expiry_timestamp
        self.max_timestamp = max_timestamp
        self.token_id = token_id
        self.hmac = hmac
        self.renewers = renewers


class DescribeDelegationTokenResponse(Message):
    __slots__ = ("error_code", "throttle_time_ms", "tokens")
    FIELDS = """
        error_code int16 0+
        tokens []DescribedDelegationToken 0+
        throttle_time_ms int32 0+
    """

    def __init__(
        self,
        error_code: int = 0,
        tokens: Sequence[DescribedDelegationToken] = (),
        throttle_time_ms: int = 0,
    ) -> None:
        self.error_code = error_code
        self.tokens = tokens
        self.throttle_time_ms = throttle_time_ms
