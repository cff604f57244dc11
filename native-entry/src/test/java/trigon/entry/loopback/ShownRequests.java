package trigon.entry.loopback;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import trigon.nccl.NetPlugin;
import trigon.transport.request.RequestTable;
import trigon.transport.request.Requests;

/**
 * A plugin that says that a request is finished in the table only: whoever asks it for one that is gets an error. Each
 * comm has a row of its own, so a row is touched by one thread.
 */
final class ShownRequests extends PluginWithRequests {

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

    private final Map<Long, Shown> comms = new HashMap<>();
    private long nextSlot = 1;

    ShownRequests(NetPlugin behind, RequestTable table) {
        super(behind, table);
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

    private Shown newRow() {
        long handle = nextSlot++ << SLOT_SHIFT;
        return new Shown(handle, table().open(handle));
    }

    private static long given(Shown shown, long request) {
        if (request <= 0) {
            return request;
        }
        long handle = request(shown.handle, shown.nextSequence++);
        shown.unfinished.put(handle, request);
        return handle;
    }

    private long ask(long handle) {
        Shown shown = only(comms, each -> each.unfinished.containsKey(handle), "a finished request came to Java");
        long size = behind().test(Objects.requireNonNull(shown.unfinished.get(handle)));
        if (size < 0) {
            return size;
        }
        shown.unfinished.remove(handle);
        shown.requests.show(slot(shown.handle, handle), handle, (int) size);
        return NetPlugin.NOT_DONE;
    }
}
