package trigon.entry.loopback;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import trigon.transport.CompletionBoard;
import trigon.transport.NetPlugin;
import trigon.verbs.Memory;
import trigon.verbs.NativePoll;

/**
 * A plugin whose completions are found by the library's own poll, a function that it puts on the board. Whoever asks it for a
 * request gets an error, unless a poll has just found something, or as many as the library makes by itself found nothing.
 */
final class PolledRequests implements InvocationHandler {

    private static final int SLOT_SHIFT = 32;
    private static final int SEQUENCE_SHIFT = 2;
    private static final long IS_REQUEST = 1;

    /** A comm, as the library sees it. */
    private static final class Polled {
        final long handle;
        final long row;
        final Map<Long, Long> unfinished =
                new LinkedHashMap<>(); // the plugin's requests, by the handles given out for them
        final Map<Long, Long> found = new HashMap<>(); // sizes, by handles; Java has not been asked since
        long nextSequence;
        int idle;

        Polled(long handle, long row) {
            this.handle = handle;
            this.row = row;
        }

        long entry(long request) {
            return row + slot(request) * CompletionBoard.ENTRY_BYTES;
        }

        int slot(long request) {
            return (int) ((request - handle) >> SEQUENCE_SHIFT) % CompletionBoard.ROW_REQUESTS;
        }
    }

    private final NetPlugin plugin;
    private final CompletionBoard board;
    private final long function;
    private final Arena arena = Arena.ofShared();
    private final Map<Long, Polled> comms = new HashMap<>();
    private long nextSlot = 1;

    private PolledRequests(NetPlugin plugin, CompletionBoard board) throws ReflectiveOperationException {
        this.plugin = plugin;
        this.board = board;
        MethodHandle poll = MethodHandles.lookup()
                .findVirtual(
                        PolledRequests.class,
                        "poll",
                        MethodType.methodType(int.class, long.class, int.class, long.class))
                .bindTo(this);
        function = Linker.nativeLinker()
                .upcallStub(
                        poll,
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_LONG),
                        arena)
                .address();
    }

    static NetPlugin over(NetPlugin plugin, CompletionBoard board) {
        try {
            return (NetPlugin) Proxy.newProxyInstance(
                    NetPlugin.class.getClassLoader(),
                    new Class<?>[] {NetPlugin.class},
                    new PolledRequests(plugin, board));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public synchronized Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        return switch (method.getName()) {
            case "isend", "irecv" -> {
                long comm = (long) arguments[0];
                yield given(comms.computeIfAbsent(comm, _ -> newRow()), (long) call(method, arguments));
            }
            case "test" -> ask((long) arguments[0]);
            default -> call(method, arguments);
        };
    }

    private Polled newRow() {
        long handle = nextSlot++ << SLOT_SHIFT;
        long row = board.open(handle);
        CompletionBoard.pollWith(row, new NativePoll(function, handle), row); // the row names the comm
        return new Polled(handle, row);
    }

    private static long given(Polled comm, long request) {
        if (request <= 0) {
            return request;
        }
        long handle = comm.handle | comm.nextSequence++ << SEQUENCE_SHIFT | IS_REQUEST;
        comm.unfinished.put(handle, request);
        Memory.putLong(comm.entry(handle) + CompletionBoard.REQUEST, handle);
        Memory.putLong(comm.entry(handle) + CompletionBoard.STATE, CompletionBoard.PENDING);
        return handle;
    }

    /** What the library calls as ibv_poll_cq. */
    @SuppressWarnings("unused") // by its name
    synchronized int poll(long queue, int entries, long completions) {
        Polled comm = comms.values().stream()
                .filter(each -> each.handle == queue && each.row == completions)
                .findAny()
                .orElseThrow(() -> new IllegalStateException("a poll of something else"));
        comm.unfinished.forEach((handle, request) -> {
            long size = comm.found.size() < entries ? plugin.test(request) : NetPlugin.NOT_DONE;
            if (size >= 0) {
                comm.found.put(handle, size);
            }
        });
        comm.unfinished.keySet().removeAll(comm.found.keySet());
        comm.idle = comm.found.isEmpty() ? comm.idle + 1 : 0;
        return comm.found.size();
    }

    private long ask(long handle) {
        Polled comm = comms.values().stream()
                .filter(each -> each.unfinished.containsKey(handle) || each.found.containsKey(handle))
                .findAny()
                .orElseThrow(() -> new IllegalStateException("a request that is gone came to Java"));
        int polled = CompletionBoard.takePolled(comm.row);
        if (polled != comm.found.size() || (polled == 0 && comm.idle != CompletionBoard.WAITS_AT_ONCE)) {
            throw new IllegalStateException("asked with %d completions, where %d were found, after %d polls without any"
                    .formatted(polled, comm.found.size(), comm.idle));
        }
        comm.idle = 0;
        comm.found.forEach((found, size) -> {
            Memory.putLong(comm.entry(found) + CompletionBoard.STATE, 0);
            if (found != handle) {
                CompletionBoard.put(comm.row, comm.slot(found), found, size.intValue());
            }
        });
        long size = comm.found.getOrDefault(handle, NetPlugin.NOT_DONE);
        comm.found.clear();
        return size;
    }

    private Object call(Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(plugin, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }
}
