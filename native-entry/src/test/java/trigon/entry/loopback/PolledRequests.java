package trigon.entry.loopback;

import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import trigon.nccl.NetPlugin;
import trigon.system.Errno;
import trigon.system.Memory;
import trigon.transport.request.RequestRow;
import trigon.transport.request.RequestTable;
import trigon.transport.request.Requests;

/**
 * A plugin whose completions are found by the library's own poll, a function that it puts in the table. Whoever asks it
 * for a request gets an error, unless a poll has just found something, or as many as the library makes by itself found
 * nothing. Each comm's first poll fails, and some requests are not in the state in which the library may poll for them.
 */
final class PolledRequests extends PluginWithRequests {

    /** A comm, as the library sees it. */
    private static final class Polled {
        final long handle;
        final Requests requests;
        final Map<Long, Long> unfinished = new LinkedHashMap<>(); // the plugin's requests, by the handles for them
        final Map<Long, Long> found = new HashMap<>(); // sizes, by handles; Java has not been asked since
        final Set<Long> unpolled =
                new HashSet<>(); // of the unfinished ones, those that Java is to be asked for at once
        long nextSequence;
        int idle;
        boolean failed;

        @Nullable
        String complaint;

        Polled(long handle, Requests requests) {
            this.handle = handle;
            this.requests = requests;
        }

        long entry(long request) {
            return requests.row() + slot(handle, request) * RequestRow.ENTRY_BYTES;
        }
    }

    private final NativePolls polls = new NativePolls(this::poll);
    private final Map<Long, Polled> comms = new HashMap<>();
    private long nextSlot = 1;

    PolledRequests(NetPlugin behind, RequestTable table) {
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

    private Polled newRow() {
        long handle = nextSlot++ << SLOT_SHIFT;
        Requests requests = table().open(handle);
        requests.pollWith(polls.of(handle), 0);
        return new Polled(handle, requests);
    }

    private static long given(Polled comm, long request) {
        if (request <= 0) {
            return request;
        }
        long handle = request(comm.handle, comm.nextSequence++);
        comm.unfinished.put(handle, request);
        boolean mayPoll = comm.nextSequence % 3 != 0;
        if (!mayPoll) {
            comm.unpolled.add(handle);
        }
        Memory.putLong(comm.entry(handle) + RequestRow.REQUEST, handle);
        Memory.putLong(comm.entry(handle) + RequestRow.STATE, mayPoll ? Requests.PENDING : Requests.PENDING + 1);
        return handle;
    }

    private synchronized int poll(long queue, int entries, long completions) {
        Polled comm = only(
                comms,
                each -> each.handle == queue && each.requests.completions().address() == completions,
                "a poll of something else");
        if (comm.unpolled.containsAll(comm.unfinished.keySet())) {
            comm.complaint = "polled, though no request is in the state for that";
        }
        if (!comm.failed) {
            comm.failed = true;
            return -Errno.EIO;
        }
        comm.unfinished.forEach((handle, request) -> {
            boolean mayTake = comm.found.size() < entries && !comm.unpolled.contains(handle);
            long size = mayTake ? behind().test(request) : NetPlugin.NOT_DONE;
            if (size >= 0) {
                comm.found.put(handle, size);
            }
        });
        comm.unfinished.keySet().removeAll(comm.found.keySet());
        comm.idle = comm.found.isEmpty() ? comm.idle + 1 : 0;
        return comm.found.size();
    }

    private long askUnpolled(Polled comm, long handle, int polled) {
        if (polled != 0) {
            throw new IllegalStateException(
                    "a poll for another request returned " + polled + ", and Java was not asked");
        }
        long size = behind().test(Objects.requireNonNull(comm.unfinished.get(handle)));
        if (size >= 0) {
            comm.unfinished.remove(handle);
            comm.unpolled.remove(handle);
        }
        return size;
    }

    private long ask(long handle) {
        Polled comm = only(
                comms,
                each -> each.unfinished.containsKey(handle) || each.found.containsKey(handle),
                "a request that is gone came to Java");
        if (comm.complaint != null) {
            throw new IllegalStateException(comm.complaint);
        }
        int polled = comm.requests.takePolled();
        if (comm.unpolled.contains(handle)) {
            return askUnpolled(comm, handle, polled);
        }
        if (polled == -Errno.EIO && comm.found.isEmpty()) {
            return NetPlugin.NOT_DONE;
        }
        if (polled != comm.found.size() || (polled == 0 && comm.idle != RequestRow.WAITS_AT_ONCE)) {
            throw new IllegalStateException("asked with %d completions, where %d were found, after %d polls without any"
                    .formatted(polled, comm.found.size(), comm.idle));
        }
        comm.idle = 0;
        comm.found.forEach((found, size) -> {
            Memory.putLong(comm.entry(found) + RequestRow.STATE, 0);
            if (found != handle) {
                comm.requests.show(slot(comm.handle, found), found, size.intValue());
            }
        });
        long size = comm.found.getOrDefault(handle, NetPlugin.NOT_DONE);
        comm.found.clear();
        return size;
    }
}
