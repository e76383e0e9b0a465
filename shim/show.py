"""What the programs of `make repro` are made of.  script.py copies from here
what one needs; it puts DEVICE, SEED, arguments_on(), the_call() and wait()
before it, and none of this is run here."""
import math
import signal
import subprocess
import sys

import torch

DEVICE = SEED = ALLOWED = WANT = LIMIT = EXACT = None
arguments_on = the_call = wait = look = None


def flat_list(value):
    """What a call gave or was given, however it nests."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [x for v in value for x in flat_list(v)]
    return [value]


def tensors_in(value):
    return [x for x in flat_list(value) if isinstance(x, torch.Tensor)]


def plain(x):
    """A tensor's elements, on the CPU; anything else as it is."""
    if not isinstance(x, torch.Tensor):
        return x
    x = x.detach().cpu()
    x = x if x.layout is torch.strided else x.to_dense()
    return x.resolve_conj().resolve_neg()


def bits_of(t):
    t = plain(t).clone(memory_format=torch.contiguous_format)
    return t.reshape(-1).view(torch.uint8).tolist()


def storage_of(t):
    return t.untyped_storage()._cdata if t.layout is torch.strided else id(t)


UNRETURNED = []     # once the CPU has made the call: which arguments, by number


def with_written(device, given, before, result):
    """The result, and with it the arguments that the CPU wrote to and did not
    return: what a call has to show for itself may be nothing else."""
    if device == "cpu" and not UNRETURNED:
        returned = {id(t) for t in tensors_in(result)}
        UNRETURNED.append([i for i, t in enumerate(given) if id(t) not in
                           returned and bits_of(t) != before[0][i]])
    written = [given[i] for found in UNRETURNED for i in found]
    return (result, *written) if written else result


def try_on(device, look, change=lambda value: value):
    """(what look() sees of the call, None), or (None, the error)."""
    torch.manual_seed(SEED)
    try:
        args, kwargs, memory = arguments_on(device)
        args, kwargs = change((args, kwargs))
        given = tensors_in([args, kwargs])
        before = ([bits_of(t) for t in given], [t._version for t in given],
                  [bits_of(t) for t in memory])
        result = the_call(*args, **kwargs)
        wait(device)
        result = with_written(device, given, before, result)
        return look(device, given, memory, before, result), None
    except Exception as e:
        return None, "%s: %s" % (type(e).__name__, str(e).partition("\n")[0])


def look_values(device, given, memory, before, result):
    return [plain(x) for x in flat_list(result)]


def look_error(device, given, memory, before, result):
    look_values(device, given, memory, before, result)
    return "no error"


def look_dtype(device, given, memory, before, result):
    return [t.dtype for t in tensors_in(result)]


def look_shape(device, given, memory, before, result):
    return [tuple(t.shape) for t in tensors_in(result)]


def look_layout(device, given, memory, before, result):
    return [t.layout for t in tensors_in(result)]


def look_device(device, given, memory, before, result):
    return ["where it was asked for" if t.device.type ==
            torch.device(device).type else "on " + t.device.type
            for t in tensors_in(result)]


def look_conj(device, given, memory, before, result):
    return [t.is_conj() for t in tensors_in(result)]


def look_neg(device, given, memory, before, result):
    return [t.is_neg() for t in tensors_in(result)]


def look_strides(device, given, memory, before, result):
    return [[s for s, n in zip(t.stride(), t.shape) if n > 1]
            for t in tensors_in(result)]


def look_zero_sign(device, given, memory, before, result):
    return [t.signbit().tolist() for t in look_values(
        device, given, memory, before, tensors_in(result))
        if t.is_floating_point()]


def look_outputs(device, given, memory, before, result):
    """How the results nest, and of which type each is."""
    if isinstance(result, torch.Tensor):
        return "tensor"
    if isinstance(result, (list, tuple)):
        return [type(result).__name__] + [
            look_outputs(device, given, memory, before, v) for v in result]
    if isinstance(result, dict):
        return {k: look_outputs(device, given, memory, before, v)
                for k, v in result.items()}
    return type(result).__name__


def look_out(device, given, memory, before, result):
    """Which argument each result is, or shares memory with."""
    found, earlier = [], []
    for t in tensors_in(result):
        same = [i for i, g in enumerate(given) if g is t]
        shared = [i for i, g in enumerate(given)
                  if storage_of(g) == storage_of(t)]
        out = [i for i, g in enumerate(earlier)
               if storage_of(g) == storage_of(t)]
        earlier.append(t)
        found.append("argument %d" % same[0] if same else
                     "memory of argument %d" % shared[0] if shared else
                     "memory of result %d" % out[0] if out else "fresh")
    return found


def look_aliasing(device, given, memory, before, result):
    """Whose memory each result has."""
    return [s.removeprefix("memory of ") for s in look_out(
        device, given, memory, before, result)]


def look_changed(device, given, memory, before, result):
    """Which arguments are written to."""
    return ["changed" if bits_of(t) != b else "unchanged"
            for t, b in zip(given, before[0])]


def look_guard(device, given, memory, before, result):
    """Elements that change outside of the arguments, by their place in the
    memory that each has."""
    found = []
    for m, b in zip(memory, before[2]):
        outside = torch.ones(m.numel(), dtype=torch.bool)
        for t in given:
            if storage_of(t) == storage_of(m):
                outside.as_strided(t.shape, t.stride(),
                                   t.storage_offset()).fill_(False)
        size = m.element_size()
        now = bits_of(m)
        found.append([i for i in range(m.numel()) if outside[i] and
                      now[i * size:(i + 1) * size] !=
                      b[i * size:(i + 1) * size]])
    return found


def look_generator(device, given, memory, before, result):
    """Whether a call moves the generator."""
    args, kwargs, _ = arguments_on(device)
    module = torch.get_device_module(device) if device != "cpu" else torch
    state = module.get_rng_state()
    the_call(*args, **kwargs)
    moved = not torch.equal(state, module.get_rng_state())
    return ["moved" if moved else "as it was"]


def look_version(device, given, memory, before, result):
    return [t._version - v for t, v in zip(given, before[1])]


def look_repeat(device, given, memory, before, result):
    """Whether a second call gives the same."""
    torch.manual_seed(SEED)
    args, kwargs, _ = arguments_on(device)
    again = tensors_in(the_call(*args, **kwargs))
    return [bits_of(t) == bits_of(u)
            for t, u in zip(tensors_in(result), again)]


def wider(value, done=None):
    """The arguments in float64 and complex128."""
    done = {} if done is None else done
    if isinstance(value, torch.Tensor):
        kind = torch.complex128 if value.is_complex() else torch.float64 \
            if value.is_floating_point() else value.dtype
        if id(value) not in done:
            done[id(value)] = value.detach().to(kind).requires_grad_(
                value.requires_grad), value
        return done[id(value)][0]
    if type(value) in (list, tuple):
        return type(value)(wider(v, done) for v in value)
    if type(value) is dict:
        return {k: wider(v, done) for k, v in value.items()}
    if isinstance(value, torch.dtype) and value.is_complex:
        return torch.complex128
    if isinstance(value, torch.dtype) and value.is_floating_point:
        return torch.float64
    return value


def numbers(x):
    return x.reshape(-1).tolist() if isinstance(x, torch.Tensor) else [x]


def wrong(got, want, exact):
    """Is a number further from the exact one than is allowed?"""
    if got == want or (got != got and want != want):
        return False
    try:
        far = abs(got - exact)
        return not far <= ALLOWED * max(1, abs(exact) / WANT if WANT else 1)
    except (TypeError, OverflowError):
        return True


def differences(got, want, exact):
    """A line for each element of two results that is wrong."""
    if len(got) != len(want):
        yield "%d results, not %d" % (len(got), len(want))
    for n, (g, w) in enumerate(zip(got, want)):
        form = getattr(g, "shape", None), getattr(g, "dtype", type(g))
        if form != (getattr(w, "shape", None), getattr(w, "dtype", type(w))):
            yield "result %d is of another shape or type" % n
            continue
        x = exact[n] if exact and len(exact) == len(want) and \
            getattr(exact[n], "shape", None) == form[0] else w
        for i, (a, b, c) in enumerate(zip(numbers(g), numbers(w), numbers(x))):
            if wrong(a, b, c):
                yield "result %d at %d: got %r, want %r" % (n, i, a, b)


def show_values():
    """Compare the results' elements."""
    want, want_error = try_on("cpu", look_values)
    exact, _ = try_on("cpu", look_values, wider) if EXACT else (None, None)
    got, error = try_on(DEVICE, look_values)
    print("cpu:", want_error or want)
    print("%s:" % DEVICE, error or got)
    if error or want_error:
        return bool(error) != bool(want_error)
    lines = list(differences(got, want, exact))
    print("\n".join(lines[:20]))
    return bool(lines)


def show_facts():
    """Compare what the check that failed looks at."""
    want, want_error = try_on("cpu", look)
    got, error = try_on(DEVICE, look)
    print("cpu:", want_error or want)
    print("%s:" % DEVICE, error or got)
    if error and want_error:
        return False
    return bool(error) != bool(want_error) or got != want


def show_error_type():
    """Compare which exception is raised."""
    (_, want), (_, got) = try_on("cpu", look_error), try_on(DEVICE, look_error)
    print("cpu:", want)
    print("%s:" % DEVICE, got)
    return str(want).split(":")[0] != str(got).split(":")[0]


def show_death():
    """Run the call on the device in a process of its own, and see how that
    ends."""
    if sys.argv[1:] == ["on the device"]:
        print(try_on(DEVICE, look_values), flush=True)
        print("it comes to its end", flush=True)
        return False
    print("cpu:", try_on("cpu", look_values), flush=True)
    try:
        child = subprocess.run([sys.executable, sys.argv[0], "on the device"],
                               stdout=subprocess.PIPE, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        print("%s: no end after %d s" % (DEVICE, LIMIT))
        return True
    print("%s:" % DEVICE, child.stdout)
    if "it comes to its end" in child.stdout and not child.returncode:
        return False
    print("the process ends by", signal.Signals(-child.returncode).name
          if child.returncode < 0 else "exit %d" % child.returncode)
    return True
