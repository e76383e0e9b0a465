"""Optimizers, a step at a time, on parameters of every layout."""
import torch
from suite import case

OPTIMIZERS = {
    "sgd_momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "sgd_nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9,
                                              nesterov=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.1),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.1, amsgrad=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1),
    "adadelta": lambda p: torch.optim.Adadelta(p, lr=0.1),
    "adamax": lambda p: torch.optim.Adamax(p, lr=0.1),
    "asgd": lambda p: torch.optim.ASGD(p, lr=0.1),
    "nadam": lambda p: torch.optim.NAdam(p, lr=0.1),
    "radam": lambda p: torch.optim.RAdam(p, lr=0.1),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.1, momentum=0.5),
    "rprop": lambda p: torch.optim.Rprop(p, lr=0.1),
}


def steps(make_optimizer):
    def run(p, g):
        p = p.detach().requires_grad_()
        opt = make_optimizer([p])
        for i in range(3):
            p.grad = (g * (i + 1)).detach()
            opt.step()
        return p.detach()
    return run


for name, make_optimizer in OPTIMIZERS.items():
    def declare(name=name, make_optimizer=make_optimizer):
        @case(name, ("float32",), level=4, capability="training")
        def _(make):
            yield steps(make_optimizer), (make(4, 3), make(4, 3))
            yield steps(make_optimizer), (make(3, 4).t(), make(4, 3))
            yield steps(make_optimizer), (make(4, 6)[:, ::2], make(4, 3))
    declare()


@case("autocast_matmul", ("float32",), level=4, capability="autocast")
def _(make):
    def run(a, b):
        with torch.autocast(a.device.type, dtype=torch.bfloat16):
            return torch.mm(a, b), torch.nn.functional.linear(a, b.t())

    yield run, (make(4, 5), make(5, 3))


@case("linear_regression", ("float32",), level=4, capability="training")
def _(make):
    def train(x, y, w):
        w = w.detach().requires_grad_()
        losses = []
        for _ in range(4):
            loss = (x @ w - y).pow(2).mean()
            g, = torch.autograd.grad(loss, w)
            with torch.no_grad():
                w -= 0.01 * g
            losses.append(loss.detach())
        return torch.stack(losses), w.detach()

    yield train, (make(8, 3, low=-1, high=1), make(8, 1, low=-1, high=1),
                  make(3, 1, low=-1, high=1))
