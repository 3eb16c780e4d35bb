"""ApiVersions: what this node speaks.

v0-2  the list of APIs; v1 throttle time
v3    KIP-482 flexible, KIP-511 client software, KIP-584 features
v4    KIP-1022: a feature's minimum may be 0

An unknown version is answered with version 0 and UNSUPPORTED_VERSION (KIP-511). What we advertise is what we serve, but
for the exceptions in `messages/exceptions.py`.
"""

from __future__ import annotations

import re

from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers import HANDLERS
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages import API
from headrace.protocols.kafka.messages.api_versions import (
    ApiVersion,
    ApiVersionsRequest,
    ApiVersionsResponse,
    FinalizedFeatureKey,
    SupportedFeatureKey,
)

_SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")

# The features a 4.3 client looks for. metadata.version stands at the level whose semantics we serve; the others say "not here".
FEATURES: dict[str, tuple[int, int, int]] = {  # name: least, most, level in force
    "group.version": (0, 0, 0),
    "metadata.version": (7, 30, 30),
    "transaction.version": (0, 0, 0),
}

_API_KEYS = [ApiVersion(key, API[key].advertised_min, API[key].max_version) for key in sorted(HANDLERS)]
_SUPPORTED = [SupportedFeatureKey(name, least, most) for name, (least, most, _) in FEATURES.items() if most]
_FINALIZED = [FinalizedFeatureKey(name, level, level) for name, (_, _, level) in FEATURES.items() if level]


def handle(broker: Broker, request: ApiVersionsRequest, context: Context) -> ApiVersionsResponse:
    if context.version >= 3:
        if not (_SOFTWARE.fullmatch(request.client_software_name) and _SOFTWARE.fullmatch(request.client_software_version)):
            return ApiVersionsResponse(error_code=errors.INVALID_REQUEST)
        context.peer.software_name = request.client_software_name
        context.peer.software_version = request.client_software_version
    return ApiVersionsResponse(
        api_keys=_API_KEYS, supported_features=_SUPPORTED, finalized_features_epoch=0, finalized_features=_FINALIZED
    )


def refuse_version(broker: Broker) -> ApiVersionsResponse:
    return ApiVersionsResponse(
        error_code=errors.UNSUPPORTED_VERSION, api_keys=[ApiVersion(18, API[18].min_version, API[18].max_version)]
    )
