"""AlterUserScramCredentials, version 0.

Written by `tools/make_messages.py` from the facts of Kafka: change the tool, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from headrace.protocols.kafka.messages.message import Message

if TYPE_CHECKING:
    from collections.abc import Sequence

API_KEY = 51
VERSIONS = (0, 0)
FLEXIBLE_FROM = 0


class ScramCredentialDeletion(Message):
    __slots__ = ("mechanism", "name")
    FIELDS = """
        name string 0+
        mechanism int8 0+
    """

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
    ) -> None:
        self.name = name
        self.mechanism = mechanism


class ScramCredentialUpsertion(Message):
    __slots__ = ("iterations", "mechanism", "name", "salt", "salted_password")
    FIELDS = """
        name string 0+
        mechanism int8 0+
        iterations int32 0+
        salt bytes 0+
        salted_password bytes 0+
    """

    def __init__(
        self,
        name: str = "",
        mechanism: int = 0,
        iterations: int = 0,
        salt: bytes = b"",
        salted_password: bytes = b"",
    ) -> None:
        self.name = name
        self.mechanism = mechanism
        self.iterations = iterations
        self.salt = salt
        self.salted_password = salted_password


class AlterUserScramCredentialsRequest(Message):
    __slots__ = ("deletions", "upsertions")
    FIELDS = """
        deletions []ScramCredentialDeletion 0+
        upsertions []ScramCredentialUpsertion 0+
    """

    def __init__(
        self,
        deletions: Sequence[ScramCredentialDeletion] = (),
        upsertions: Sequence[ScramCredentialUpsertion] = (),
    ) -> None:
        self.deletions = deletions
        self.upsertions = upsertions


class AlterUserScramCredentialsResult(Message):
    __slots__ = ("error_code", "error_message", "user")
    FIELDS = """
        user string 0+
        error_code int16 0+
        error_message string 0+ nullable=0+
    """

    def __init__(
        self,
        user: str = "",
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.user = user
        self.error_code = error_code
        self.error_message = error_message


class AlterUserScramCredentialsResponse(Message):
    __slots__ = ("results", "throttle_time_ms")
    FIELDS = """
        throttle_time_ms int32 0+
        results []AlterUserScramCredentialsResult 0+
    """

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[AlterUserScramCredentialsResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results
