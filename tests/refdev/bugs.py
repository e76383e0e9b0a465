"""Does the suite find the public bugs that tests/bugs has plans for?

Usage: bugs.py [-j JOBS] [PLAN...]    TAP on stdout; 1 if one was not found.

Each plan's header names the cases that must turn the bug up, and the check
that must say so.  All plans share a run, each wrong in cases of its own; the
same run without them must be clean.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
CASES = 4  # so many of a plan's cases are run


def tool(name):
    return os.path.join(TOP, "bin", name)


def die(what):
    print("bugs:", what, file=sys.stderr)
    sys.exit(4)


def pipeline(cases, folder, name, plan=None):
    """Outcome and failed checks of each case, by id."""
    stem = os.path.join(folder, name)
    with open(stem + ".cases", "w") as f:
        f.writelines(json.dumps(c) + "\n" for c in cases)
    env = dict(os.environ, OMP_NUM_THREADS="1")
    env.pop("CTS_REFDEV_FAULTS", None)
    if plan is not None:
        with open(stem + ".plan", "w") as f:
            f.writelines(json.dumps(r) + "\n" for r in plan)
        env["CTS_REFDEV_FAULTS"] = stem + ".plan"
    with open(stem + ".cases") as src, open(stem + ".err", "w") as err:
        a = subprocess.Popen(
            [tool("cts-isolate"), "-t", "20", "--", tool("cts-exec"),
             "-d", "refdev:0"], stdin=src, stdout=subprocess.PIPE,
            stderr=err, env=env)
        b = subprocess.Popen([tool("cts-compare")], stdin=a.stdout,
                             stdout=subprocess.PIPE, stderr=err)
        a.stdout.close()
        got = {}
        for line in b.stdout:
            if b'"verdict"' in line[:40]:
                r = json.loads(line)
                got[r["id"]] = (r["outcome"], sorted(
                    k for k, v in r.get("checks", {}).items()
                    if not v.get("ok", True)))
        if a.wait() or b.wait():
            with open(stem + ".err") as f:
                die(f"{name} run failed: {f.read()[-300:].strip()}")
    return got


def spread(cases, jobs, folder, name, plan=None):
    got = {}
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for part in pool.map(lambda i: pipeline(cases[i::jobs], folder,
                                                f"{name}{i}", plan),
                             range(jobs)):
            got.update(part)
    return got


def read(file):
    with open(file) as f:
        lines = [json.loads(line) for line in f if line.strip()]
    return lines[0], lines[1:]


def enumerated():
    p = subprocess.run([tool("cts-enum"), "-d", "refdev", "-l", "8",
                        "--max-samples", "10"], stdout=subprocess.PIPE,
                       stderr=subprocess.DEVNULL)
    if p.returncode:
        die("cts-enum failed")
    return [json.loads(line) for line in p.stdout.splitlines()
            if b'"kind":"case"' in line[:40]]


def main():
    p = argparse.ArgumentParser(prog="bugs.py")
    p.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 2)
    p.add_argument("plans", nargs="*")
    opt = p.parse_args()
    files = opt.plans or sorted(glob.glob(
        os.path.join(TOP, "tests", "bugs", "*.jsonl")))
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
        got = spread(todo, opt.jobs, folder, "sick", plan)
        well = spread(todo, opt.jobs, folder, "well")

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
