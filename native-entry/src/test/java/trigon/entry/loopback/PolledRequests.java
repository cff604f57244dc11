package trigon.entry.loopback;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
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
final class PolledRequests extends PluginOnBoard {

    /** A comm, as the library sees it. */
    private static final class Polled {
        final long handle;
        final long row;
        final Map<Long, Long> unfinished = new LinkedHashMap<>(); // the plugin's requests, by the handles for them
        final Map<Long, Long> found = new HashMap<>(); // sizes, by handles; Java has not been asked since
        long nextSequence;
        int idle;

        Polled(long handle, long row) {
            this.handle = handle;
            this.row = row;
        }

        long entry(long request) {
            return row + slot(handle, request) * CompletionBoard.ENTRY_BYTES;
        }
    }

    private final long function;
    private final Arena arena = Arena.ofShared();
    private final Map<Long, Polled> comms = new HashMap<>();
    private long nextSlot = 1;

    PolledRequests(NetPlugin behind, CompletionBoard board) {
        super(behind, board);
        function = Linker.nativeLinker()
                .upcallStub(
                        poll(),
                        FunctionDescriptor.of(
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_LONG,
                                ValueLayout.JAVA_INT,
                                ValueLayout.JAVA_LONG),
                        arena)
                .address();
    }

    private MethodHandle poll() {
        MethodType type = MethodType.methodType(int.class, long.class, int.class, long.class);
        try {
            return MethodHandles.lookup()
                    .findVirtual(PolledRequests.class, "poll", type)
                    .bindTo(this);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    Object invoke(Method method, Object[] arguments) throws Throwable {
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
        long row = board().open(handle);
        CompletionBoard.pollWith(row, new NativePoll(function, handle), row); // the row names the comm
        return new Polled(handle, row);
    }

    private static long given(Polled comm, long request) {
        if (request <= 0) {
            return request;
        }
        long handle = request(comm.handle, comm.nextSequence++);
        comm.unfinished.put(handle, request);
        Memory.putLong(comm.entry(handle) + CompletionBoard.REQUEST, handle);
        Memory.putLong(comm.entry(handle) + CompletionBoard.STATE, CompletionBoard.PENDING);
        return handle;
    }

    /** What the library calls as ibv_poll_cq. */
    @SuppressWarnings("unused") // by its name
    synchronized int poll(long queue, int entries, long completions) {
        Polled comm = only(comms, each -> each.handle == queue && each.row == completions, "a poll of something else");
        comm.unfinished.forEach((handle, request) -> {
            long size = comm.found.size() < entries ? behind().test(request) : NetPlugin.NOT_DONE;
            if (size >= 0) {
                comm.found.put(handle, size);
            }
        });
        comm.unfinished.keySet().removeAll(comm.found.keySet());
        comm.idle = comm.found.isEmpty() ? comm.idle + 1 : 0;
        return comm.found.size();
    }

    private long ask(long handle) {
        Polled comm = only(
                comms,
                each -> each.unfinished.containsKey(handle) || each.found.containsKey(handle),
                "a request that is gone came to Java");
        int polled = CompletionBoard.takePolled(comm.row);
        if (polled != comm.found.size() || (polled == 0 && comm.idle != CompletionBoard.WAITS_AT_ONCE)) {
            throw new IllegalStateException("asked with %d completions, where %d were found, after %d polls without any"
                    .formatted(polled, comm.found.size(), comm.idle));
        }
        comm.idle = 0;
        comm.found.forEach((found, size) -> {
            Memory.putLong(comm.entry(found) + CompletionBoard.STATE, 0);
            if (found != handle) {
                CompletionBoard.put(comm.row, slot(comm.handle, found), found, size.intValue());
            }
        });
        long size = comm.found.getOrDefault(handle, NetPlugin.NOT_DONE);
        comm.found.clear();
        return size;
    }
}
