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
    for update in request.feature_updates:
        known = FEATURES.get(update.feature)
        if known is None:
            why = f"there is no feature {update.feature}; there are {', '.join(sorted(FEATURES))}"
        elif update.max_version_level != known[2]:
            why = f"{update.feature} is at level {known[2]} and cannot be changed to {update.max_version_level}"
        else:
            continue
        return UpdateFeaturesResponse(error_code=errors.INVALID_UPDATE_VERSION, error_message=why)
    granted = [UpdatableFeatureResult(update.feature, errors.NONE, None) for update in request.feature_updates]
    return UpdateFeaturesResponse(error_message=None, results=granted if context.version < 2 else ())
