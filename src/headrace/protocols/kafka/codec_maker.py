"""Codecs, made from the descriptions: for one class and one version, one flat decode and one flat encode function.

A message's structure is known when its codec is made, so nothing is looked up when it runs: all nested structs are
written out into one function (no calls, no results to unpack), and neighbours of fixed size share one `Struct`. Two things make the
runs of neighbours long:

- the length that stands before a string, array or body ends the run before it, instead of being a read of its own; compact
  lengths, which are one byte nearly always, are read as that one byte, and read again when it says that more follow;
- the number of tagged fields, which is 0 nearly always, likewise.

What comes out for Heartbeat 4 (decode, shortened):

    def decode(d, at, end, whole):
        left = 200000
        o1 = new(HeartbeatRequest)
        n2 = d[at]; at += 1
        if n2 > 127: n2, at = decode_long_string_size(d, at - 1)
        ...
        e2 = at + n2 - 1
        if e2 > end: raise_short('group_id', e2, end)
        o1.group_id = str(d[at:e2], 'utf-8'); at = e2
        o1.generation_id, n3 = unpack_ib(d, at); at += 5
        ...

Reading beyond the end shows up as `struct.error` or `IndexError` and is named by the caller (`codec.py`); slices are
checked here, because they would only get shorter. `left` is what the message's arrays may still hold together.

The source text consists of names from the descriptions in our own repository; nothing a peer sent is ever in it.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from typing import Any

from headrace.base.ids import NO_TOPIC_ID
from headrace.base.limits import ARRAY_LENGTH_MAX, NESTING_MAX, REQUEST_ARRAY_LENGTH_MAX
from headrace.protocols.kafka import primitives
from headrace.protocols.kafka.fields import FIXED_FORMATS, FIXED_SIZES, Field, fields_of, item_size_min
from headrace.protocols.kafka.messages.message import Message

# decode(data, at, end, whole) -> message; `whole`: bytes after the message are refused.
Decode = Callable[[memoryview, int, int, bool], Message]
# encode(message, out, bodies) -> out: what was written since the last body, which `bodies` holds with all before it.
Encode = Callable[[Any, bytearray, list[Any]], bytearray]

HELPERS = {name: getattr(primitives, name) for name in dir(primitives) if not name.startswith("_")}


def is_flexible(struct_class: type[Message], version: int) -> bool:
    first: int | None = sys.modules[struct_class.__module__].__dict__["FLEXIBLE_FROM"]
    return first is not None and version >= first


class _Maker:
    """What both directions share: lines, names, and the run of neighbours that is still to be written."""

    def __init__(self, struct_class: type[Message], version: int) -> None:
        self.version = version
        self.flexible = is_flexible(struct_class, version)
        self.lines: list[str] = []
        self.depth = 1
        self.nesting = 0
        self.serial = 0
        self.run: list[tuple[str, str]] = []  # struct format, variable or expression
        self.globals: dict[str, Any] = {"new": object.__new__, "ZERO_UUID": NO_TOPIC_ID, "pack": struct.pack, **HELPERS}

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def name(self, letter: str) -> str:
        self.serial += 1
        return f"{letter}{self.serial}"

    def class_name(self, struct_class: type[Message]) -> str:
        self.globals[struct_class.__name__] = struct_class
        return struct_class.__name__

    def struct_name(self, verb: str, formats: str) -> str:
        name = f"{verb}_{formats.replace('?', 'Z').replace('16s', 'U')}"
        made = struct.Struct(">" + formats)
        self.globals[name] = made.unpack_from if verb == "unpack" else made.pack
        return name

    def make(self, head: str) -> Any:
        source = "\n".join([head, *self.lines])
        code = compile(source, f"<made codec, version {self.version}>", "exec")
        exec(code, self.globals)
        return self.globals[head.partition("(")[0].removeprefix("def ")]

    def enter(self) -> None:
        self.nesting += 1
        assert self.nesting <= NESTING_MAX


class _DecodeMaker(_Maker):
    def function(self, struct_class: type[Message]) -> Decode:
        most = REQUEST_ARRAY_LENGTH_MAX if struct_class.__name__.endswith("Request") else ARRAY_LENGTH_MAX
        self.line(f"left = {most}")
        result = self.struct(struct_class)
        self.line("if at != end and whole: raise_trailing(at, end)")
        self.line(f"return {result}")
        made: Decode = self.make("def decode(d, at, end, whole):")
        return made

    def flush(self) -> None:
        """Read the run of neighbours at once."""
        if not self.run:
            return
        formats = "".join(form for form, _ in self.run)
        targets = ", ".join(variable for _, variable in self.run)
        if formats == "B":
            self.line(f"{targets} = d[at]; at += 1")
        else:
            comma = "," if len(self.run) == 1 else ""
            self.line(f"{targets}{comma} = {self.struct_name('unpack', formats)}(d, at); at += {struct.calcsize('>' + formats)}")
        uuids = [variable for form, variable in self.run if form == "16s"]
        self.run.clear()
        for variable in uuids:
            self.line(f"{variable} = kept_uuid({variable}) or make_uuid({variable})")

    def struct(self, struct_class: type[Message]) -> str:
        """Read one struct; the variable that holds it. Nothing is left in the run."""
        self.enter()
        result = self.name("o")
        self.flush()
        self.line(f"{result} = new({self.class_name(struct_class)})")
        tagged = []
        for field in fields_of(struct_class):
            target = f"{result}.{field.name}"
            if self.version not in field.versions or field.is_tagged(self.version):
                self.line(f"{target} = {self.default(field)}")
                if self.version in field.versions:
                    tagged.append(field)
            elif field.is_array:
                self.array(field, target)
            else:
                self.value(field, target, field.is_nullable(self.version))
        if self.flexible:
            self.tags(result, tagged)
        self.flush()
        self.nesting -= 1
        return result

    def default(self, field: Field) -> str:
        if field.struct is not None and not field.is_array and field.nullable is None and field.tagged is None:
            return f"{self.class_name(field.struct)}()"
        if field.kind == "uuid" and not field.is_array:
            return "ZERO_UUID"
        return repr(field.default)

    def size(self, field: Field, what: str) -> str:
        """Read the size of a string or body, or the count of an array, as the end of the run. -1 is null."""
        size = self.name("n")
        if self.flexible:
            self.run.append(("B", size))
            self.flush()
            helper = "decode_long_string_size" if what == "string" else "decode_uvarint"
            self.line(f"if {size} > 127: {size}, at = {helper}(d, at - 1)")
            self.line(f"{size} -= 1")
        else:
            self.run.append(("h" if what == "string" else "i", size))
            self.flush()
        return size

    def value(self, field: Field, target: str, nullable: bool) -> None:
        """Read one value into `target` (an attribute or a local variable)."""
        if field.kind in FIXED_FORMATS:
            self.run.append((FIXED_FORMATS[field.kind], target))
        elif field.struct is None:
            self.sized(field, target, nullable)
        elif not nullable:
            self.line(f"{target} = {self.struct(field.struct)}")
        else:
            marker = self.name("n")
            self.run.append(("b", marker))
            self.flush()
            self.line(f"if {marker} == 1:")
            self.depth += 1
            self.line(f"{target} = {self.struct(field.struct)}")
            self.depth -= 1
            self.line(f"elif {marker} == -1: {target} = None")
            self.line(f"else: raise_marker({field.name!r}, {marker})")

    def sized(self, field: Field, target: str, nullable: bool) -> None:
        size = self.size(field, field.kind)
        after = self.name("e")
        self.line(f"if {size} >= 0:")
        self.depth += 1
        self.line(f"{after} = at + {size}")
        self.line(f"if {after} > end: raise_short({field.name!r}, {after}, end)")
        made = {"string": "str({}, 'utf-8')", "bytes": "bytes({})", "records": "{}"}[field.kind]
        self.line(f"{target} = {made.format(f'd[at:{after}]')}; at = {after}")
        self.depth -= 1
        self.null(field, target, size, nullable)

    def null(self, field: Field, target: str, size: str, nullable: bool) -> None:
        if nullable:
            self.line(f"elif {size} == -1: {target} = None")
        self.line(f"else: raise_null({field.name!r}, {size})")

    def array(self, field: Field, target: str) -> None:
        count = self.size(field, "array")
        item_size = item_size_min(field, self.version, self.flexible)
        assert item_size > 0, field.name
        self.line(f"if {count} >= 0:")
        self.depth += 1
        self.line(f"left -= {count}")
        bound = f"{count} * {item_size}" if item_size > 1 else count
        self.line(f"if left < 0 or {bound} > end - at: raise_array({field.name!r}, {count}, left)")
        if field.kind in FIXED_FORMATS and field.kind != "uuid":
            self.globals["unpack_from"] = struct.unpack_from
            letter = FIXED_FORMATS[field.kind]
            self.line(f"{target} = unpack_from(f'>{{{count}}}{letter}', d, at); at += {bound}")
        else:
            items, item = self.name("a"), self.name("i")
            self.line(f"{target} = {items} = []")
            self.line(f"for _ in range({count}):")
            self.depth += 1
            if field.struct is not None:
                item = self.struct(field.struct)
            else:
                self.value(field, item, False)
                self.flush()
            self.line(f"{items}.append({item})")
            self.depth -= 1
        self.depth -= 1
        self.null(field, target, count, field.is_nullable(self.version))

    def tags(self, result: str, tagged: list[Field]) -> None:
        """The tagged fields that end a struct. Their targets already hold the defaults."""
        count = self.name("t")
        self.run.append(("B", count))
        self.flush()
        if not tagged:
            self.line(f"if {count}: at = skip_tags(d, at, end, {count})")
            return
        tag, after = self.name("g"), self.name("e")
        self.line(f"if {count}:")
        self.depth += 1
        self.line(f"{count}, at = decode_tag_count(d, at, {count})")
        self.line(f"{tag} = -1")
        self.line(f"for _ in range({count}):")
        self.depth += 1
        self.line(f"{tag}, at, {after} = decode_tag(d, at, end, {tag})")
        for number, field in enumerate(tagged):
            self.line(f"{'el' if number else ''}if {tag} == {field.tag}:")
            self.depth += 1
            target = f"{result}.{field.name}"
            if field.is_array:
                self.array(field, target)
            else:
                self.value(field, target, field.is_nullable(self.version))
            self.flush()
            self.line(f"if at != {after}: raise_tag_size({tag}, at, {after})")
            self.depth -= 1
        self.line(f"else: at = {after}")
        self.depth -= 2


class _EncodeMaker(_Maker):
    def __init__(self, struct_class: type[Message], version: int) -> None:
        super().__init__(struct_class, version)
        self.out = "out"

    def function(self, struct_class: type[Message]) -> Encode:
        self.struct(struct_class, "m")
        self.flush()
        self.line("return out")
        made: Encode = self.make("def encode(m, out, bodies):")
        return made

    def write_run(self, run: list[tuple[str, str]]) -> None:
        """Write neighbours at once. An `x` is a zero byte and has no expression."""
        formats = "".join(form for form, _ in run)
        if formats == "B":
            self.line(f"{self.out}.append({run[0][1]})")
        elif formats == "x":
            self.line(f"{self.out}.append(0)")
        elif formats:
            expressions = ", ".join(expression for form, expression in run if form != "x")
            self.line(f"{self.out} += {self.struct_name('pack', formats)}({expressions})")

    def flush(self) -> None:
        self.write_run(self.run)
        self.run.clear()

    def struct(self, struct_class: type[Message], source: str) -> None:
        """Write one struct. What it ends with may stay in the run."""
        self.enter()
        tagged = []
        for field in fields_of(struct_class):
            value = f"{source}.{field.name}"
            if self.version not in field.versions:
                if not field.ignorable:
                    where = f"{struct_class.__name__}.{field.name} in version {self.version}"
                    self.line(f"assert not ({self.differs(field, value)}), {where!r}")
            elif field.is_tagged(self.version):
                tagged.append(field)
            elif field.is_array:
                self.array(field, value)
            else:
                self.value(field, value, field.is_nullable(self.version))
        if self.flexible:
            self.tags(source, sorted(tagged, key=lambda field: field.tag))
        self.nesting -= 1

    def differs(self, field: Field, value: str) -> str:
        """The condition under which a value is not the field's default."""
        if field.struct is not None and not field.is_array and field.nullable is None:
            return f"{value} is not None and {value} != {self.class_name(field.struct)}()"
        if field.is_array and field.default is not None:
            return f"{value} is None or {value}" if field.nullable else value
        if field.kind == "uuid":
            return f"{value} is not ZERO_UUID and {value} != ZERO_UUID"
        if field.default is None:
            return f"{value} is not None"
        return f"{value} != {field.default!r}"

    def size(self, size: str, what: str) -> None:
        """Write the size or count that the variable `size` holds, as the end of the run."""
        if not self.flexible:
            self.run.append(("h" if what == "string" else "i", size))
            self.flush()
            return
        run = list(self.run)
        self.run.clear()
        helper = "encode_long_string_size" if what == "string" else "encode_uvarint"
        self.line(f"{size} += 1")
        self.line(f"if {size} < 128:")
        self.depth += 1
        self.write_run([*run, ("B", size)])
        self.depth -= 1
        self.line("else:")
        self.depth += 1
        self.write_run(run)
        self.line(f"{self.out} += {helper}({size})")
        self.depth -= 1

    def or_null(self, value: str, nullable: bool, what: str) -> None:
        """Where null is allowed: write it, and open the branch of what is not null. Close it with `end_or_null`."""
        if not nullable:
            return
        run = list(self.run)
        self.line(f"if {value} is None:")
        self.depth += 1
        null = ("x", "") if self.flexible else ("h" if what == "string" else "i", "-1")
        self.write_run([*run, null])
        self.depth -= 1
        self.line("else:")
        self.depth += 1

    def end_or_null(self, nullable: bool) -> None:
        if nullable:
            self.depth -= 1

    def value(self, field: Field, value: str, nullable: bool) -> None:
        if field.kind in FIXED_FORMATS:
            self.run.append((FIXED_FORMATS[field.kind], f"{value}.bytes" if field.kind == "uuid" else value))
        elif field.struct is None:
            self.sized(field, value, nullable)
        elif nullable:
            self.nullable_struct(field.struct, value)
        elif field.tagged is not None or "." not in value:
            self.struct(field.struct, value)
        else:
            name = self.name("s")
            self.line(f"{name} = {value}")
            self.struct(field.struct, name)

    def nullable_struct(self, struct_class: type[Message], value: str) -> None:
        name = self.name("s")
        self.line(f"{name} = {value}")
        run = list(self.run)
        self.run.clear()
        self.line(f"if {name} is None:")
        self.depth += 1
        self.write_run([*run, ("b", "-1")])
        self.depth -= 1
        self.line("else:")
        self.depth += 1
        self.run = [*run, ("b", "1")]
        self.struct(struct_class, name)
        self.flush()
        self.depth -= 1

    def sized(self, field: Field, value: str, nullable: bool) -> None:
        body, size = self.name("s"), self.name("n")
        self.line(f"{body} = {value}")
        self.or_null(body, nullable, field.kind)
        if field.kind == "string":
            self.line(f"{body} = {body}.encode()")
        self.line(f"{size} = len({body})")
        if field.name == "error_message":  # it may quote what the client sent
            self.line(f"if {size} > ERROR_TEXT_SIZE_MAX: {body} = clip_text({body}); {size} = len({body})")
        # A body is never written into the buffer: whoever sends it may have better ways than to copy it.
        if field.kind == "records":
            self.size(size, field.kind)
            assert self.out == "out", "records in a tagged field"
            self.line(f"if len({body}): bodies.append(out); bodies.append({body}); out = bytearray()")
        else:
            self.size(size, field.kind)
            self.line(f"{self.out} += {body}")
        self.end_or_null(nullable)

    def array(self, field: Field, value: str) -> None:
        nullable = field.is_nullable(self.version)
        items, count = self.name("a"), self.name("n")
        self.line(f"{items} = {value}")
        self.or_null(items, nullable, "array")
        self.line(f"{count} = len({items})")
        self.size(count, "array")
        if field.kind in FIXED_FORMATS and field.kind != "uuid":
            self.line(f"if {items}: {self.out} += pack(f'>{{len({items})}}{FIXED_FORMATS[field.kind]}', *{items})")
        else:
            item = self.name("i")
            self.line(f"for {item} in {items}:")
            self.depth += 1
            if field.struct is not None:
                self.struct(field.struct, item)
            else:
                self.value(field, item, False)
            self.flush()
            self.depth -= 1
        self.end_or_null(nullable)

    def tags(self, source: str, tagged: list[Field]) -> None:
        if not tagged:
            self.run.append(("x", ""))
            return
        conditions = [self.differs(field, f"{source}.{field.name}") for field in tagged]
        run = list(self.run)
        self.run.clear()
        self.line(f"if {' or '.join(f'({condition})' for condition in conditions)}:")
        self.depth += 1
        self.write_run(run)
        found, before, part = self.name("t"), self.out, self.name("b")
        self.line(f"{found} = []")
        for field, condition in zip(tagged, conditions, strict=True):
            self.line(f"if {condition}:")
            self.depth += 1
            self.line(f"{part} = bytearray()")
            self.out = part
            value = f"{source}.{field.name}"
            if field.is_array:
                self.array(field, value)
            else:
                self.value(field, value, field.is_nullable(self.version))
            self.flush()
            self.out = before
            self.line(f"{found}.append(({field.tag}, {part}))")
            self.depth -= 1
        self.line(f"{self.out} += encode_uvarint(len({found}))")
        self.line(f"for tag, part in {found}: {self.out} += encode_uvarint(tag) + encode_uvarint(len(part)) + part")
        self.depth -= 1
        self.line("else:")
        self.depth += 1
        self.write_run([*run, ("x", "")])
        self.depth -= 1


def make_decode(struct_class: type[Message], version: int) -> Decode:
    return _DecodeMaker(struct_class, version).function(struct_class)


def make_encode(struct_class: type[Message], version: int) -> Encode:
    return _EncodeMaker(struct_class, version).function(struct_class)


assert all(struct.calcsize(">" + form) == FIXED_SIZES[kind] for kind, form in FIXED_FORMATS.items())
