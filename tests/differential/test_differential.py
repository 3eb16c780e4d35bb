"""The same requests to Headrace and to Apache Kafka 4.3.1: every field of the answers, every version both serve."""

import pytest

from tests.differential.compare import PAGE, SECTION, compare, known, verdict


@pytest.mark.timeout(300)
def test_every_difference_is_listed_with_its_reason(peer_address: str, our_address: str) -> None:
    found, compared = compare(our_address, peer_address)
    assert compared > 1000, f"only {compared} answers were compared"
    unlisted, stale = verdict(found, known())
    lines = [f"{compared} answers compared, {len(found)} kinds of difference"]
    if unlisted:
        lines.append(f"{len(unlisted)} of them stand in no row of {PAGE.name}, section {SECTION}:")
        lines += [f"  {d}" for d in unlisted]
    if stale:
        lines.append("these rows describe nothing that happens:")
        lines += [f"  line {row.line}: {row.api} {row.field} {row.scenario}" for row in stale]
    assert not unlisted and not stale, "\n".join(lines)


def test_every_row_has_a_reason() -> None:
    for row in known():
        assert len(row.why) > 5, f"line {row.line} of {PAGE.name} has no reason"
