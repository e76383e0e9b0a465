"""Quantised containers: packed tensors as the formats lay them out are stored,
moved and looked into without a change; a decoder of the backend's own gives on
the device what it gives on the CPU."""
import torch
from suite import case

# Each format as the parts that it is made of: name → dtype and shape.  Blocks
# of 32 values share a scale in the mx formats, of 16 in nvfp4.
BYTES, HALF, FULL = "uint8", "float16", "float32"
FORMATS = {
    "int2_ternary": {"data": (BYTES, 4, 16), "scale": (HALF, 4, 1)},
    "int4_symmetric": {"data": (BYTES, 4, 32), "scale": (HALF, 4, 2)},
    "int4_asymmetric": {"data": (BYTES, 4, 32), "scale": (HALF, 4, 2),
                        "zero": (BYTES, 4, 1)},
    "uint4": {"data": (BYTES, 4, 32)},
    "nf4": {"data": (BYTES, 4, 32), "absmax": (FULL, 4)},
    "fp4_e2m1": {"data": (BYTES, 4, 32), "scale": (FULL, 4, 1)},
    "fp4_bnb": {"data": (BYTES, 4, 32), "absmax": (FULL, 4)},
    "af4": {"data": (BYTES, 4, 32), "absmax": (FULL, 4)},
    "mxfp4": {"data": (BYTES, 4, 32), "scale": (BYTES, 4, 2)},
    "nvfp4": {"data": (BYTES, 4, 32), "scale": ("float8_e4m3fn", 4, 4),
              "scale_2": (FULL,)},
    "fp6_e3m2": {"data": (BYTES, 4, 48), "scale": (FULL, 4, 1)},
    "fp6_e2m3": {"data": (BYTES, 4, 48), "scale": (FULL, 4, 1)},
    "mxfp6_e3m2": {"data": (BYTES, 4, 48), "scale": (BYTES, 4, 2)},
    "mxfp6_e2m3": {"data": (BYTES, 4, 48), "scale": (BYTES, 4, 2)},
    "fp8_e4m3fn": {"data": ("float8_e4m3fn", 4, 64), "scale": (FULL, 1)},
    "fp8_e5m2": {"data": ("float8_e5m2", 4, 64), "scale": (FULL, 1)},
    "fp8_e4m3fnuz": {"data": ("float8_e4m3fnuz", 4, 64), "scale": (FULL, 1)},
    "fp8_e5m2fnuz": {"data": ("float8_e5m2fnuz", 4, 64), "scale": (FULL, 1)},
    "int8_symmetric": {"data": ("int8", 4, 64), "scale": (FULL, 4, 1)},
    "int8_asymmetric": {"data": ("int8", 4, 64), "scale": (FULL, 4, 1),
                        "zero": ("int8", 4, 1)},
    "uint8": {"data": (BYTES, 4, 64), "scale": (FULL, 4, 1),
              "zero": (BYTES, 4, 1)},
    "e8m0fnu": {"data": (BYTES, 4, 2)},
    "mxfp8_e4m3": {"data": ("float8_e4m3fn", 4, 64), "scale": (BYTES, 4, 2)},
    "mxfp8_e5m2": {"data": ("float8_e5m2", 4, 64), "scale": (BYTES, 4, 2)},
    "mxint8": {"data": ("int8", 4, 64), "scale": (BYTES, 4, 2)},
}




def decoded_shape(name):
    """What the parts above stand for: 64 values a row, or scales alone."""
    return FORMATS[name]["data"][1:] if name == "e8m0fnu" else (4, 64)


def raw(t):
    """Its bytes, so that no arithmetic of a narrow float is asked for."""
    return t.view(torch.uint8)


def moved(*parts):
    return [p.clone() for p in parts]


def looked_into(*parts):
    return [raw(p.reshape(-1))[1:] for p in parts]


def kept(*parts):
    """Strides, and a transposed copy of the bytes."""
    return [raw(p).t().contiguous() if p.dim() == 2 else p for p in parts]


def joined(*parts):
    return [torch.cat((raw(p.reshape(-1)), raw(p.reshape(-1))))
            for p in parts]


def parts_of(make, layout):
    for kind, *shape in layout.values():
        kind = getattr(torch, kind)
        if kind.itemsize == 1 and kind.is_floating_point:
            # Any byte is a value, but for NaN, which is compared as such.
            yield make(*shape, low=0, high=120, dtype=torch.uint8).view(kind)
        elif kind.is_floating_point:
            yield make(*shape, low=0.01, high=2, dtype=kind)
        else:
            yield make(*shape, dtype=kind)


def declare(name, layout):
    if not all(hasattr(torch, kind) for kind, *_ in layout.values()):
        return
    kind = layout["data"][0]
    more = {"container": name, "level": 5, "tags": {
        "family": "containers", "category": "packed", "tier": "standard"}}

    @case(name, (kind,), capability="quantized_container_plumbing", **more)
    def _(make):
        for fn in (moved, looked_into, kept, joined):
            yield fn, tuple(parts_of(make, layout))

    @case("decode." + name, (kind,), capability="custom_quantized_decode",
          **more)
    def _(make):
        decoder = make.decoder()
        for _ in range(3):
            parts = dict(zip(layout, parts_of(make, layout)))
            decoder.check(parts, decoded_shape(name))
            yield decoder, (parts, decoded_shape(name))


for name, layout in FORMATS.items():
    declare(name, layout)
