package trigon.entry.loopback;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import trigon.nccl.NetPlugin;
import trigon.transport.request.RequestRow;
import trigon.transport.request.RequestTable;
import trigon.transport.request.Requests;

/**
 * A plugin in front of another that says that a request is finished in the table only: whoever asks it for one that is
 * gets an error. Each comm has a row of its own, so a row is touched by one thread.
 */
final class ShownRequests implements InvocationHandler {

    /** Lowest bit of a comm's slot number in its handle. */
    private static final int SLOT_SHIFT = 32;

    private static final int SEQUENCE_SHIFT = 2;
    private static final long IS_REQUEST = 1;

    /** What is shown of a comm. */
    private static final class Shown {
        final long handle;
        final Requests requests;
        final Map<Long, Long> unfinished = new HashMap<>(); // the plugin's requests, by the handles given out for them
        long nextSequence;

        Shown(long handle, Requests requests) {
            this.handle = handle;
            this.requests = requests;
        }
    }

    private final NetPlugin behind;
    private final RequestTable table;
    private final Map<Long, Shown> comms = new HashMap<>();
    private long nextSlot = 1;

    ShownRequests(NetPlugin behind, RequestTable table) {
        this.behind = behind;
        this.table = table;
    }

    NetPlugin plugin() {
        return (NetPlugin)
                Proxy.newProxyInstance(NetPlugin.class.getClassLoader(), new Class<?>[] {NetPlugin.class}, this);
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

    private Object call(Method method, Object[] arguments) throws Throwable {
        try {
            return method.invoke(behind, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
    }

    private Shown newRow() {
        long handle = nextSlot++ << SLOT_SHIFT;
        return new Shown(handle, table.open(handle));
    }

    private static long given(Shown shown, long request) {
        if (request <= 0) {
            return request;
        }
        long handle = shown.handle | shown.nextSequence++ << SEQUENCE_SHIFT | IS_REQUEST;
        shown.unfinished.put(handle, request);
        return handle;
    }

    private long ask(long handle) {
        Shown shown = comms.values().stream()
                .filter(each -> each.unfinished.containsKey(handle))
                .findAny()
                .orElseThrow(() -> new IllegalStateException("a finished request came to Java"));
        long size = behind.test(Objects.requireNonNull(shown.unfinished.get(handle)));
        if (size < 0) {
            return size;
        }
        shown.unfinished.remove(handle);
        int slot = (int) ((handle - shown.handle) >> SEQUENCE_SHIFT) % RequestRow.REQUESTS;
        shown.requests.show(slot, handle, (int) size);
        return NetPlugin.NOT_DONE;
    }
}
