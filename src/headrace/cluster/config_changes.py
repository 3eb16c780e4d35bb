"""Changes of settings that are kept in the cluster store: one at a time, or all at once. Pure.

Kafka's two ways: incremental (set, delete, append to a list, subtract from it) and the older one that replaces all.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping, Sequence

from headrace.base import node_settings, topic_settings
from headrace.base.errors import Code, Refused
from headrace.base.topic_settings import Kind, NodeLayers, TopicSetting, split_list


class Act(enum.IntEnum):
    """The numbers are those of Kafka's IncrementalAlterConfigs."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


class ConfigChange:
    __slots__ = ("act", "name", "value")

    def __init__(self, name: str, act: Act, value: str | None = None) -> None:
        self.name = name
        self.act = act
        self.value = value


class ConfigRules:
    """What the two kinds of resources have in common: how a name is checked, what it is, and what lies below it."""

    __slots__ = ("below", "check", "find", "what")

    def __init__(
        self,
        what: str,
        check: Callable[[str, str | None], Refused | None],
        find: Callable[[str], TopicSetting | None],
        below: Callable[[TopicSetting], str],
    ) -> None:
        self.what = what
        self.check = check
        self.find = find
        self.below = below  # The value that would be in force without one of the resource's own.


def topic_rules(layers: NodeLayers) -> ConfigRules:
    def below(setting: TopicSetting) -> str:
        candidates = layers.candidates(setting.node_name)
        return candidates[0][1] if candidates else setting.default

    return ConfigRules("topic", topic_settings.check, topic_settings.BY_NAME.get, below)


def node_rules() -> ConfigRules:
    return ConfigRules("node", node_settings.check, topic_settings.BY_NODE_NAME.get, lambda setting: setting.default)


def altered(current: Mapping[str, str], changes: Sequence[ConfigChange], rules: ConfigRules) -> dict[str, str] | Refused:
    """The settings after the changes, all of them or none."""
    names = [change.name for change in changes]
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        return Refused(Code.BAD_REQUEST, f"named more than once in one request: {', '.join(twice)}")
    after = dict(current)
    for change in changes:
        if change.act is Act.DELETE:
            # A name that nobody knows is not there either; Kafka takes that too.
            after.pop(change.name, None)
            continue
        value = _new_value(after, change, rules)
        if isinstance(value, Refused):
            return value
        refused = rules.check(change.name, value)
        if refused is not None:
            return refused
        assert value is not None  # check refuses it
        after[change.name] = value
    return after


def replaced(values: Mapping[str, str | None], rules: ConfigRules) -> dict[str, str] | Refused:
    """The settings when these are all there are."""
    after: dict[str, str] = {}
    for name in sorted(values):
        value = values[name]
        refused = rules.check(name, value)
        if refused is not None:
            return refused
        assert value is not None
        after[name] = value
    return after


def _new_value(after: Mapping[str, str], change: ConfigChange, rules: ConfigRules) -> str | Refused | None:
    if change.act is Act.SET:
        return change.value
    setting = rules.find(change.name)
    if setting is None:
        # The check says what is wrong with the name; what is merely kept has no type to append to.
        return rules.check(change.name, change.value) or _not_a_list(change)
    if setting.kind is not Kind.LIST:
        return _not_a_list(change)
    items = split_list(after[change.name] if change.name in after else rules.below(setting))
    given = split_list(change.value or "")
    if change.act is Act.APPEND:
        return ",".join(dict.fromkeys((*items, *given)))
    return ",".join(item for item in items if item not in given)


def _not_a_list(change: ConfigChange) -> Refused:
    return Refused(Code.BAD_CONFIG, f"{change.name} is not a list: {change.act.name} works on lists only")
