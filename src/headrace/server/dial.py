"""One blocking connection to a broker, for commands: send a frame, wait for the frame that answers it.

What can go wrong is an `OSError` (nothing listens, it fell silent, it hung up) or a `ProtocolError` (what answers is no Kafka). A
connection on which anything went wrong, an interrupt by the user included, is closed: the next answer on it could be the
answer to something else.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Sequence

from headrace.base.errors import ProtocolError
from headrace.base.files import Buffer
from headrace.base.limits import FRAME_SIZE_MAX

_unpack_size = struct.Struct(">i").unpack


class Line:
    """An open connection."""

    def __init__(self, host: str, port: int, timeout_s: float) -> None:
        self.peer = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        self.socket: socket.socket | None = socket.create_connection((host, port), timeout_s)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def exchange(self, frame: Sequence[Buffer], timeout_s: float) -> memoryview:
        """Send a whole frame; the answer without its four bytes of length."""
        if self.socket is None:
            raise ConnectionError(f"the connection to {self.peer} is closed")
        try:
            self.socket.settimeout(timeout_s)
            self.socket.sendall(b"".join(frame))
            (size,) = _unpack_size(self._receive(4))
            if not 4 <= size <= FRAME_SIZE_MAX:
                raise ProtocolError(f"{self.peer} announces an answer of {size} bytes; 4 to {FRAME_SIZE_MAX} are sane")
            return self._receive(size)
        except BaseException:
            self.close()
            raise

    def _receive(self, size: int) -> memoryview:
        assert self.socket is not None
        whole = memoryview(bytearray(size))
        at = 0
        while at < size:
            got = self.socket.recv_into(whole[at:])
            if not got:
                raise ConnectionResetError(f"{self.peer} closed the connection after {at} of {size} bytes")
            at += got
        return whole

    def close(self) -> None:
        if self.socket is not None:
            self.socket.close()
            self.socket = None


def dial(host: str, port: int, timeout_s: float) -> Line:
    return Line(host, port, timeout_s)
