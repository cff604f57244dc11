"""Loads the plugin into Python as NCCL would, and checks that both bear each other.

Usage: guest.py PLUGIN CASE; exits with 0 if the case went well. The "segv" cases are meant to end by a
signal.
"""
import ctypes
import faulthandler
import os
import signal
import sys
import threading
import time

POINTER = ctypes.c_void_p
LOGGER = ctypes.CFUNCTYPE(
    None, ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p
)
SYSTEM_ERROR = 2
INTERNAL_ERROR = 3


@LOGGER
def log(level, subsystems, where, line, form, text):
    assert form == b"%s", form
    print(level, text.decode(), file=sys.stderr, flush=True)


class Plugin:
    """ncclNetPlugin_v12, by the offsets of its slots."""

    def __init__(self, path):
        table = ctypes.addressof(ctypes.c_char.in_dll(ctypes.CDLL(path), "ncclNetPlugin_v12"))
        slot = lambda offset, *types: ctypes.CFUNCTYPE(ctypes.c_int, *types)(
            POINTER.from_address(table + offset).value
        )
        self._init = slot(8, POINTER, ctypes.c_uint64, POINTER, LOGGER, POINTER)
        self._devices = slot(16, POINTER)
        self._listen = slot(32, POINTER, ctypes.c_int, POINTER, POINTER)
        self.ctx = POINTER()

    def init(self):
        return self._init(ctypes.byref(self.ctx), 7, None, log, None)

    def devices(self):
        count = ctypes.c_int(-1)
        return self._devices(ctypes.byref(count)), count.value

    def listen(self):
        comm = POINTER(0x5550)
        result = self._listen(self.ctx, 0, ctypes.create_string_buffer(128), ctypes.byref(comm))
        return result, comm.value


def signals(plugin):
    """The program's handlers stay, those set before and those set after."""
    seen = []
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job starts with it ignored
    signal.signal(signal.SIGTERM, lambda number, frame: seen.append(number))
    signal.signal(signal.SIGUSR2, lambda number, frame: seen.append(number))
    assert plugin.init() == 0
    signal.signal(signal.SIGHUP, lambda number, frame: seen.append(number))
    for number in (signal.SIGTERM, signal.SIGUSR2, signal.SIGHUP):
        os.kill(os.getpid(), number)
        time.sleep(0.01)
    assert seen == [signal.SIGTERM, signal.SIGUSR2, signal.SIGHUP], seen
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10)
    except KeyboardInterrupt:
        return
    raise AssertionError("no KeyboardInterrupt")


def segv_handler():
    """The address of the function that handles SIGSEGV now."""
    action = (ctypes.c_size_t * 32)()
    assert ctypes.CDLL(None).sigaction(signal.SIGSEGV, None, action) == 0
    return action[0]


def late_faulthandler(plugin):
    """A handler installed after the JVM does not see the JVM's own SIGSEGVs (LOOPBACK_FAULT=null-checks)."""
    assert plugin.init() == 0
    faulthandler.enable()
    assert plugin.init() == 0  # the next communicator: the guard looks again
    assert plugin.devices() == (0, 2)
    guard = segv_handler()
    faulthandler.disable()
    faulthandler.enable()
    deadline = time.monotonic() + 60
    while segv_handler() != guard:  # it looks all the time
        assert time.monotonic() < deadline, "the guard has not seen the handler"
        time.sleep(0.01)
    assert plugin.devices() == (0, 2)


def segv(plugin):
    """A real crash still reaches the program's handler."""
    assert plugin.init() == 0
    faulthandler.enable()
    assert plugin.init() == 0
    ctypes.string_at(8)


def segv_of_two_handlers(plugin):
    """Of two handlers installed after the JVM, the second hands on to the guard, which it found; it must end."""
    assert plugin.init() == 0
    signal.signal(signal.SIGSEGV, lambda number, frame: None)
    assert plugin.init() == 0
    faulthandler.enable()
    assert plugin.init() == 0
    ctypes.string_at(8)


def fork(plugin):
    """A forked child gets errors, and the parent goes on."""
    assert plugin.init() == 0
    child = os.fork()
    if child == 0:
        refused = plugin.listen() == (SYSTEM_ERROR, None) and plugin.devices() == (SYSTEM_ERROR, 0)
        os._exit(0 if refused and plugin.init() == SYSTEM_ERROR else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert plugin.listen()[0] == 0


def fork_before(plugin):
    """A child forked before the first init has a JVM of its own."""
    child = os.fork()
    result = plugin.init()
    if child == 0:
        os._exit(0 if result == 0 and plugin.listen()[0] == 0 else 1)
    assert result == 0
    assert os.waitpid(child, 0)[1] == 0


def foreign_jvm(plugin):
    """Another JVM's library is in the process: refused, since two would end it."""
    ctypes.CDLL(os.environ["OTHER_LIBJVM"])
    assert plugin.init() == SYSTEM_ERROR
    assert plugin.listen() == (SYSTEM_ERROR, None)


def calls_without_init(plugin):
    """Refused, and nothing is started for them."""
    assert plugin.listen() == (SYSTEM_ERROR, None)
    assert plugin.devices() == (SYSTEM_ERROR, 0)
    assert len(os.listdir("/proc/self/task")) == 1
    assert plugin.init() == 0
    assert plugin.devices() == (0, 2)


def failed_init(plugin):
    """The JVM runs, and the net plugin could not be made (LOOPBACK_FAULT=create).

    It is not tried again, and calls are refused.
    """
    for _ in range(3):
        assert plugin.init() == INTERNAL_ERROR
        assert plugin.listen() == (SYSTEM_ERROR, None)
        assert plugin.devices() == (SYSTEM_ERROR, 0)


def many_inits(plugin):
    """The first init on many threads at a time: all of them find it done."""
    results = []
    threads = [threading.Thread(target=lambda: results.append(Plugin(sys.argv[1]).init())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [0] * 8, results
    assert plugin.devices() == (0, 2)


def main():
    cases = [
        signals, late_faulthandler, segv, segv_of_two_handlers, fork, fork_before, foreign_jvm, calls_without_init,
        failed_init, many_inits,
    ]
    {case.__name__: case for case in cases}[sys.argv[2]](Plugin(sys.argv[1]))


if __name__ == "__main__":
    main()
