"""What real brokers and clients do and the message descriptions do not say. Each entry with its reason.

The descriptions themselves are generated; this page is by hand and is the only place where we differ from them.
"""

from __future__ import annotations

PRODUCE = 0
API_VERSIONS = 18

# The first version we advertise, where it differs from the first we serve.
# KAFKA-18659: Produce 0-2 died with Kafka 4.0, but librdkafka before 2.9 takes the *lowest* advertised version of Produce as
# the age of the broker and then drops compression without a word. Kafka advertises 0 and serves 3; so do we.
ADVERTISED_MIN: dict[int, int] = {PRODUCE: 0}

# KIP-511: a client asks for ApiVersions before it knows what the broker speaks, so the answer keeps header version 0 (no
# tagged fields) for ever, also in the flexible versions; and a version that the broker does not know is answered with a
# body of version 0, error UNSUPPORTED_VERSION and the list.
RESPONSE_HEADER_ALWAYS_0: frozenset[int] = frozenset({API_VERSIONS})

# KIP-482: the client id in a request's header stays a nullable string with a two-byte length in header version 2 as well, so that
# a broker can read the header of a request whose version it does not know. `codec.decode_header` is written by hand for it.
