"""A sample's call as a Python program that needs none of the toolkit.  What is
in it is Python: literals of the arguments, the public name of the function or
the source of what stands for it, and parts of show.py."""
import ast
import base64
import json
import os
import types
import zlib

import numpy
import torch

import opinfo
import suite

HERE = os.path.dirname(os.path.abspath(__file__))
LONG = 256      # elements that are written out
GUARD = 128     # bytes behind each argument, where these are looked at
LIMIT = 30      # seconds, for what hangs


class Unwritable(Exception):
    """What can't be written into a program, in words."""


# Source

def names_of(node):
    """What a statement at the top level of a module defines."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [a.asname or a.name.partition(".")[0] for a in node.names]
    if isinstance(node, ast.Assign):
        return [n.id for t in node.targets for n in ast.walk(t)
                if isinstance(n, ast.Name)]
    return []


class Module:
    def __init__(self, path):
        with open(path, encoding="utf-8") as f:
            self.text = f.read()
        self.lines = self.text.split("\n")
        self.tree = ast.parse(self.text)
        self.nodes = {name: node for node in self.tree.body
                      for name in names_of(node)}

    def source(self, node):
        first = min([node.lineno] + [d.lineno for d in
                                     getattr(node, "decorator_list", [])])
        return "\n".join(self.lines[first - 1:node.end_lineno])


class Program:
    """Definitions copied out of modules, each with what it needs."""

    def __init__(self):
        self.modules, self.imports, self.parts = {}, set(), []
        self.done, self.copied = {}, []

    def module(self, path):
        if path not in self.modules:
            self.modules[path] = Module(path)
        return self.modules[path]

    def need(self, path, name):
        """Copy what a module means by a name; nothing if nothing."""
        module = self.module(path)
        node = module.nodes.get(name)
        if node is None or self.done.get(name) == path:
            return
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            self.need_import(module, node, name)
            return
        if name in self.done:
            raise Unwritable("two things are called '%s'" % name)
        self.done[name] = path
        self.need_all(path, node)
        if node not in self.copied:
            self.copied.append(node)
            self.parts.append((node, module.source(node)))

    def need_import(self, module, node, name):
        own = os.path.join(HERE, "%s.py" % getattr(node, "module", ""))
        if os.path.exists(own):
            self.need(own, name)
        elif isinstance(node, ast.ImportFrom) or len(node.names) == 1:
            self.imports.add(module.source(node))
        else:
            self.imports.add("import " + name)

    def need_all(self, path, node):
        for n in ast.walk(node):
            if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load):
                self.need(path, n.id)

    def take(self):
        """The definitions since the last time."""
        text = "\n\n\n".join(text for _, text in self.parts)
        self.parts = []
        return [text] if text else []


# Literals

def number(x):
    if isinstance(x, complex):
        return 'complex("%s")' % str(x).strip("()")
    return repr(x)


def shortest(t, x):
    """An element as few digits as tell it from its neighbours."""
    if t.dtype is torch.float32 and x == x and abs(x) != float("inf"):
        return numpy.format_float_positional(numpy.float32(x), trim="0") \
            if 1e-4 <= abs(x) < 1e9 or not x else repr(float(
                "%.9g" % x))
    return number(x)


def nested(items, shape):
    """Elements in row-major order as nested lists."""
    if not shape:
        return items[0]
    step = len(items) // shape[0]
    return "[%s]" % ", ".join(nested(items[i * step:(i + 1) * step], shape[1:])
                              for i in range(shape[0]))


def raw(t):
    """The bytes of its elements.  A single one may have any stride."""
    return t.clone(memory_format=torch.contiguous_format).reshape(-1).view(
        torch.uint8)


def same_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and \
        torch.equal(raw(a), raw(b))


def means(text, t):
    """Does the text make just that tensor?"""
    try:
        return same_bits(eval(text, {"torch": torch, "nan": float("nan"),
                                     "inf": float("inf")}), t)
    except Exception:
        return False


def dense(t):
    """A dense CPU tensor: as numbers where these say all, else as bytes."""
    if not t.numel():
        return "torch.empty(%r, dtype=%s)" % (tuple(t.shape), t.dtype)
    if t.numel() <= LONG:
        try:
            for write in (shortest, lambda _, x: number(x)):
                items = [write(t, x) for x in t.reshape(-1).tolist()]
                text = "torch.tensor(%s, dtype=%s)" % (
                    nested(items, t.shape), t.dtype)
                if means(text, t):
                    return text
        except Exception:
            pass
    packed = base64.b64encode(zlib.compress(raw(t).numpy().tobytes(), 9))
    return "torch.frombuffer(bytearray(zlib.decompress(base64.b64decode(" \
        "%r))), dtype=%s).reshape(%r)" % (
            packed.decode(), t.dtype, tuple(t.shape))


def public(fn):
    """The name by which a program may call fn, or None."""
    overload = getattr(fn, "overload", None)
    if overload:
        return "torch.ops.aten.%s" % (overload if "." in overload else
                                      overload + ".default")
    name = getattr(fn, "__name__", "")
    for where in ("torch", "torch.nn.functional", "torch.linalg",
                  "torch.special", "torch.fft", "torch.Tensor",
                  "torch.signal.windows", "torch.sparse", "torch.nested",
                  "torch.autograd", "torch._C._nn"):
        found = torch
        for part in where.split(".")[1:]:
            found = getattr(found, part, None)
        if getattr(found, name, None) is fn:
            return "%s.%s" % (where, name)
    return None


class Literals:
    """The lines that make the arguments, sharing memory where they do."""

    def __init__(self, guard):
        self.guard, self.lines = guard, []
        self.names, self.stores, self.keep = {}, {}, []

    def line(self, prefix, text):
        name = "%s%d" % (prefix, len(self.names) + len(self.stores))
        self.lines.append("%s = %s" % (name, text))
        return name

    def store(self, t, moved):
        key = t.untyped_storage()._cdata, moved
        if key not in self.stores:
            flat = torch.empty(0, dtype=t.dtype).set_(t.untyped_storage())
            text = dense(flat)
            if self.guard:
                text = "torch.cat([%s, torch.full((%d,), 90, dtype=" \
                    "torch.uint8).view(%s)])" % (text, GUARD, t.dtype)
            self.stores[key] = self.line(
                "memory", text + (".to(device)" if moved else "")), t.dtype
        name, dtype = self.stores[key]
        return name if dtype == t.dtype else "%s.view(%s)" % (name, t.dtype)

    def strided(self, t, moved, shared):
        whole = t.is_contiguous() and not t.is_conj() and not t.is_neg() and \
            t.untyped_storage().nbytes() == t.numel() * t.element_size() and \
            t.stride() == torch.empty(t.shape, device="meta").stride()
        if whole and not shared and not self.guard:
            return dense(t.detach()) + (".to(device)" if moved else "")
        text = "%s.as_strided(%r, %r, %d)" % (
            self.store(t, moved), tuple(t.shape), t.stride(),
            t.storage_offset())
        text += ".conj()" if t.is_conj() else ""
        return "torch._neg_view(%s)" % text if t.is_neg() else text

    def sparse(self, t, moved):
        """Made where the CPU makes it, then moved."""
        if t.layout is torch.sparse_coo:
            text = "torch.sparse_coo_tensor(%s, %s, %r)" % (
                dense(t._indices()), dense(t._values()), tuple(t.shape))
            text += "._coalesced_(%r)" % t.is_coalesced()
        elif t.layout in (torch.sparse_csr, torch.sparse_bsr):
            text = "torch.sparse_compressed_tensor(%s, %s, %s, %r, " \
                "layout=%s)" % (dense(t.crow_indices()), dense(
                    t.col_indices()), dense(t.values()), tuple(t.shape),
                    t.layout)
        elif t.layout in (torch.sparse_csc, torch.sparse_bsc):
            text = "torch.sparse_compressed_tensor(%s, %s, %s, %r, " \
                "layout=%s)" % (dense(t.ccol_indices()), dense(
                    t.row_indices()), dense(t.values()), tuple(t.shape),
                    t.layout)
        else:
            raise Unwritable("an argument is a tensor of the layout %s" %
                             str(t.layout).removeprefix("torch."))
        return text + (".to(device)" if moved else "")

    def tensor(self, t, moved, shared):
        if id(t) in self.names:
            return self.names[id(t)]
        v = t.detach()
        if type(v) not in (torch.Tensor, torch.nn.Parameter) or \
                v.is_nested or v.is_quantized or v.device.type != "cpu":
            raise Unwritable("an argument is a nested, quantized or meta "
                             "tensor, or of a subclass")
        text = self.strided(v, moved, shared(v)) \
            if v.layout is torch.strided else self.sparse(v, moved)
        if t.requires_grad:
            text += ".requires_grad_()"
        self.keep.append(t)
        self.names[id(t)] = self.line("x", text)
        return self.names[id(t)]

    def value(self, o, moved, shared):
        def each(items):
            return [self.value(v, moved, shared) for v in items]
        if isinstance(o, torch.Tensor):
            return self.tensor(o, moved, shared)
        if type(o) is list:
            return "[%s]" % ", ".join(each(o))
        if type(o) is tuple:
            return "(%s)" % "".join(v + ", " for v in each(o)).rstrip()
        if type(o) is dict:
            return "{%s}" % ", ".join(
                "%r: %s" % kv for kv in zip(o, each(o.values())))
        if isinstance(o, torch.device) and o.type == "cpu":
            return "torch.device(device)"
        if isinstance(o, str) and o == "cpu":
            return "device"
        if o is None or o is Ellipsis or type(o) in (bool, int, str, float):
            return repr(o)
        if type(o) in (complex, torch.dtype, torch.layout, torch.Size,
                       torch.memory_format, torch.device, range, slice):
            return number(o).replace("device(type=", "torch.device(")
        if isinstance(o, (numpy.ndarray, numpy.generic)) and \
                o.dtype.kind in "biufc":
            text = "numpy.array(%s, dtype='%s')" % (
                nested([number(v) for v in o.reshape(-1).tolist()], o.shape)
                if o.size else "[]", o.dtype)
            return text + ("[()]" if isinstance(o, numpy.generic) else
                           "" if o.size else ".reshape(%r)" % (o.shape,))
        name = callable(o) and public(o)
        if name:
            return name
        raise Unwritable("an argument is of the type '%s'" %
                         type(o).__name__)


def arguments(args, kwargs, host, guard):
    """The function that makes the arguments on a device."""
    lit = Literals(guard)
    every = [t for t in opinfo.tensors((args, kwargs))
             if t.layout is torch.strided and not t.is_nested]

    def shared(t):
        return len({id(u) for u in every if u.untyped_storage()._cdata ==
                    t.untyped_storage()._cdata}) > 1
    values = [lit.value(v, i >= 64 or not host >> i & 1, shared)
              for i, v in enumerate(args)]
    named = lit.value(dict(kwargs), True, shared)
    return "\n    ".join(
        ["def arguments_on(device):"] + lit.lines +
        ["return (%s), %s, [%s]" % (
            "".join(v + ", " for v in values).rstrip(), named, ", ".join(
                name for name, _ in lit.stores.values()))])


# The call

# What stands around an op in each mode, as opinfo.MODES has it.
AROUND = {
    "call": "{op}", "errors": "{op}", "inplace": "{op}",
    "refused": "{op}", "tiny": "{op}", "edges": "{op}", "host_scalar": "{op}",
    "host_scalar_first": "{op}", "prefix": "whole_and_part({op})",
    "backward_subsets": 'gradients({op}, "dense", 1)',
    **{mode: "giving_out({op})" for mode in opinfo.OUTS},
    "backward": 'gradients({op}, "dense", 1)',
    "backward_expanded": 'gradients({op}, "expanded", 1)',
    "backward_stepped": 'gradients({op}, "stepped", 1)',
    "backward_permuted": 'gradients({op}, "permuted", 1)',
    "backward_offset": 'gradients({op}, "offset", 1)',
    "gradgrad": 'gradients({op}, "dense", 2)',
    "jvp": "tangents({op})", "sensitivity": "effects({op})",
    "gradcheck": "checked({op}{wrapper})",
}


def of_database(entry, program, lines):
    """The op where it has no public name: PyTorch's database has a function
    for it, which can be imported."""
    program.imports.add("from torch.testing._internal."
                        "common_methods_invocations import op_db")
    lines.append("# PyTorch's own database of ops calls it by a function that "
                 "has no other name.\nENTRY = next(o for o in op_db if "
                 "(o.name, o.variant_test_name) ==\n             (%r, %r))" %
                 (entry.name, entry.variant_test_name))


def of_opinfo(case, mode, fn, program, lines):
    entry = opinfo.entries[case["op"]]
    made = entry.get_inplace() if mode == "inplace" else entry.op
    if mode == "refused":
        made = fn
        if public(fn) is None and fn is not entry.op:
            raise Unwritable("what is called has no name")
    elif mode not in AROUND:
        raise Unwritable("there is no source for the variant '%s'" %
                         case["variant"])
    op = public(made)
    odd = getattr(fn, "finish", False)
    if odd and mode == "backward_subsets":
        raise Unwritable("what is made of a sample's result has no name")
    wrapper = mode == "gradcheck" and opinfo.own_wrapper(entry)
    if op is None or odd or wrapper:
        of_database(entry, program, lines)
    if op is None:
        op = "ENTRY.get_inplace()" if mode == "inplace" else "ENTRY.op"
    if odd:
        program.imports.add("import itertools")
        lines.append(
            "# What is compared is what the sample makes of the result.\n"
            "FINISH = next(itertools.islice(ENTRY.sample_inputs(\n"
            "    \"cpu\", torch.%s, requires_grad=True), %d, None)\n"
            ").output_process_fn_grad" % (case["dtype"], case["sample"]))
        op = "lambda *args, **kwargs: FINISH(%s(*args, **kwargs))" % op
    text = AROUND[mode].format(
        op=op, wrapper=", ENTRY.gradcheck_wrapper" if wrapper else "")
    for node in ast.walk(ast.parse(text)):
        for module in ("opinfo", "derive") if isinstance(node, ast.Name) \
                else ():
            program.need(os.path.join(HERE, module + ".py"), node.id)
    return text


MAKE = '''def make(*shape, low=None, high=None, grad=False, dtype=torch.%s):
    return torch.testing.make_tensor(shape, dtype=dtype, device="cpu", low=low,
                                     high=high, requires_grad=grad)


make.decoder = None'''


def of_suite(case, fn, seed, program, lines):
    """A function of the case's suite, by its source."""
    if public(fn):
        return public(fn)
    if isinstance(fn, types.FunctionType) and \
            fn.__globals__.get(fn.__name__) is fn:
        program.need(fn.__code__.co_filename, fn.__name__)
        return fn.__name__
    maker = suite.cases[case["suite"], case["op"]].make
    path = maker.__code__.co_filename
    module = program.module(path)
    node = [n for n in module.tree.body if isinstance(n, ast.FunctionDef) and
            min([n.lineno] + [d.lineno for d in n.decorator_list]) ==
            maker.__code__.co_firstlineno]
    if not node or case.get("decoder"):
        raise Unwritable("case '%s' has no source of its own" % case["id"])
    program.need_all(path, ast.Module(node[0].body, []))
    body = module.lines[node[0].lineno - 1:node[0].end_lineno]
    body[0] = body[0].replace("def %s(" % node[0].name, "def the_case(")
    lines += ["# The case as its suite has it; its own arguments are not used.",
              MAKE % case["dtype"], "\n".join(body)]
    program.imports |= {"import itertools", "import random", "import numpy"}
    lines.append("torch.manual_seed(%d)\nrandom.seed(%d)\n"
                 "numpy.random.seed(%d)" % (seed, seed, seed % 2**32))
    return "next(itertools.islice(the_case(make), %d, None))[0]" % \
        case["sample"]


# The device

def call_of(text, imports):
    """'module:attr.f(arg)' as Python."""
    module, _, rest = text.partition(":")
    name, _, arg = rest.partition("(")
    imports.append("import " + module)
    arg = arg.removesuffix(")")
    return "%s.%s(%s)" % (module, name, repr(arg) if arg else "")


def reach(device):
    """(lines before torch is imported, imports, lines after them, how to wait)
    for a device."""
    before = ["os.environ.setdefault(%r, %r)" % tuple(v.split("=", 1))
              for v in device["env"] if "=@" not in v]
    before += ["# %s has to be set" % v.split("=")[0]
               for v in device["env"] if "=@" in v]
    before += ["# %s of the toolkit has to be in PYTHONPATH" % p
               for p in device["path"]]
    imports, after = [], []
    for name in device["imports"]:
        bare = name.removesuffix("?")
        if bare.endswith(".so"):
            after.append("torch.ops.load_library(%r)" % bare)
        elif bare != name:
            after.append("try:\n    import %s\nexcept ImportError:\n    pass" %
                         bare)
        else:
            imports.append("import " + bare)
    after += [call_of(c, imports) for c in device["init"]]
    kind = device["string"].partition(":")[0]
    wait = "pass"
    if "sync" in device:
        wait = call_of(device["sync"], imports)
    elif callable(getattr(getattr(torch, kind, None), "synchronize", None)):
        wait = "torch.%s.synchronize()" % kind
    return before, imports, after, wait


# The check

DEATHS = ("crash", "timeout", "hang", "oom")
LOOKS = {
    "dtype": "look_dtype", "shape": "look_shape", "outputs": "look_outputs",
    "device": "look_device", "layout": "look_layout",
    "aliasing": "look_aliasing", "out": "look_out",
    "mutation": "look_changed", "inputs_unmodified": "look_changed",
    "guard": "look_guard", "generator": "look_generator", "error_missing": "look_error",
    "error_unexpected": "look_error", "strides": "look_strides",
    "conj": "look_conj", "neg": "look_neg", "zero_sign": "look_zero_sign",
    "repeat": "look_repeat", "version": "look_version",
}
SHOWS = {"value": "show_values", "sensitivity": "show_values",
         "readable": "show_values", "error_type": "show_error_type"}


def magnitude(text):
    """Of an element as a verdict has it: 'true', '3', '0x1p+0', '0x1p+0,nan'."""
    try:
        return max(abs(float.fromhex(p) if "x" in p else float(p))
                   for p in text.split(","))
    except ValueError:
        return 0.0


def finite(x):
    return x if x == x and x != float("inf") else 0.0


def shown(verdict, program):
    """The function that shows the failure, and the constants it needs."""
    if verdict["outcome"] in DEATHS:
        show, constants = "show_death", ["LIMIT = %d" % LIMIT]
    else:
        check = verdict.get("check", "")
        show, constants = SHOWS.get(check), []
        if show == "show_values":
            value = verdict.get("checks", {}).get(check, {})
            constants = ["ALLOWED = %r" % finite(float.fromhex(
                value.get("allowed", "0x0p+0"))), "WANT = %r" % finite(
                    magnitude(value.get("want", "0"))), "EXACT = %r" %
                (verdict.get("oracle") == "float64")]
        elif check in LOOKS:
            show = "show_facts"
            program.need(os.path.join(HERE, "show.py"), LOOKS[check])
            constants = []
        elif not show:
            raise Unwritable("what the check '%s' looks at is not seen by a "
                             "program" % check)
    program.need(os.path.join(HERE, "show.py"), show)
    return show, constants, LOOKS.get(verdict.get("check")) \
        if show == "show_facts" else None


def wrapped(text, width=76):
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            lines.append(line)
            line = word
        else:
            line = (line + " " + word).strip()
    return "\n".join(lines + [line])


def docstring(case, verdict, torch_version, device):
    why = verdict.get("why", "")
    if verdict["outcome"] in DEATHS:
        why = "%s: %s" % (verdict["outcome"], why.rpartition(": ")[2])
    text = ["%s on %s, PyTorch %s: %s" % (case["id"], device, torch_version,
                                          why)]
    if case.get("edits"):
        text.append("It is sample %d, made smaller: %s." % (
            case["sample"], ", ".join(case["edits"])))
    text.append("Exit status: 1 it is still so, 0 it is not.")
    return '"""%s\n"""' % "\n\n".join(wrapped(
        t.replace("\\", "/").replace('"', "'")) for t in text)


def program_text(case, verdict, device, mode, version, fn, args, kwargs, host,
                 seed):
    program, lines = Program(), []
    for name in ("DEVICE", "SEED", "ALLOWED", "WANT", "LIMIT", "EXACT",
                 "arguments_on", "the_call", "wait", "look"):
        program.done[name] = os.path.join(HERE, "show.py")
    call = of_opinfo(case, mode, fn, program, lines) \
        if case["suite"] == "opinfo" else \
        of_suite(case, fn, seed - case["sample"], program, lines)
    around = program.take()
    show, constants, look = shown(verdict, program)
    made = arguments(args, kwargs, host, verdict.get("check") == "guard")
    before, imports, after, wait = reach(device)
    program.imports |= {"import sys"}
    for word in ("base64", "zlib", "numpy"):
        if word + "." in made:
            program.imports.add("import " + word)
    if before:
        program.imports.add("import os")
    heads = sorted(i for i in program.imports if "torch" not in i)
    torches = ["import torch"] + sorted(
        {i for i in program.imports if "torch" in i} - {"import torch"}) + \
        [i for i in dict.fromkeys(imports) if i != "import torch"]
    if "nan" in made or "inf" in made:
        heads.append("from math import inf, nan")
    constants = ["DEVICE = %r" % device["string"], "SEED = %d" % seed] + \
        constants
    if look:
        constants.append("look = %s" % look)
    parts = ["#!/usr/bin/env python3\n" + "\n\n".join([
        docstring(case, verdict, version, device["string"]),
        "\n".join(heads), "\n".join(before + torches + after),
        "\n".join(constants[:2])]), made, *around, *lines,
        "the_call = %s" % call,
        "def wait(device):\n    if device != \"cpu\":\n        %s" % wait,
        *program.take(), *filter(None, ["\n".join(constants[2:])]),
        "if __name__ == \"__main__\":\n    sys.exit(%s())" % show]
    return "\n\n\n".join(parts) + "\n"


def write(case, verdict, device, mode, version, fn, args, kwargs, host, seed):
    """(the program's text, ""), or ("", why there is none)."""
    case = json.loads(case)
    try:
        return program_text(case, json.loads(verdict), json.loads(device),
                            mode, version, fn, args, kwargs, host, seed), ""
    except Unwritable as e:
        return "", "no program can be written: %s" % e
