"""How many wrong devices does the suite catch?

Usage: mutate.py [-n N] [-s SEED] [-l LEVEL] [-j JOBS] [-o FOLDER]

Draws N mutants of the reference device at random: an overload that it serves
and an action of the fault plans that can show there.  Each is wrong in some
cases that reach its overload, and in no others, so that many share a run.
A mutant is caught if a case doesn't pass, or an advice check says no, where
the healthy device's does.  What was not caught is tried once more, on every
case that reaches the overload.  A mutant that found nothing to change in any
of them is equivalent: its action can't alter what that op does there.

The folder (build/mutate) gets reach.jsonl, what the healthy device was seen to
do, which later runs use again; mutants.jsonl; survivors.jsonl, a fault plan.
The last line is "caught C of N mutants: P %".  Exit status: 0, or 4 where the
tools failed.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import random
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
DTYPES = {"float32", "int64", "bool", "complex64", "bfloat16"}
FEW, MANY, TOGETHER = 16, 400, 120
# Drawn by nobody, and why.
NOT_DRAWN = {
    "instead": "only a plan that names the other op makes sense",
    "print": "output on the side is no fault",
    "leak": "shows where memory is watched over many calls",
    "rng_seed_only": "is about a generator, not an op",
    "poison": "would spoil the cases of other mutants",
    "mixed_devices": "shows only in cases on two devices",
    "exhaust": "is throw with type oom, and takes memory from others",
}
HANGS = {"spin", "sleep", "deadlock"}


def tool(name):
    return os.path.join(TOP, "bin", name)


def die(what):
    print("mutate:", what, file=sys.stderr)
    sys.exit(4)


def pipeline(cases, folder, name, plan=None):
    """Verdicts and reached overloads of cases, by id."""
    stem = os.path.join(folder, name)
    with open(stem + ".cases", "w") as f:
        f.writelines(json.dumps(c) + "\n" for c in cases)
    env = dict(os.environ, OMP_NUM_THREADS="1")
    env.pop("CTS_REFDEV_FAULTS", None)
    if plan is not None:
        with open(stem + ".plan", "w") as f:
            f.writelines(json.dumps(r) + "\n" for r in plan)
        if os.path.exists(stem + ".log"):
            os.remove(stem + ".log")
        env["CTS_REFDEV_FAULTS"] = stem + ".plan"
        env["CTS_REFDEV_FAULTS_LOG"] = stem + ".log"
    with open(stem + ".cases") as src, open(stem + ".err", "w") as err:
        a = subprocess.Popen(
            [tool("cts-isolate"), "-t", "20", "--", tool("cts-exec"),
             "-d", "refdev:0"], stdin=src, stdout=subprocess.PIPE,
            stderr=err, env=env)
        b = subprocess.Popen([tool("cts-compare")], stdin=a.stdout,
                             stdout=subprocess.PIPE, stderr=err)
        a.stdout.close()
        got, where = {}, collections.defaultdict(set)
        for line in b.stdout:
            kind = line[:40]
            if b'"obs"' in kind:
                r = json.loads(line)
                where[r["id"]].update(r.get("where", ()))
            elif b'"verdict"' in kind:
                r = json.loads(line)
                checks = r.get("checks", {})
                got[r["id"]] = (r["outcome"], sorted(
                    k for k, v in checks.items() if not v.get("ok", True)))
        if a.wait() or b.wait():
            die(f"{name} failed, see {stem}.err")
    fired = set()
    if plan is not None and os.path.exists(stem + ".log"):
        with open(stem + ".log") as f:
            for line in f:
                r = json.loads(line)
                if r["fired"]:
                    fired.add(r["rule"])
    for ext in (".cases", ".plan", ".log", ".err"):
        if os.path.exists(stem + ext):
            os.remove(stem + ext)
    return got, where, fired


def spread(cases, jobs, folder, name, plan=None):
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(
            lambda i: pipeline(cases[i::jobs], folder, f"{name}{i}", plan),
            range(jobs)))


def reach(opt):
    """Cases by id, what the healthy device does in each, and the overloads."""
    p = subprocess.run(
        [tool("cts-enum"), "-d", "refdev", "-l", str(opt.level),
         "--max-samples", "3"], stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL)
    if p.returncode:
        die("cts-enum failed")
    cases = [json.loads(line) for line in p.stdout.splitlines()
             if b'"kind":"case"' in line[:40]]
    cases = [c for c in cases if c["dtype"] in DTYPES]
    digest = hashlib.sha256(repr([c["id"] for c in cases]).encode())
    file = os.path.join(opt.folder, f"reach-{digest.hexdigest()[:12]}.jsonl")
    seen = {}
    if os.path.exists(file):
        with open(file) as f:
            for line in f:
                r = json.loads(line)
                seen[r["id"]] = r
    else:
        for got, where, _ in spread(cases, opt.jobs, opt.folder, "reach"):
            for i, (outcome, no) in got.items():
                seen[i] = {"id": i, "outcome": outcome, "no": no,
                           "where": sorted(where[i])}
        with open(file + ".new", "w") as f:
            f.writelines(json.dumps(r) + "\n" for r in seen.values())
        os.rename(file + ".new", file)
    good = {c["id"]: c for c in cases
            if seen.get(c["id"], {}).get("outcome") == "pass"}
    by_op = collections.defaultdict(list)
    for i in good:
        for o in seen[i]["where"]:
            by_op[o].append(i)
    return good, seen, by_op


def draw(rnd, by_op, served, applicable, schemas):
    """One mutant: an overload and a rule."""
    while True:
        op = rnd.choice(served)
        actions = [a for a in applicable(op) if a not in NOT_DRAWN]
        do = rnd.choice(actions)
        args = schemas[op].arguments
        tensors = [i for i, a in enumerate(args) if "Tensor" in str(a.type)]
        r = {"op": op.removeprefix("aten::"), "do": do}
        if do in ("dense", "no_offset", "no_expand", "no_conj", "no_neg",
                  "broadcast", "transpose", "stale", "lose_input",
                  "no_stride", "first_only", "mutates"):
            r["arg"] = rnd.choice(tensors)
        if do == "swap":
            r["arg"], r["with"] = rnd.sample(tensors, 2) \
                if len(tensors) > 1 else (0, 1)
        if do == "ignore":
            names = [i for i, a in enumerate(args) if a.has_default_value()
                     and a.name not in ("dtype", "layout", "device", "out",
                                        "pin_memory", "memory_format",
                                        "generator", "non_blocking")]
            if not names:
                continue
            r["arg"] = rnd.choice(names)
        if do == "ulp":
            r["k"] = rnd.choice((16, 256, 4096))
        if do in ("ulp", "set", "drop_one"):
            r["at"] = rnd.choice(("first", "middle", "last", "all"))
        if do == "scale":
            r["by"] = rnd.choice((1.01, 2, -1))
        if do == "via":
            r["as"] = rnd.choice(("float32", "float16", "int32"))
        if do in ("lose", "lose_input"):
            r["what"] = rnd.choice(("nan", "inf", "negzero", "subnormal"))
        if do == "wrap":
            r["bits"] = rnd.choice((8, 32))
        if do == "throw":
            r["type"] = rnd.choice(("runtime", "value", "oom", "assert"))
        if do == "signal":
            r["signal"] = rnd.choice(("SEGV", "ABRT", "KILL", "FPE"))
        if do == "overrun":
            r["where"] = rnd.choice(("before", "after", "gap"))
        return op, r


def choose(rnd, ids, taken, most):
    """Up to most cases that nobody has, one of each variant in turn."""
    by_variant = collections.defaultdict(list)
    for i in ids:
        if i not in taken:
            by_variant[i.rsplit("/", 1)[1]].append(i)
    lists = [rnd.sample(v, len(v)) for _, v in sorted(by_variant.items())]
    rnd.shuffle(lists)
    picked = []
    while lists and len(picked) < most:
        lists = [v for v in lists if v]
        for v in lists:
            if v and len(picked) < most:
                picked.append(v.pop())
    return picked


def batches(mutants, by_op, rnd, most):
    todo = list(mutants)
    while todo:
        taken, batch, left = set(), [], []
        for m in todo:
            want = 1 if m["rule"]["do"] in HANGS else \
                min(most, len(by_op[m["op"]]))
            ids = choose(rnd, by_op[m["op"]], taken, want) \
                if len(batch) < TOGETHER else []
            if len(ids) < want and batch:
                left.append(m)
                continue
            taken.update(ids)
            batch.append((m, ids))
        yield batch
        todo = left


def run_batch(n, batch, cases, seen, opt):
    plan, todo = [], []
    for m, ids in batch:
        plan.append({"name": m["name"], **m["rule"], "case": ids})
        for i in ids:
            c = dict(cases[i])
            if m["rule"]["do"] in HANGS:
                c["timeout_s"] = 4
            todo.append(c)
    random.Random(n).shuffle(todo)
    got, _, fired = pipeline(todo, opt.folder, f"batch{n}", plan)
    for m, ids in batch:
        m["fired"] = m.get("fired", False) or m["name"] in fired
        for i in sorted(ids, key=lambda i: cases[i]["level"]):
            outcome, no = got.get(i, ("missing", []))
            new = [c for c in no if c not in seen[i]["no"]]
            if outcome == "pass" and not new:
                continue
            m["caught"] = {
                "case": i, "outcome": outcome, "level": cases[i]["level"],
                "check": new[0] if new else outcome}
            # Whoever was caught has changed something.
            m["fired"] = True
            break


def table(title, rows):
    print(f"\n{title:24} mutants  equivalent  caught  survived")
    for k, ms in sorted(rows.items()):
        eq = sum(not m["fired"] for m in ms)
        c = sum("caught" in m for m in ms)
        print(f"{k:24} {len(ms):7} {eq:11} {c:7} {len(ms) - eq - c:9}")


def main():
    p = argparse.ArgumentParser(prog="mutate.py")
    p.add_argument("-n", type=int, default=200)
    p.add_argument("-s", "--seed", type=int, default=1)
    p.add_argument("-l", "--level", type=int, default=3)
    p.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 2)
    p.add_argument("-o", dest="folder",
                   default=os.path.join(TOP, "build", "mutate"))
    opt = p.parse_args()
    os.makedirs(opt.folder, exist_ok=True)

    sys.path.insert(0, os.path.join(TOP, "build", "refdev"))
    import torch
    import torch_refdev
    schemas = {s.name + ("." + s.overload_name if s.overload_name else ""): s
               for s in torch._C._jit_get_all_schemas()}
    cases, seen, by_op = reach(opt)
    served = sorted(o for o in by_op
                    if o in set(torch_refdev.overloads()) and o in schemas)
    print(f"{len(cases)} cases at level {opt.level} reach {len(served)} "
          f"overloads", flush=True)

    rnd = random.Random(opt.seed)
    mutants = []
    for k in range(opt.n):
        op, r = draw(rnd, by_op, served, torch_refdev.applicable, schemas)
        mutants.append({"name": f"m{k}", "op": op, "rule": r})
    groups = dict(torch_refdev.actions())
    n = 0
    for most in (FEW, MANY):
        todo = [m for m in mutants if "caught" not in m]
        with concurrent.futures.ThreadPoolExecutor(opt.jobs) as pool:
            jobs = []
            for b in batches(todo, by_op, rnd, most):
                jobs.append(pool.submit(run_batch, n, b, cases, seen, opt))
                n += 1
            for j in jobs:
                j.result()

    rows = collections.defaultdict(list)
    for m in mutants:
        rows[m["rule"]["do"]].append(m)
    table("by action", rows)
    rows = collections.defaultdict(list)
    for m in mutants:
        rows[groups[m["rule"]["do"]]].append(m)
    table("by kind of action", rows)
    for title, key in (("check", "check"), ("level", "level")):
        count = collections.Counter(str(m["caught"][key]) for m in mutants
                                    if "caught" in m)
        print(f"\ncaught by {title}:", ", ".join(
            f"{k} {v}" for k, v in sorted(count.items())))
    live = [m for m in mutants if m["fired"] and "caught" not in m]
    with open(os.path.join(opt.folder, "mutants.jsonl"), "w") as f:
        f.writelines(json.dumps(m) + "\n" for m in mutants)
    with open(os.path.join(opt.folder, "survivors.jsonl"), "w") as f:
        for m in live:
            line = json.dumps({"name": m["name"], **m["rule"]})
            print(line, file=f)
            print("survived:", line)
    real = [m for m in mutants if m["fired"]]
    good = sum("caught" in m for m in real)
    print(f"{len(mutants) - len(real)} of {len(mutants)} are equivalent")
    print(f"caught {good} of {len(real)} mutants: "
          f"{100 * good / len(real) if real else 100:.1f} %")


if __name__ == "__main__":
    main()
