"""Where training keeps what it makes, and how it sets up its process."""
import os
import sys
from pathlib import Path


def training_folder(name):
    """$SVC_CACHE_DIR or ~/.cache/svc, under training/NAME; made when it is not there."""
    cache = Path(os.environ.get("SVC_CACHE_DIR") or Path.home() / ".cache" / "svc")
    folder = cache / "training" / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def keep_freed_memory():
    """Starts the program again with settings that make glibc keep freed memory. By default it returns large blocks to the kernel, and
    most of a training step on a CPU then goes into page faults."""
    settings = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(2**34), "MALLOC_TOP_PAD_": str(2**26), "OMP_NUM_THREADS": "1"}
    if os.environ.get("MALLOC_MMAP_MAX_") != "0":
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **settings})


def has_fast_bfloat16():
    """Whether this CPU multiplies bfloat16 in hardware; elsewhere float32 is quicker."""
    try:
        return "avx512_bf16" in Path("/proc/cpuinfo").read_text()
    except OSError:
        return False
