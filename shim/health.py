"""Is a device still fit for use?  A copy there and back must not raise."""
import torch

_here = torch.arange(2, dtype=torch.float32)


def attempt(device):
    """The exception's text, or None where all is well."""
    try:
        _here.to(device).cpu()
    except Exception as e:
        return f"{type(e).__name__}: {e}"
    return None


def check(device):
    """As attempt(); an error that goes away when raised once is none."""
    return attempt(device) and attempt(device)
