"""DescribeUserScramCredentials, version 0.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 50
VERSIONS = (0, 0)
FLEXIBLE_FROM = 0


class UserName(Message):
    __slots__ = ("name",)
    FIELDS = """
        name string 0+
    """

    def __init__(
        self,
        name: str = "",
    ) -> None:
        self.name = name


class DescribeUserScramCredentialsRequest(Message):
    __slots__ = ("users",)
    FIELDS = """
        users []UserName 0+ nullable=0+
    """

    def __init__(
        self,
        users: Sequence[UserName] | None = (),
    ) -> None:
        self.users = users


class CredentialInfo(Message):
    __slots__ = ("iterations", "mechanism")
    FIELDS = """
        mechanism int8 0+
        iterations int32 0+
    """

    def __init__(
        self,
        mechanism: int = 0,
        iterations: int = 0,
    ) -> None:
        self.mechanism = mechanism
        self.iterations = iterations


class DescribeUserScramCredentialsResult(Message):
    __slots__ = ("credential_infos", "error_code", "error_message", "user")
    FIELDS = """
        user string 0+
        error_code int16 0+
        error_message string 0+ nullable=0+
        credential_infos []CredentialInfo 0+
    """

    def __init__(
        self,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
        credential_infos: Sequence[CredentialInfo] = (),
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message
        self.credential_infos = credential_infos


class DescribeUserScramCredentialsResponse(Message):
    __slots__ = ("error_code", "error_message", "results", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        error_code int16 0+
        error_message string 0+ nullable=0+
        results []DescribeUserScramCredentialsResult 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: Sequence[DescribeUserScramCredentialsResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = results
