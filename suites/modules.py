"""Every module of torch.nn, from PyTorch's own table: what it gives, what it
does to its buffers, and the gradients of its inputs and parameters, in training
and in evaluation."""
import inspect

import torch
from torch.testing._internal.common_modules import module_db
from suite import case, tensors

FEW = 6             # of a module's inputs


def called(module, training):
    """A call with the module's tensors among the arguments, so that the engine
    has them on the device and sees what becomes of them."""
    def run(state, args, kwargs):
        module.train(training)
        held = dict(state)
        out = torch.func.functional_call(module, held, tuple(args),
                                         dict(kwargs))
        return out, gradients(out, (held, args, kwargs))
    return run


def gradients(out, held):
    """Of a sum in which each element counts for another amount."""
    outs = [t for t in tensors(out) if t.requires_grad]
    leaves = list({id(t): t for t in tensors(held) if t.requires_grad}.values())
    if not outs or not leaves:
        return []
    weights = [torch.linspace(0.5, 1.5, t.numel(), dtype=t.dtype,
                              device=t.device).reshape(t.shape) for t in outs]
    grads = torch.autograd.grad(outs, leaves, weights, allow_unused=True)
    # Gradients that are equal may be one tensor.
    return [g if g is None else g.clone() for g in grads]


def detached(value):
    if isinstance(value, torch.Tensor):
        return value.detach().requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {k: detached(v) for k, v in value.items()}
    if type(value) in (tuple, list):
        return type(value)(detached(v) for v in value)
    return value


def draws(fn, *args):
    """Does it draw from the generator, or can't the CPU do it at all?"""
    before = torch.get_rng_state()
    try:
        fn(*copied(args))
    except Exception:
        return True
    return not torch.equal(before, torch.get_rng_state())


def copied(value):
    if isinstance(value, torch.Tensor):
        return value.detach().clone().requires_grad_(value.requires_grad)
    if isinstance(value, dict):
        return {k: copied(v) for k, v in value.items()}
    if type(value) in (tuple, list):
        return type(value)(copied(v) for v in value)
    return value


def samples_of(info, dtype, training):
    takes = inspect.signature(info.module_cls).parameters
    for given in info.module_inputs_func(info, device="cpu", dtype=dtype,
                                         requires_grad=True,
                                         training=training)[:FEW]:
        kwargs = dict(given.constructor_input.kwargs)
        if "dtype" in takes and "dtype" not in kwargs:
            kwargs["dtype"] = dtype
        module = info.module_cls(*given.constructor_input.args, **kwargs)
        if "dtype" not in takes:
            module = module.to(dtype)
        forward = given.forward_input
        if forward is None:
            continue
        if getattr(info, "is_lazy", False):
            module(*copied(forward.args), **copied(forward.kwargs))
        state = {**dict(module.named_parameters()),
                 **dict(module.named_buffers())}
        yield module, detached(state), list(detached(forward.args)), \
            dict(detached(forward.kwargs))


def declare(info, mode, dtypes):
    training = mode == "train"
    name = info.name.removeprefix("nn.")

    @case("%s.%s" % (name, mode), dtypes, level=4, capability="training",
          tags={"family": "modules"})
    def _(make):
        for module, *held in samples_of(info, make.dtype, training):
            fn = called(module, training)
            if not draws(fn, *held):
                yield fn, tuple(held)


for entry in module_db:
    kinds = tuple(k for k in ("float32", "float64")
                  if getattr(torch, k) in entry.dtypes)
    declare(entry, "train", kinds)
    if getattr(entry, "train_and_eval_differ", False):
        declare(entry, "eval", kinds)
