"""Trigon, an NCCL network plugin, as a Python package.

The command ``trigon`` is that of the distribution; ``trigon enable`` makes NCCL load it. vLLM and SGLang do not even
need that: they call :func:`enable` in each of their processes. Another program may set the variables itself, before its
first communicator::

    import os, trigon_nccl
    os.environ.update(trigon_nccl.environment())
"""

import os

#: The folder with lib/, jars/ and runtime/.
HOME = os.path.join(os.path.dirname(os.path.realpath(__file__)), "distribution")

#: What NCCL loads.
PLUGIN = os.path.join(HOME, "lib", "libnccl-net-trigon.so")


def environment():
    """The variables with which NCCL uses Trigon, and fails where it cannot."""
    return {"NCCL_NET_PLUGIN": PLUGIN, "NCCL_NET": "Trigon", "NCCL_NET_PLUGIN_REF_COUNT": "1"}


def enable():
    """Makes NCCL load Trigon in this process, unless the environment or NCCL's files name another plugin or network.

    vLLM and SGLang call it in each process, before NCCL starts. It raises nothing: without Trigon, they run as well.
    """
    try:
        _enable()
    except Exception:  # whatever it is, it must not keep a server from starting
        pass


def _enable():
    known = _settings()
    if known.get("NCCL_NET", "").lower() not in ("", "trigon") or not os.path.exists(PLUGIN):
        return
    if _is_free(known.get("NCCL_NET_PLUGIN", "")):
        os.environ["NCCL_NET_PLUGIN"] = PLUGIN
    if "NCCL_NET_PLUGIN_REF_COUNT" not in known:
        os.environ["NCCL_NET_PLUGIN_REF_COUNT"] = "1"


def _is_free(plugin):
    """Whether no plugin is named, or a Trigon that is not here: Ray copies the variables of another node."""
    missing = os.path.basename(plugin) == os.path.basename(PLUGIN) and not os.path.exists(plugin)
    return not plugin or (missing and os.path.isabs(plugin))


def _settings():
    """The environment, and what NCCL's files add to it: the first one that names a variable sets it."""
    settings = dict(os.environ)
    own = settings.get("NCCL_CONF_FILE") or os.path.join(os.path.expanduser("~"), ".nccl.conf")
    for path in (own, "/etc/nccl.conf"):
        try:
            with open(path, encoding="utf-8", errors="surrogateescape") as file:
                for line in file:
                    name, equals, value = line.rstrip("\r\n").partition("=")
                    if equals and not line.startswith("#"):
                        settings.setdefault(name, value)
        except OSError:
            pass
    return settings


def main():
    """Becomes the distribution's own command."""
    import sys

    command = os.path.join(HOME, "bin", "trigon")
    os.execv(command, [command] + sys.argv[1:])
