"""Does the suite find the public bugs that tests/bugs has plans for?

Usage: bugs.py [-j JOBS] [PLAN...]    TAP on stdout; 1 if one was not found.

Each plan's header names the cases that must turn the bug up, and the check
that must say so.  All plans share a run, each wrong in cases of its own; the
same run without them must be clean.
"""

import argparse
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

import mutate

CASES = 4		# so many of a plan's cases are run


def read(file):
    with open(file) as f:
        lines = [json.loads(line) for line in f if line.strip()]
    return lines[0], lines[1:]


def enumerated():
    p = subprocess.run([mutate.tool("cts-enum"), "-d", "refdev", "-l", "8",
                        "--max-samples", "10"], stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL)
    if p.returncode:
        mutate.die("cts-enum failed")
    return [json.loads(line) for line in p.stdout.splitlines()
            if b'"kind":"case"' in line[:40]]


def main():
    p = argparse.ArgumentParser(prog="bugs.py")
    p.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 2)
    p.add_argument("plans", nargs="*")
    opt = p.parse_args()
    files = opt.plans or sorted(glob.glob(
        os.path.join(mutate.TOP, "tests", "bugs", "*.jsonl")))
    cases = {c["id"]: c for c in enumerated()}

    bugs = []
    for f in files:
        head, rules = read(f)
        rx = re.compile(head["case"])
        bugs.append((head, rules, [i for i in cases if rx.search(i)]))
    taken, plan, todo, mine = set(), [], [], {}
    # The choosy first.
    for head, rules, fit in sorted(bugs, key=lambda b: len(b[2])):
        ids = [i for i in fit if i not in taken][:CASES]
        mine[head["plan"]] = ids
        taken.update(ids)
        for k, r in enumerate(rules):
            if ids:
                plan.append({**r, "name": f"{head['plan']}.{k}", "case": ids})
        for i in ids:
            c = dict(cases[i])
            if c["suite"] != "opinfo":
                c["samples"] = 0
            if head["check"] == "hang":
                c["timeout_s"] = 10
            todo.append(c)
    with tempfile.TemporaryDirectory() as folder:
        got = {}
        for part, _, _ in mutate.spread(todo, opt.jobs, folder, "sick", plan):
            got.update(part)
        well = {}
        for part, _, _ in mutate.spread(todo, opt.jobs, folder, "well"):
            well.update(part)

    bad = 0
    for n, (head, _, fit) in enumerate(bugs, 1):
        name = head["plan"]
        seen = {i: got.get(i, ("missing", [])) for i in mine[name]}
        found = any(head["check"] in no or outcome == head["check"] or
                    (head["check"] == "hang" and outcome == "timeout")
                    for outcome, no in seen.values())
        clean = all(well.get(i, ("missing",))[0] == "pass"
                    for i in mine[name])
        if not fit:
            print(f"ok {n} - {name} # SKIP no case {head['case']} here")
            continue
        print(f"{'ok' if found and clean else 'not ok'} {n} - {name}: "
              f"{head['check']}")
        if found and clean:
            continue
        bad += 1
        for i, v in seen.items():
            print(f"# {i}: with the plan {v}, without {well.get(i)}")
    print(f"1..{len(bugs)}")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
