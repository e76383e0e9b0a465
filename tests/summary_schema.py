#!/usr/bin/env python3
"""summary_schema.py SUMMARY...: check summaries against their schema.

One line on stderr for each that is wrong; exits 1 where there is one.
"""
import json
import os
import sys

import validate

SCHEMA = os.path.join(os.path.dirname(__file__), "../docs/summary.schema.json")


def main(paths):
    with open(SCHEMA, encoding="utf-8") as f:
        validate.SCHEMA = json.load(f)
    validate.check_schema(validate.SCHEMA)
    rc = 0
    for path in paths:
        with open(path, encoding="utf-8") as f:
            wrong = validate.check(json.load(f), validate.SCHEMA)
        if wrong:
            print(f"{path}: {wrong[0]} {wrong[1]}", file=sys.stderr)
            rc = 1
    return rc


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
