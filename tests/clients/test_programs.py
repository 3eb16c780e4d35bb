"""Real clients in other languages, each through the same short script (see programs.py)."""

from collections.abc import Callable

import pytest

from tests.clients import programs
from tests.support.kafka_jars import Unavailable

PER_CODEC = 20


@pytest.mark.timeout(700)  # the first run of all downloads and compiles
@pytest.mark.parametrize("name", list(programs.PROGRAMS))
def test_short_script(name: str, bootstrap: str, unique: Callable[[str], str]) -> None:
    try:
        report = programs.run(name, bootstrap, unique(f"script-{name}"), unique("group"))
    except Unavailable as why:
        pytest.skip(f"{name} NOT TESTED: {why}")
    codecs = report["codecs"]
    assert "gzip" in codecs
    wanted = sorted([f"{c}-{i}", f"{c} {i} " + "x" * 200, c] for c in codecs for i in range(PER_CODEC))
    assert sorted(report["consumed"]) == wanted
    grouped = "resumed" in report
    if grouped:
        assert report["group_first"] == len(wanted)
        assert sorted(report["resumed"]) == [f"after-{i}" for i in range(4)]
    end = PER_CODEC // 2 * len(codecs) + (2 if grouped else 0)
    assert report["offsets"] == {"0": [0, end], "1": [0, end]}
    assert report["partitions"] == 2
    assert report["deleted"] is True
