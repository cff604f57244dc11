"""Python programs that are odd around the plugin.

Usage: odd_host.py PLUGIN CASE [ARGUMENT]; exits with 0 if the case went well, unless the case says otherwise.
"""
import ctypes
import faulthandler
import multiprocessing
import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time

from nccl_net import SUCCESS, SYSTEM_ERROR, Loop, Plugin, move_and_close, say

CHILD_SECONDS = 60


def wait_until(condition, what):
    deadline = time.monotonic() + CHILD_SECONDS
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.005)


class Traffic:
    """Threads that move messages until they are told to stop."""

    def __init__(self, plugin, threads=2, daemon=False):
        self.plugin, self.stopping, self.moved, self.failures = plugin, threading.Event(), 0, []
        self.threads = [threading.Thread(target=self._run, daemon=daemon) for _ in range(threads)]
        for thread in self.threads:
            thread.start()
        self.wait_for_more()

    def _run(self):
        try:
            loop = Loop(self.plugin)
            while not self.stopping.is_set():
                loop.move(self.moved)
                self.moved += 1
            loop.close()
        except BaseException as failure:
            self.failures.append(failure)

    def wait_for_more(self):
        target = self.moved + 50
        deadline = time.monotonic() + 60
        while self.moved < target:
            assert not self.failures, self.failures
            assert time.monotonic() < deadline, "no traffic"
            time.sleep(0.01)

    def end(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(CHILD_SECONDS)
            assert not thread.is_alive()
        assert not self.failures, self.failures


def wait_for(child):
    """Returns how a forked child ended; it must not hang."""
    deadline = time.monotonic() + CHILD_SECONDS
    while time.monotonic() < deadline:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    raise AssertionError("the forked child hangs")


def threads(plugin):
    """Several threads with connections of their own."""
    Traffic(plugin, threads=6).end()


def thread_per_message(plugin):
    """Threads that come, call and go: each is attached to the JVM and detached."""
    loop = Loop(plugin)
    for number in range(200):
        thread = threading.Thread(target=loop.move, args=[number])
        thread.start()
        thread.join(CHILD_SECONDS)
        assert not thread.is_alive()
    loop.close()


def signals(plugin):
    """The program's handlers stay, before and after the start, and during traffic."""
    seen = []
    keep = lambda number, frame: seen.append(number)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job starts with it ignored
    for number in (signal.SIGTERM, signal.SIGUSR2, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, keep)
    traffic = Traffic(plugin)
    for number in (signal.SIGHUP, signal.SIGUSR1):
        signal.signal(number, keep)
    expected = [
        signal.SIGTERM, signal.SIGUSR2, signal.SIGQUIT, signal.SIGPIPE, signal.SIGXFSZ, signal.SIGHUP, signal.SIGUSR1
    ]
    for number in expected:
        os.kill(os.getpid(), number)
        wait_until(lambda: number in seen, f"no signal {number}")
    assert seen == expected, seen
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(CHILD_SECONDS)
    except KeyboardInterrupt:
        traffic.wait_for_more()
        traffic.end()
        return
    raise AssertionError("no KeyboardInterrupt")


def end_sockets():
    """Ends the connections of this process's TCP sockets: whoever writes to one from now on gets EPIPE."""
    for name in os.listdir("/proc/self/fd"):
        try:
            with socket.socket(fileno=os.dup(int(name))) as opened:
                if opened.type == socket.SOCK_STREAM and opened.family in (socket.AF_INET, socket.AF_INET6):
                    opened.shutdown(socket.SHUT_WR)
        except OSError:  # no socket, or one that listens
            pass


def pipe(plugin):
    """SIGPIPE keeps the program's default, set before or after the start; a peer that is gone does not raise it."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    move_and_close(plugin)
    say(f"after the start: {handler_of(signal.SIGPIPE)}")
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    loop = Loop(plugin)
    loop.move(1)
    end_sockets()
    for _ in range(8):
        loop.send(ctypes.c_void_p())
    loop.close()
    say("a write to a pipe that nobody reads")
    reader, writer = os.pipe()
    os.close(reader)
    os.write(writer, b"end")


def handler_of(number):
    """The address of the function that handles a signal now; 0 is the default, 1 ignores it."""
    action = (ctypes.c_size_t * 32)()
    assert ctypes.CDLL(None).sigaction(number, None, action) == 0
    return action[0]


def enable_guarded_faulthandler():
    """Returns once the plugin's guard is before the handler; with libjsig the handler is behind the JVM's at once."""
    guard = handler_of(signal.SIGSEGV)
    faulthandler.enable()
    if not hasattr(ctypes.CDLL(None), "JVM_get_signal_action"):
        wait_until(lambda: handler_of(signal.SIGSEGV) == guard, "the guard has not seen the handler")


def crash(plugin, when):
    """Ends by SIGSEGV, with python's report where it has been asked for. "before", "after", "never": faulthandler."""
    if when == "before":
        faulthandler.enable()
    if when == "after":
        move_and_close(plugin)
        enable_guarded_faulthandler()
    Traffic(plugin, daemon=True)
    ctypes.string_at(8)


def late_handlers(plugin, rounds):
    """Handlers that are installed again and again; messages move once the guard has seen each."""
    loop = Loop(plugin)
    for number in range(int(rounds)):
        enable_guarded_faulthandler()
        loop.move(number)
        faulthandler.disable()
        loop.move(number)
    loop.close()


def late_handlers_during_traffic(plugin, rounds):
    """The same under traffic: a fault of the JVM's in the time until the guard has seen it would end the process."""
    traffic = Traffic(plugin, daemon=True)
    for _ in range(int(rounds)):
        faulthandler.enable()
        time.sleep(random.uniform(0, 0.1))
        faulthandler.disable()
    traffic.wait_for_more()
    traffic.end()


def killed(plugin):
    """Ends by SIGSEGV that is sent, as batch systems do, not caused."""
    Traffic(plugin, daemon=True)
    os.kill(os.getpid(), signal.SIGSEGV)
    time.sleep(CHILD_SECONDS)


def leave(plugin, how):
    """Exits with 7 while daemon threads are in the plugin."""
    Traffic(plugin, daemon=True)
    if how == "sys.exit":
        sys.exit(7)
    if how == "os._exit":
        os._exit(7)
    if how == "exit":
        ctypes.CDLL(None).exit(7)
    if how == "thread":
        threading.Thread(target=ctypes.CDLL(None).exit, args=[7]).start()
        time.sleep(CHILD_SECONDS)
    raise SystemError("7")  # "raise": an uncaught exception is status 1


def refuses_everything(plugin):
    results = plugin.every_call()
    say(f"child {os.getpid()}: {results}")
    assert all(result == SYSTEM_ERROR for result in results.values()), results
    return True


def fork_after(plugin, how):
    """Children forked after the start, with traffic under way.

    Each gets errors, ends by itself, and the parent goes on.
    """
    traffic = Traffic(plugin)
    context = multiprocessing.get_context("fork")
    for _ in range(5):
        if how == "process":
            process = context.Process(target=refuses_everything, args=[plugin])
            process.start()
            process.join(CHILD_SECONDS)
            assert process.exitcode == 0, process.exitcode
        elif how == "pool":
            global of_pool
            of_pool = plugin  # goes along by the fork; it cannot be pickled
            with context.Pool(2) as pool:
                assert pool.map_async(in_pool, range(4)).get(CHILD_SECONDS) == [True] * 4
        elif how == "subprocess":
            assert subprocess.run(["true"], timeout=CHILD_SECONDS).returncode == 0
        else:
            child = os.fork()
            if child == 0:
                refuses_everything(plugin)
                sys.exit(5) if how == "sys.exit" else os._exit(5)
            assert wait_for(child) == 5
        traffic.wait_for_more()
    traffic.end()


def in_pool(_):
    return refuses_everything(of_pool)


def fork_before(plugin):
    """Children forked before the start: each has a plugin of its own."""
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=move_and_close, args=[plugin]) for _ in range(2)]
    for process in processes:
        process.start()
    move_and_close(plugin)
    for process in processes:
        process.join(CHILD_SECONDS)
        assert process.exitcode == 0, process.exitcode


def spawn(plugin):
    """What the message for forked children advises."""
    traffic = Traffic(plugin)
    process = multiprocessing.get_context("spawn").Process(target=in_new_process, args=[plugin.path])
    process.start()
    process.join(2 * CHILD_SECONDS)
    assert process.exitcode == 0, process.exitcode
    traffic.end()


def in_new_process(path):
    move_and_close(Plugin(path))


class JvmOption(ctypes.Structure):
    _fields_ = [("text", ctypes.c_char_p), ("extra", ctypes.c_void_p)]


class JvmArguments(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_int),
        ("count", ctypes.c_int),
        ("options", ctypes.POINTER(JvmOption)),
        ("ignore_unrecognized", ctypes.c_ubyte),
    ]


def create_jvm(libjvm):
    options = (JvmOption * 2)(JvmOption(b"-Xrs", None), JvmOption(b"-Xmx256m", None))
    arguments = JvmArguments(0x000A0000, 2, options, 0)
    vm, env = ctypes.c_void_p(), ctypes.c_void_p()
    result = ctypes.CDLL(libjvm).JNI_CreateJavaVM(ctypes.byref(vm), ctypes.byref(env), ctypes.byref(arguments))
    assert result == 0, result


def running_jvm(plugin, libjvm):
    """The program has a JVM already: it is used."""
    create_jvm(libjvm)
    move_and_close(plugin)


def unsuitable_jvm(plugin, libjvm):
    """The program has a JVM already, which is too old: refused, and the program goes on."""
    create_jvm(libjvm)
    assert refuses_everything(plugin)


def other_libjvm(plugin, libjvm):
    """The program has loaded another libjvm.so: refused, and the program goes on."""
    ctypes.CDLL(libjvm)
    assert refuses_everything(plugin)


def jni(table, index, *types):
    """A function of a table of the JVM's (jni.h), by its place there."""
    functions = ctypes.cast(ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[0], ctypes.POINTER(ctypes.c_void_p))
    return ctypes.CFUNCTYPE(*types)(functions[index])


def attach(libjvm):
    """This thread's JNI environment."""
    pointer = ctypes.c_void_p
    vm, env, count = pointer(), pointer(), ctypes.c_int()
    ctypes.CDLL(libjvm).JNI_GetCreatedJavaVMs(ctypes.byref(vm), 1, ctypes.byref(count))
    attach_as_daemon = jni(vm, 7, ctypes.c_int, pointer, ctypes.POINTER(pointer), pointer)
    assert attach_as_daemon(vm, ctypes.byref(env), None) == 0
    return env


def collect_for_ever(libjvm, collections):
    """Full collections, one after the other, on this thread."""
    pointer, text = ctypes.c_void_p, ctypes.c_char_p
    env = attach(libjvm)
    system = jni(env, 6, pointer, pointer, text)(env, b"java/lang/System")
    collect = jni(env, 113, pointer, pointer, pointer, text, text)(env, system, b"gc", b"()V")
    call_static_void = jni(env, 143, None, pointer, pointer, pointer, pointer)
    while True:
        call_static_void(env, system, collect, None)
        collections.append(None)


def fill_heap(libjvm):
    """Allocates until the JVM must have collected its young generation."""
    pointer = ctypes.c_void_p
    env = attach(libjvm)
    new_byte_array = jni(env, 176, pointer, pointer, ctypes.c_int)
    delete_local_reference = jni(env, 23, None, pointer, pointer)
    for _ in range(4096):
        array = new_byte_array(env, 64 << 10)
        assert array
        delete_local_reference(env, array)


def leave_and_use_java(plugin, libjvm):
    """Exits with 7, and has an exit handler that waits for Java and for its garbage collector; it comes last."""
    program = ctypes.CDLL(None)
    handler = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: fill_heap(libjvm))
    program.__cxa_atexit(handler, None, None)
    move_and_close(plugin)
    program.exit(7)


def leave_while_collecting(plugin, libjvm):
    """Exits with 7 while the JVM collects garbage.

    Has an exit handler of its own, which was there first and so comes last.
    """
    program = ctypes.CDLL(None)
    program.__cxa_atexit(program.usleep, 50_000, None)
    move_and_close(plugin)
    collections = []
    threading.Thread(target=collect_for_ever, args=[libjvm, collections], daemon=True).start()
    deadline = time.monotonic() + CHILD_SECONDS
    while not collections and time.monotonic() < deadline:
        time.sleep(0.001)
    time.sleep(random.uniform(0, 0.05))
    program.exit(7 if collections else 8)


def two_copies(plugin, other):
    """Two paths in NCCL_NET_PLUGIN: two plugins in one process and one JVM."""
    second = Plugin(other)
    first_loop, second_loop = Loop(plugin), Loop(second)
    for number in range(20):
        first_loop.move(number)
        second_loop.move(number)
    first_loop.close()
    second_loop.move(21)
    second_loop.close()
    move_and_close(plugin)


def two_copies_at_once(plugin, other):
    """Both start at the same time: each works, or says that it does not."""
    second, results = Plugin(other), {}
    starts = [threading.Thread(target=lambda p=p: results.update({p.path: p.open()[0]})) for p in (plugin, second)]
    for thread in starts:
        thread.start()
    for thread in starts:
        thread.join(CHILD_SECONDS)
        assert not thread.is_alive()
    say(results)
    assert SUCCESS in results.values() and set(results.values()) <= {SUCCESS, SYSTEM_ERROR}, results
    for each in (plugin, second):
        if results[each.path] == SUCCESS:
            move_and_close(each)


def main():
    cases = [
        threads, thread_per_message, signals, pipe, crash, late_handlers,
        late_handlers_during_traffic, killed, leave, leave_while_collecting,
        leave_and_use_java, fork_after, fork_before, spawn, running_jvm, unsuitable_jvm, other_libjvm, two_copies,
        two_copies_at_once,
    ]
    case = {case.__name__: case for case in cases}[sys.argv[2]]
    case(Plugin(sys.argv[1]), *sys.argv[3:])


if __name__ == "__main__":
    main()
