"""Every optimizer of PyTorch's own table, in every way that it can be set up:
one parameter at a time, in lists (foreach) and in one kernel (fused)."""
import copy

import torch
from torch.testing._internal.common_optimizers import optim_db
from suite import case

FLAGS = ("foreach", "fused", "capturable", "differentiable")
STEPS = 3


def settings_of(info):
    """What its constructor is given, without the ways that are ours to say."""
    seen = []
    for given in info.optim_inputs_func(device="cpu"):
        kwargs = {k: v for k, v in given.kwargs.items() if k not in FLAGS}
        if kwargs not in seen:
            seen.append(kwargs)
    return seen


def steps(cls, kwargs, sparse=False):
    """The parameters and the state after a few steps."""
    def run(params, grads):
        leaves = [p.detach().requires_grad_() for p in params]
        given = {k: v.to(leaves[0].device) if isinstance(v, torch.Tensor) and
                 v.dim() else copy.deepcopy(v) for k, v in kwargs.items()}
        opt = cls(leaves, **given)
        for i in range(STEPS):
            for p, g in zip(leaves, grads):
                # A step's gradient is another step's in no multiple.
                g = (g * (i + 1)).flip(0) if i % 2 and g.dim() else g
                p.grad = g.to_sparse() if sparse else g
            if cls is torch.optim.LBFGS:
                opt.step(lambda: sum((p * p).sum() for p in leaves))
            else:
                opt.step()
        kept = [opt.state[p].get(key) for p in leaves
                for key in sorted(opt.state[p]) if key != "step"]
        return ([p.detach() for p in leaves],
                # Some of it may be kept on the host.
                [t.to(leaves[0].device, copy=True) for t in kept
                 if isinstance(t, torch.Tensor)])
    return run


def params_of(make, square):
    """Dense, with gaps, turned; without dimensions where that is allowed."""
    wide = make(4, 10, low=-1, high=1)
    turned = make(5, 3, low=-1, high=1)
    shapes = [wide[:, 1::2], turned.t(), make(3, 4, low=-1, high=1)]
    return shapes if square else shapes + [make(low=-1, high=1), make(7, low=-1,
                                                                      high=1)]


def declare(info, way, capability, dtypes):
    cls = info.optim_cls
    flags = {} if way == "plain" else {way: True}
    if way == "plain" and "foreach" in info.supported_impls:
        flags = {"foreach": False}
    sparse = getattr(info, "only_supports_sparse_grads", False)
    square = cls.__name__ == "Muon" or sparse

    @case("%s.%s" % (cls.__name__, way), dtypes, level=4,
          capability=capability, tags={"family": "optim"})
    def _(make):
        for kwargs in settings_of(info):
            params = params_of(make, square)
            grads = [make(*p.shape, low=-1, high=1) for p in params]
            yield steps(cls, {**kwargs, **flags}, sparse), (params, grads)


for entry in optim_db:
    declare(entry, "plain", "training", ("float32", "float64"))
    if "foreach" in entry.supported_impls:
        declare(entry, "foreach", "foreach", ("float32", "bfloat16"))
    if "fused" in entry.supported_impls:
        declare(entry, "fused", "fused_optimizer", ("float32", "bfloat16"))
