package trigon.entry.loopback;

import java.lang.reflect.Method;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import trigon.nccl.NetPlugin;
import trigon.system.Memory;
import trigon.transport.request.RequestRow;
import trigon.transport.request.RequestTable;
import trigon.transport.request.Requests;
import trigon.verbs.WorkCompletionOpcode;
import trigon.verbs.WorkCompletionStatus;
import trigon.verbs.WorkCompletions;

/**
 * A plugin whose requests the library finishes by itself, from the completions that its poll gives it. Whoever asks it
 * for a request gets an error, unless the last poll brought something that is not the library's to take, or as many
 * polls as the library makes by itself found nothing, or the request is not in the state in which the library may poll
 * for it.
 *
 * <p>Every fifth request is in another state, with every seventh there comes a completion of another kind, as that of a
 * clear-to-send, and every eleventh is said to have failed, though it has not.
 */
final class TakenRequests extends PluginWithRequests {

    private static final int OTHER_STATE_EVERY = 5;
    private static final int OTHER_KIND_EVERY = 7;
    private static final int FAILED_EVERY = 11;
    private static final int OTHER_OPCODE = WorkCompletionOpcode.RDMA_READ;

    /** A request that the device has not finished, and the plugin's for it. */
    private record Unfinished(long handle, long request, boolean isPlain) {}

    /** A request that it has finished, with that many bytes. */
    private record Finished(long handle, long size) {}

    /** A comm, as the library sees it. */
    private static final class Taken {
        final long handle;
        final Requests requests;
        final int opcode;
        final WorkCompletions completions;
        final Deque<Unfinished> unfinished = new ArrayDeque<>();
        final List<Finished> left = new ArrayList<>(); // by the library's last poll, for Java
        final Map<Integer, Long> taken = new HashMap<>(); // sizes of requests that the library has finished, by slot
        long nextSequence;
        int completed;
        int found; // by the last poll, the other kind too
        int idle;

        Taken(long handle, Requests requests, int opcode) {
            this.handle = handle;
            this.requests = requests;
            completions = requests.completions();
            this.opcode = opcode;
        }

        long entry(long request) {
            return requests.row() + slot(handle, request) * RequestRow.ENTRY_BYTES;
        }

        boolean has(long request) {
            return unfinished.stream().anyMatch(each -> each.handle == request)
                    || left.stream().anyMatch(each -> each.handle == request);
        }
    }

    private final NativePolls polls = new NativePolls(this::poll);
    private final Map<Long, Taken> comms = new HashMap<>();
    private long nextSlot = 1;

    TakenRequests(NetPlugin behind, RequestTable table) {
        super(behind, table);
    }

    @Override
    Object invoke(Method method, Object[] arguments) throws Throwable {
        return switch (method.getName()) {
            case "isend" ->
                given(comm(arguments, WorkCompletionOpcode.RDMA_WRITE), method, arguments, (long) arguments[2]);
            // how much comes is the completion's to say
            case "irecv" ->
                given(comm(arguments, WorkCompletionOpcode.RECEIVE_RDMA_WITH_IMMEDIATE), method, arguments, -1);
            case "test" -> ask((long) arguments[0]);
            default -> call(method, arguments);
        };
    }

    private Taken comm(Object[] arguments, int opcode) {
        return comms.computeIfAbsent((long) arguments[0], _ -> newRow(opcode));
    }

    private Taken newRow(int opcode) {
        long handle = nextSlot++ << SLOT_SHIFT;
        Taken comm = new Taken(handle, table().open(handle), opcode);
        comm.requests.pollWith(polls.of(handle), opcode);
        return comm;
    }

    private Object given(Taken comm, Method method, Object[] arguments, long size) throws Throwable {
        long request = (long) call(method, arguments);
        if (request <= 0) {
            return request;
        }
        long handle = request(comm.handle, comm.nextSequence++);
        requireFinished(comm, handle, comm.taken.remove(slot(comm.handle, handle)));
        boolean isPlain = comm.nextSequence % OTHER_STATE_EVERY != 0;
        comm.unfinished.addLast(new Unfinished(handle, request, isPlain));
        long entry = comm.entry(handle);
        Memory.putLong(entry + RequestRow.REQUEST, handle);
        Memory.putLong(entry + RequestRow.SIZE, size);
        Memory.putLong(entry + RequestRow.STATE, isPlain ? Requests.PENDING : Requests.PENDING + 1);
        return handle;
    }

    /** What the library has left of the request that had the slot before, if it was the library that finished it. */
    private static void requireFinished(Taken comm, long next, @Nullable Long size) {
        long entry = comm.entry(next);
        if (size != null
                && (Memory.getLong(entry + RequestRow.STATE) != Requests.DONE
                        || Memory.getLong(entry + RequestRow.SIZE) != size)) {
            throw new IllegalStateException("a request of %d bytes was finished with state %d and %d bytes"
                    .formatted(
                            size, Memory.getLong(entry + RequestRow.STATE), Memory.getLong(entry + RequestRow.SIZE)));
        }
    }

    private synchronized int poll(long queue, int entries, long completions) {
        Taken comm = only(comms, each -> each.handle == queue, "a poll of something else");
        if (completions != comm.completions.address() || !comm.left.isEmpty()) {
            throw new IllegalStateException("polled before Java has had what was found");
        }
        List<Finished> finished = new ArrayList<>();
        boolean plain = find(comm, entries, finished);
        if (!plain) {
            comm.left.addAll(finished);
        } else if (!finished.isEmpty()) {
            comm.completed += finished.size(); // by the library
            finished.forEach(each -> comm.taken.put(slot(comm.handle, each.handle), each.size));
        } else {
            comm.idle++;
        }
        return comm.found;
    }

    /**
     * Finds what the device has finished, in its order; returns whether nothing in it speaks against the library's
     * taking it.
     */
    private boolean find(Taken comm, int entries, List<Finished> finished) {
        comm.found = 0;
        boolean plain = true;
        while (comm.found + 1 < entries && !comm.unfinished.isEmpty()) {
            Unfinished oldest = comm.unfinished.getFirst();
            long size = behind().test(oldest.request);
            if (size < 0) {
                break;
            }
            comm.unfinished.removeFirst();
            finished.add(new Finished(oldest.handle, size));
            int slot = slot(comm.handle, oldest.handle);
            boolean failed = slot % FAILED_EVERY == 1;
            // a send's immediate is nothing to anybody
            int immediate = comm.opcode == WorkCompletionOpcode.RDMA_WRITE ? (int) size + 1 : (int) size;
            complete(
                    comm,
                    failed ? WorkCompletionStatus.WR_FLUSHED : WorkCompletionStatus.SUCCESS,
                    comm.opcode,
                    immediate);
            plain &= oldest.isPlain && !failed;
            if (slot % OTHER_KIND_EVERY == 0) {
                complete(comm, WorkCompletionStatus.SUCCESS, OTHER_OPCODE, 0);
                plain = false;
            }
        }
        return plain;
    }

    private static void complete(Taken comm, WorkCompletionStatus status, int opcode, int immediate) {
        comm.completions.set(
                comm.found++, 0, status.code(), opcode, immediate, immediate, WorkCompletions.WITH_IMMEDIATE, 0);
    }

    private long ask(long handle) {
        Taken comm = only(comms, each -> each.has(handle), "a request that is gone came to Java");
        int polled = comm.requests.takePolled();
        if (comm.left.isEmpty() == (polled != 0) || (polled != 0 && polled != comm.found)) {
            throw new IllegalStateException(
                    "asked with %d completions, where %d are for Java".formatted(polled, comm.found));
        }
        if (Memory.getInt(comm.requests.row() + RequestRow.COMPLETED) != comm.completed) {
            throw new IllegalStateException("%d requests were counted, where %d were finished"
                    .formatted(Memory.getInt(comm.requests.row() + RequestRow.COMPLETED), comm.completed));
        }
        if (polled == 0) {
            requireReason(comm, handle);
            find(comm, RequestRow.COMPLETIONS_AT_ONCE, comm.left); // Java's own poll
        } else {
            comm.idle = 0;
        }
        long asked = NetPlugin.NOT_DONE;
        for (Finished each : comm.left) {
            Memory.putLong(comm.entry(each.handle) + RequestRow.STATE, 0);
            Memory.putInt(comm.requests.row() + RequestRow.COMPLETED, ++comm.completed);
            if (each.handle == handle) {
                asked = each.size;
            } else {
                comm.requests.show(slot(comm.handle, each.handle), each.handle, (int) each.size);
            }
        }
        comm.left.clear();
        return asked;
    }

    private static void requireReason(Taken comm, long handle) {
        if (comm.unfinished.stream().anyMatch(each -> each.handle == handle && each.isPlain)) {
            if (comm.idle != RequestRow.WAITS_AT_ONCE) {
                throw new IllegalStateException("asked after %d polls without any completion".formatted(comm.idle));
            }
            comm.idle = 0;
        }
    }
}
