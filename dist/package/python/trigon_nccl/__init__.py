"""Trigon, an NCCL network plugin, as a Python package.

The command ``trigon`` is that of the distribution; ``trigon env`` prints what to set. A program may also set it itself,
before its first communicator::

    import os, trigon_nccl
    os.environ.update(trigon_nccl.environment())
"""

import os
import pathlib
import sys

#: The folder with lib/, jars/ and runtime/.
HOME = pathlib.Path(__file__).resolve().parent / "distribution"

#: What NCCL loads.
PLUGIN = HOME / "lib" / "libnccl-net-trigon.so"


def environment():
    """The variables with which NCCL uses Trigon, and fails where it cannot."""
    return {"NCCL_NET_PLUGIN": str(PLUGIN), "NCCL_NET": "Trigon", "NCCL_NET_PLUGIN_REF_COUNT": "1"}


def main():
    """Becomes the distribution's own command."""
    command = str(HOME / "bin" / "trigon")
    os.execv(command, [command] + sys.argv[1:])
