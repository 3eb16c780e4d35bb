"""A refusal to start carries everything that is printed."""

from headrace.server.start_errors import StartRefused


def test_all_parts_are_kept():
    refused = StartRefused("data-folder-in-use", "what", "evidence", "likely", "next")
    assert (refused.code, refused.what, refused.evidence, refused.likely, refused.next) == (
        "data-folder-in-use",
        "what",
        "evidence",
        "likely",
        "next",
    )
    assert str(refused) == "data-folder-in-use: what (evidence)"
