"""The reference of settings is what the tables say."""

from headrace.base.settings import SETTINGS
from headrace.base.topic_settings import TOPIC_SETTINGS
from tools.make_settings_doc import PAGE, page


def test_the_page_is_what_the_tables_say():
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python tools/make_settings_doc.py"


def test_every_setting_stands_on_the_page_with_both_names():
    text = page()
    for setting in SETTINGS:
        assert f"| `{setting.name}` |" in text
        assert setting.kafka_name is None or f"`{setting.kafka_name}`" in text
    for topic_setting in TOPIC_SETTINGS:
        assert f"| `{topic_setting.name}` |" in text
        assert topic_setting.node_name is None or f"`{topic_setting.node_name}`" in text
