#!/usr/bin/env python3
"""validate.py SCHEMA [FILE...]: check a record stream against docs/records.md.

Each line (of standard input or the files, which may be gzip) must be one
record that SCHEMA allows, and keep the rules that no JSON Schema can state:
at most 1 MiB with its newline, v, kind, id and run first and in that order, no
key twice, no null, no fraction but under keys that begin with t_ or end in _s
or _mb.  One line on stderr for each fault.  Exits 0, or 1 where there was one,
2 for bad usage, which a schema with a keyword unknown here is, too.

Needs nothing but the standard library.
"""
import gzip
import json
import re
import sys

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
}
KEYWORDS = {
    "$schema", "$comment", "$defs", "$ref", "title", "type", "const", "enum",
    "required", "properties", "additionalProperties", "propertyNames", "items",
    "minItems", "maxItems", "minLength", "maxLength", "minimum", "maximum",
    "pattern", "allOf", "anyOf", "if", "then", "else",
}


def check_schema(s, where="#"):
    """Refuse what check() would pass over in silence."""
    if isinstance(s, bool):
        return
    for key, sub in s.items():
        if key not in KEYWORDS:
            sys.exit(fail(f"{where}: unknown keyword '{key}'", 2))
        at = f"{where}/{key}"
        if key in ("properties", "$defs"):
            for name, one in sub.items():
                check_schema(one, f"{at}/{name}")
        elif key in ("allOf", "anyOf"):
            for i, one in enumerate(sub):
                check_schema(one, f"{at}/{i}")
        elif key in ("additionalProperties", "propertyNames", "items", "if",
                     "then", "else"):
            check_schema(sub, at)
        elif key == "$ref":
            resolve(sub)


def resolve(ref):
    s = SCHEMA
    for part in ref.removeprefix("#/").split("/"):
        if part not in s:
            sys.exit(fail(f"nothing is at '{ref}'", 2))
        s = s[part]
    return s


def same(a, b):
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def check(v, s, at=""):
    """What is wrong with v, as (place, what); None where nothing is."""
    if s is True:
        return None
    if s is False:
        return at, "is not known here"
    if "$ref" in s:
        wrong = check(v, resolve(s["$ref"]), at)
        if wrong:
            return wrong
    if "type" in s and not TYPES[s["type"]](v):
        return at, f"is no {s['type']}"
    if "const" in s and not same(v, s["const"]):
        return at, f"is not {json.dumps(s['const'])}"
    if "enum" in s and not any(same(v, w) for w in s["enum"]):
        return at, f"is {json.dumps(v)[:60]}, none of {json.dumps(s['enum'])}"
    for part in s.get("allOf", ()):
        wrong = check(v, part, at)
        if wrong:
            return wrong
    if "anyOf" in s:
        wrongs = [check(v, part, at) for part in s["anyOf"]]
        if None not in wrongs:
            return wrongs[0]
    if "if" in s:
        branch = "else" if check(v, s["if"], at) else "then"
        wrong = check(v, s.get(branch, True), at)
        if wrong:
            return wrong
    if isinstance(v, dict):
        return check_object(v, s, at)
    if isinstance(v, list):
        return check_array(v, s, at)
    if isinstance(v, str):
        return check_string(v, s, at)
    if TYPES["number"](v):
        if v < s.get("minimum", v) or v > s.get("maximum", v):
            return at, f"is {v}, out of range"
    return None


def check_object(v, s, at):
    for key in s.get("required", ()):
        if key not in v:
            return at, f"has no '{key}'"
    known = s.get("properties", {})
    for key, sub in v.items():
        wrong = check(key, s.get("propertyNames", True), f"{at}/{key}")
        wrong = wrong or check(sub, known[key] if key in known else
                               s.get("additionalProperties", True),
                               f"{at}/{key}")
        if wrong:
            return wrong
    return None


def check_array(v, s, at):
    if not s.get("minItems", 0) <= len(v) <= s.get("maxItems", len(v)):
        return at, f"has {len(v)} elements"
    if "items" in s:
        for i, sub in enumerate(v):
            wrong = check(sub, s["items"], f"{at}/{i}")
            if wrong:
                return wrong
    return None


def check_string(v, s, at):
    if not s.get("minLength", 0) <= len(v) <= s.get("maxLength", len(v)):
        return at, f"has {len(v)} characters"
    if "pattern" in s and not re.search(s["pattern"], v):
        return at, f"is {json.dumps(v)[:60]}, not like {s['pattern']}"
    return None


def check_plain(v, key, at):
    """No null, no fraction where the key doesn't allow one."""
    if v is None:
        return at, "is null"
    if isinstance(v, float) and not (key.startswith("t_") or
                                     key.endswith(("_s", "_mb"))):
        return at, "is a fraction"
    subs = v.items() if isinstance(v, dict) else \
        ((i, sub) for i, sub in enumerate(v)) if isinstance(v, list) else ()
    for name, sub in subs:
        wrong = check_plain(sub, name if isinstance(v, dict) else key,
                            f"{at}/{name}")
        if wrong:
            return wrong
    return None


def no_twins(pairs):
    out = dict(pairs)
    if len(out) < len(pairs):
        raise ValueError("a key comes twice")
    return out


def no_constant(word):
    raise ValueError(f"'{word}' is no JSON")


def check_line(line):
    if not line.endswith(b"\n"):
        return "", "is cut: no newline"
    if len(line) > 1 << 20:
        return "", f"has {len(line)} bytes"
    try:
        rec = json.loads(line.decode("utf-8", "strict"),
                         object_pairs_hook=no_twins,
                         parse_constant=no_constant)
    except (ValueError, RecursionError) as e:
        return "", f"is no JSON: {e}"
    if not isinstance(rec, dict):
        return "", "is no object"
    head = [k for k in rec if k in ("v", "kind", "id", "run")]
    if head != list(rec)[:len(head)] or head != ["v", "kind", "id", "run"]:
        return "", "does not begin with v, kind, id, run"
    return check(rec, SCHEMA) or check_plain(rec, "", "")


def lines_of(path):
    f = sys.stdin.buffer if path == "-" else open(path, "rb")
    with f:
        if f.peek(2)[:2] == b"\x1f\x8b":
            f = gzip.GzipFile(fileobj=f)
        yield from f


def fail(text, rc):
    print(f"validate: {text}", file=sys.stderr)
    return rc


def main(argv):
    global SCHEMA
    if len(argv) < 2:
        return fail("usage: validate.py SCHEMA [FILE...]", 2)
    with open(argv[1], encoding="utf-8") as f:
        SCHEMA = json.load(f, object_pairs_hook=no_twins)
    check_schema(SCHEMA)
    rc = 0
    for path in argv[2:] or ["-"]:
        for n, line in enumerate(lines_of(path), 1):
            wrong = check_line(line)
            if wrong:
                at, what = wrong
                rc = fail(f"{path}:{n}: {at or 'record'} {what}", 1)
    return rc


if __name__ == "__main__":
    sys.exit(main(sys.argv))
