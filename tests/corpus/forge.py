"""A corpus file made of another, whose entries lie: every checksum is right.

usage: forge.py lies IN OUT       the n-th case's samples tell the n-th lie
       forge.py drawn SEED IN OUT  a change drawn for SEED in each entry
"""
import random
import struct
import sys
import zlib

ENTRY = "=IIQQII"
MAGIC = 0x79727465
# Of a case's entry: kind, samples, random, "(", arguments, "t", then a tensor.
SAMPLES, ARGS, TYPE, DEVICE, DIMS, SIZES = 1, 11, 20, 37, 48, 49
WRONG = (0, 1, 255, 1 << 20, 1 << 31, 1 << 40, 1 << 54, 1 << 63, (1 << 64) - 1)


def padded(n):
    return (n + 7) // 8 * 8


def entries(b):
    at = 24 + padded(struct.unpack_from("=I", b, 16)[0])
    while at + 32 <= len(b):
        magic, n, raw, stored, *_ = struct.unpack_from(ENTRY, b, at)
        if magic != MAGIC:
            break
        key = b[at + 32:at + 32 + n]
        data = b[at + 32 + n:at + 32 + n + stored]
        yield key, zlib.decompress(data) if stored != raw else data
        at += padded(32 + n + stored)


def entry(key, p):
    h = struct.pack("=IIQQI", MAGIC, len(key), len(p), len(p), zlib.crc32(p))
    h += struct.pack("=I", zlib.crc32(key, zlib.crc32(h)))
    return (h + key + p).ljust(padded(32 + len(key) + len(p)), b"\0")


def key_hash(key):
    h = 0xcbf29ce484222325
    for c in key:
        h = (h ^ c) * 0x100000001b3 % (1 << 64)
    return h ^ h >> 29


def write(path, head, all_entries):
    body, index = bytearray(head), []
    for key, p in all_entries:
        index.append((key_hash(key), len(body)))
        body += entry(key, p)
    table = b"".join(struct.pack("=QQ", *slot) for slot in sorted(index))
    tail = struct.pack("=8sQQI", b"ctsindx", len(body), len(index),
                       zlib.crc32(table))
    with open(path, "wb") as f:
        f.write(body + table + tail + struct.pack("=I", zlib.crc32(tail)))


def put(p, at, fmt, *values):
    p = bytearray(p)
    struct.pack_into("=" + fmt, p, at, *values)
    return bytes(p)


def geometry(p, size, stride):
    n = p[DIMS]
    return put(p, SIZES, "%dq" % (2 * n), *[size] * n, *[stride] * n)


def hollow(p):
    n = p[DIMS]
    return put(p, SIZES, "%dq" % n, *[1 << 54] * (n - 1), 0)


LIES = (
    lambda p: geometry(p, 1 << 30, 0),      # an element, seen so often
    hollow,                                 # none, of 2^54 rows
    lambda p: geometry(p, 1 << 62, 1 << 62),
    lambda p: put(p, SAMPLES, "Q", 1 << 40),
    lambda p: put(p, ARGS, "Q", len(p) - 20),
    lambda p: put(p, ARGS, "Q", 1 << 62),
    lambda p: p[:ARGS - 1] + b"(\1\0\0\0\0\0\0\0" * 100000 + p[ARGS - 1:],
    lambda p: put(p, TYPE, "I", 200),
    lambda p: put(p, DEVICE, "Q", 1 << 63),
    lambda p: put(p, DIMS, "B", 255),
    lambda p: p[:-1],
    lambda p: p + b"\0",
    lambda p: b"L" + p[1:],
)


def lie(pairs):
    lies = iter(LIES)
    for key, p in pairs:
        if p[:1] == b"S":
            p = next(lies)(p)
        yield key, p


def change(r, p):
    at = r.randrange(len(p))
    how = r.randrange(4)
    if how == 0:
        return put(p, at, "B", r.randrange(256))
    if how == 1:
        return p[:at] + p[at + r.randrange(1, 9):]
    at = r.randrange(max(1, len(p) - 8))
    # A count or a size, more often than chance finds one.
    for _ in range(50 if how == 2 and len(p) > 8 else 0):
        if 0 < struct.unpack_from("=Q", p, at)[0] < 4096:
            break
        at = r.randrange(len(p) - 8)
    return put(p.ljust(8, b"\0"), at, "Q", r.choice(WRONG))


def main(what, *rest):
    *seed, source, target = rest
    with open(source, "rb") as f:
        b = f.read()
    head = b[:24 + padded(struct.unpack_from("=I", b, 16)[0])]
    if what == "lies":
        write(target, head, lie(entries(b)))
    else:
        r = random.Random(int(seed[0]))
        write(target, head, ((k, change(r, p)) for k, p in entries(b)))


main(*sys.argv[1:])
