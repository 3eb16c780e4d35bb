"""UpdateFeatures: the levels are fixed by what this node is (KIP-584).

v0; v1 upgrade types (KIP-778); v2 one result for all (KIP-1022)

Setting a feature to the level it has is granted; anything else is refused with the levels that would be allowed.
"""

from __future__ import annotations

from headrace.broker.broker import Broker
from headrace.protocols.kafka import errors
from headrace.protocols.kafka.handlers.api_versions import FEATURES
from headrace.protocols.kafka.handlers.context import Context
from headrace.protocols.kafka.messages.update_features import (
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)


def handle(broker: Broker, request: UpdateFeaturesRequest, context: Context) -> UpdateFeaturesResponse:
    results = []
    first: str | None = None
    for update in request.feature_updates:
        known = FEATURES.get(update.feature)
        result = UpdatableFeatureResult(update.feature, errors.NONE, None)
        if known is None:
            result.error_message = f"there is no feature {update.feature}; there are {', '.join(sorted(FEATURES))}"
        elif update.max_version_level != known[2]:
            result.error_message = f"{update.feature} is at level {known[2]} and cannot be changed to {update.max_version_level}"
        if result.error_message is not None:
            result.error_code = errors.FEATURE_UPDATE_FAILED if known else errors.INVALID_REQUEST
            first = first or result.error_message
        results.append(result)
    if first is not None and context.version >= 2:
        return UpdateFeaturesResponse(error_code=errors.FEATURE_UPDATE_FAILED, error_message=first)
    return UpdateFeaturesResponse(error_message=None, results=results if context.version < 2 else ())
