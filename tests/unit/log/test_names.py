from headrace.log.names import INDEX, LOG, file_name, offset_of


def test_names_are_kafkas() -> None:
    assert file_name(0, LOG) == "00000000000000000000.log"
    assert file_name(2**63 - 1, INDEX) == "09223372036854775807.index"


def test_a_name_gives_its_offset_back() -> None:
    assert offset_of("00000000000000000042.log", LOG) == 42
    for other in ("42.log", "00000000000000000042.index", "0000000000000000004x.log", "00000000000000000042.log.deleted", ".log"):
        assert offset_of(other, LOG) is None, other
