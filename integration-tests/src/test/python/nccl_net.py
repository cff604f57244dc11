"""A network plugin as NCCL's API version 12 has it, by ctypes, and connections of this process to itself."""
import ctypes
import os
import sys
import time

POINTER = ctypes.c_void_p
LOGGER = ctypes.CFUNCTYPE(
    None, ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_char_p
)
SUCCESS, SYSTEM_ERROR = 0, 2
DEADLINE_SECONDS = 60

# the functions of ncclNetPlugin_v12 behind its name, in order, with the types of their arguments
INT, SIZE, LONG = ctypes.c_int, ctypes.c_size_t, ctypes.c_uint64
SLOTS = [
    ("init", [POINTER, LONG, POINTER, LOGGER, POINTER]),
    ("devices", [POINTER]),
    ("getProperties", [INT, POINTER]),
    ("listen", [POINTER, INT, POINTER, POINTER]),
    ("connect", [POINTER, INT, POINTER, POINTER, POINTER]),
    ("accept", [POINTER, POINTER, POINTER]),
    ("regMr", [POINTER, POINTER, SIZE, INT, POINTER]),
    ("regMrDmaBuf", []),
    ("deregMr", [POINTER, POINTER]),
    ("isend", [POINTER, POINTER, SIZE, INT, POINTER, POINTER, POINTER]),
    ("irecv", [POINTER, INT, POINTER, POINTER, POINTER, POINTER, POINTER, POINTER]),
    ("iflush", [POINTER, INT, POINTER, POINTER, POINTER, POINTER]),
    ("test", [POINTER, POINTER, POINTER]),
    ("closeSend", [POINTER]),
    ("closeRecv", [POINTER]),
    ("closeListen", [POINTER]),
    ("getDeviceMr", []),
    ("irecvConsumed", []),
    ("makeVDevice", []),
    ("finalize", [POINTER]),
]


@LOGGER
def log(level, subsystems, where, line, form, text):
    os.write(2, b"%d %s\n" % (level, text))


class Plugin:
    """The loaded plugin: a method for each slot that it fills."""

    def __init__(self, path):
        self.path = path
        table = ctypes.addressof(ctypes.c_char.in_dll(ctypes.CDLL(path), "ncclNetPlugin_v12"))
        for number, (name, types) in enumerate(SLOTS, start=1):
            address = POINTER.from_address(table + 8 * number).value
            if address and types:
                setattr(self, name, ctypes.CFUNCTYPE(ctypes.c_int, *types)(address))

    def open(self):
        context = POINTER()
        result = self.init(ctypes.byref(context), 7, None, log, None)
        return result, context

    def every_call(self):
        """Calls everything once, with comms that do not exist. Returns the results by name."""
        out, done, number = POINTER(0x5550), INT(-1), INT(-1)
        handle, memory = ctypes.create_string_buffer(128), ctypes.create_string_buffer(64)
        array = ctypes.byref(POINTER(ctypes.addressof(memory)))
        sizes, tags = ctypes.byref(SIZE(64)), ctypes.byref(INT(1))
        comm, mhandle, ref = POINTER(0x1010), POINTER(0x2020), ctypes.byref(out)
        return {
            "init": self.init(ref, 7, None, log, None),
            "devices": self.devices(ctypes.byref(number)),
            "getProperties": self.getProperties(0, ctypes.create_string_buffer(256)),
            "listen": self.listen(comm, 0, handle, ref),
            "connect": self.connect(comm, 0, handle, ref, ref),
            "accept": self.accept(comm, ref, ref),
            "regMr": self.regMr(comm, memory, 64, 1, ref),
            "isend": self.isend(comm, memory, 64, 1, mhandle, None, ref),
            "irecv": self.irecv(comm, 1, array, sizes, tags, ctypes.byref(mhandle), None, ref),
            "iflush": self.iflush(comm, 1, array, sizes, ctypes.byref(mhandle), ref),
            "test": self.test(comm, ctypes.byref(done), None),
            "deregMr": self.deregMr(comm, mhandle),
            "closeSend": self.closeSend(comm),
            "closeRecv": self.closeRecv(comm),
            "closeListen": self.closeListen(comm),
            "finalize": self.finalize(comm),
        }


def check(result, what):
    assert result == SUCCESS, f"{what} returned {result}"


def wait(condition, what):
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"timeout: {what}"
        time.sleep(0.0005)


class Loop:
    """A connection of this process to itself. One thread."""

    BYTES = 4096

    def __init__(self, plugin):
        self.plugin = plugin
        result, self.context = plugin.open()
        check(result, "init")
        self.listener, self.sender, self.receiver = POINTER(), POINTER(), POINTER()
        self.source = ctypes.create_string_buffer(self.BYTES)
        self.target = ctypes.create_string_buffer(self.BYTES)
        handle = ctypes.create_string_buffer(128)
        check(plugin.listen(self.context, 0, handle, ctypes.byref(self.listener)), "listen")

        def connected():
            if not self.sender:
                check(plugin.connect(self.context, 0, handle, ctypes.byref(self.sender), None), "connect")
            if not self.receiver:
                check(plugin.accept(self.listener, ctypes.byref(self.receiver), None), "accept")
            return self.sender and self.receiver

        wait(connected, "connect and accept")
        self.send_memory, self.receive_memory = POINTER(), POINTER()
        for comm, data, memory in (
            (self.sender, self.source, self.send_memory),
            (self.receiver, self.target, self.receive_memory),
        ):
            check(plugin.regMr(comm, data, self.BYTES, 1, ctypes.byref(memory)), "regMr")

    def move(self, fill):
        ctypes.memset(self.source, fill % 251 + 1, self.BYTES)
        ctypes.memset(self.target, 0, self.BYTES)
        sent, received = POINTER(), POINTER()
        check(self.receive(received), "irecv")

        def is_sent():
            check(self.send(sent), "isend")
            return bool(sent)

        wait(is_sent, "isend")
        for request in (sent, received):
            done = INT(0)

            def is_done():
                check(self.plugin.test(request, ctypes.byref(done), None), "test")
                return done.value == 1

            wait(is_done, "test")
        assert self.source.raw == self.target.raw, f"message {fill} is wrong"

    def receive(self, request):
        data = POINTER(ctypes.addressof(self.target))
        return self.plugin.irecv(
            self.receiver,
            1,
            ctypes.byref(data),
            ctypes.byref(SIZE(self.BYTES)),
            ctypes.byref(INT(3)),
            ctypes.byref(self.receive_memory),
            None,
            ctypes.byref(request),
        )

    def send(self, request):
        return self.plugin.isend(
            self.sender, self.source, self.BYTES, 3, self.send_memory, None, ctypes.byref(request)
        )

    def close(self):
        self.plugin.deregMr(self.sender, self.send_memory)
        self.plugin.deregMr(self.receiver, self.receive_memory)
        self.plugin.closeSend(self.sender)
        self.plugin.closeRecv(self.receiver)
        self.plugin.closeListen(self.listener)
        check(self.plugin.finalize(self.context), "finalize")


def move_and_close(plugin, messages=20):
    loop = Loop(plugin)
    for number in range(messages):
        loop.move(number)
    loop.close()


def say(text):
    print(text, file=sys.stderr, flush=True)
