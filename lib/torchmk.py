"""Print what the build must know of this interpreter and its PyTorch, as make
variables.  Reads no more of torch than two small files: importing it would
cost seconds."""
import importlib.util
import os
import re
import sys
import sysconfig


def die(text):
    sys.exit("set-up: %s: %s" % (sys.executable, text))


def var(name):
    return sysconfig.get_config_var(name) or ""


def python_ldflags():
    ver = var("LDVERSION") or sysconfig.get_python_version()
    libs = " ".join(x for x in (var("LIBS"), var("SYSLIBS")) if x)
    if var("Py_ENABLE_SHARED"):
        d = var("LIBDIR")
        return "-L%s -Wl,-rpath,%s -lpython%s %s" % (d, d, ver, libs)
    for d in (var("LIBPL"), var("LIBDIR")):
        a = os.path.join(d, "libpython%s.a" % ver)
        if os.path.exists(a):
            break
    else:
        die("has no libpython%s, shared or static" % ver)
    return ("-Wl,--whole-archive %s -Wl,--no-whole-archive -rdynamic %s"
            % (a, libs))


def main():
    spec = importlib.util.find_spec("torch")
    if not spec or not spec.submodule_search_locations:
        die("has no torch")
    d = spec.submodule_search_locations[0]
    version_py = os.path.join(d, "version.py")
    with open(version_py) as f:
        m = re.search(r"^__version__\s*=\s*'([^']+)'", f.read(), re.M)
    version = m.group(1)
    if tuple(int(x) for x in version.split(".")[:2]) < (2, 7):
        die("torch %s is too old, 2.7 or later is needed" % version)

    # Wheels from 2.7 on have the new string ABI; a build of one's own says
    # in its CMake file.
    abi = "1"
    try:
        with open(os.path.join(d, "share/cmake/Torch/TorchConfig.cmake")) as f:
            m = re.search(r"_GLIBCXX_USE_CXX11_ABI=(\d)", f.read())
            abi = m.group(1) if m else abi
    except OSError:
        pass

    lib, inc = os.path.join(d, "lib"), os.path.join(d, "include")
    out = {
        "PYTHON_EXE": sys.executable,
        "PYTHON_VERSION": sysconfig.get_python_version(),
        "PY_CFLAGS": "-isystem %s" % sysconfig.get_paths()["include"],
        "PY_LDFLAGS": python_ldflags(),
        "TORCH_VERSION": version,
        "TORCH_LIB": lib,
        "TORCH_SITE": os.path.dirname(d),
        "TORCH_CXXFLAGS":
            # torch's headers check more where the library, built with
            # NDEBUG, left out what they check.
            "-DNDEBUG -D_GLIBCXX_USE_CXX11_ABI=%s -isystem %s -isystem %s/torch/csrc/"
            "api/include" % (abi, inc, inc),
        "TORCH_LDFLAGS":
            "-L%s -Wl,-rpath,%s -ltorch_python -ltorch -ltorch_cpu -lc10"
            % (lib, lib),
    }
    for k, v in out.items():
        print("%s := %s" % (k, v.replace("$", "$$").strip()))
    # Another torch in the same place asks again.
    print("build/torch.mk: %s\n%s:" % (version_py, version_py))


main()
