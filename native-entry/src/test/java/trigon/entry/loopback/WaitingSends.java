package trigon.entry.loopback;

import java.lang.foreign.Arena;
import java.lang.reflect.Method;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import trigon.nccl.NetPlugin;
import trigon.system.Memory;
import trigon.transport.request.RequestRow;
import trigon.transport.request.RequestTable;
import trigon.transport.request.Requests;

/**
 * A plugin each of whose messages waits for a word that comes a little later, and that says so in the table. Whoever
 * asks it to send, though the word is not there, sooner than after the calls that the library answers by itself, gets
 * an error.
 */
final class WaitingSends extends PluginWithRequests {

    private static final long WAIT_MILLIS = 5;

    /** A sending comm; only the thread that makes its data-path calls uses it. */
    private static final class Sender {
        final Requests requests;
        final long word;
        long sent;
        boolean waits;

        Sender(Requests requests, long word) {
            this.requests = requests;
            this.word = word;
        }

        boolean arrived() {
            return Memory.getLongAcquire(word) == sent + 1;
        }

        void requireAskedInTime() {
            int waited = Memory.getShort(requests.row() + RequestRow.WAITS);
            if (waited != RequestRow.WAITS_AT_ONCE && !arrived()) {
                throw new IllegalStateException("asked after " + waited + " calls, and the message still waits");
            }
            if (Memory.getLong(requests.row() + RequestRow.SENDER) != 0) {
                throw new IllegalStateException("asked, and the row still says that the message waits");
            }
        }
    }

    private final Arena words = Arena.ofShared();
    private final Map<Long, Sender> senders = new HashMap<>();

    WaitingSends(NetPlugin behind, RequestTable table) {
        super(behind, table);
    }

    @Override
    Object invoke(Method method, Object[] arguments) throws Throwable {
        return switch (method.getName()) {
            case "connect" -> (long) call(method, arguments) << SLOT_SHIFT;
            case "isend" -> isend(method, arguments);
            case "registerMemory", "deregisterMemory", "closeSend" -> {
                withoutSlot(arguments);
                yield call(method, arguments);
            }
            default -> call(method, arguments);
        };
    }

    /** The library finds a row by the upper half of a handle; the plugin's own handles have none. */
    private static void withoutSlot(Object[] arguments) {
        long comm = (long) arguments[0];
        arguments[0] = comm >>> SLOT_SHIFT == 0 ? comm : comm >>> SLOT_SHIFT;
    }

    private Object isend(Method method, Object[] arguments) throws Throwable {
        long comm = (long) arguments[0];
        Sender sender = senders.computeIfAbsent(
                comm,
                _ -> new Sender(
                        table().open(comm),
                        words.allocate(Long.BYTES, Long.BYTES).address()));
        if (sender.waits) {
            sender.requireAskedInTime();
        } else {
            sender.waits = true;
            long value = sender.sent + 1;
            CompletableFuture.delayedExecutor(WAIT_MILLIS, TimeUnit.MILLISECONDS)
                    .execute(() -> Memory.putLongRelease(sender.word, value));
        }
        if (!sender.arrived()) {
            sender.requests.await(sender.word, sender.sent + 1);
            return NetPlugin.TRY_AGAIN;
        }
        withoutSlot(arguments);
        long request = (long) call(method, arguments);
        if (request > 0) {
            sender.sent++;
            sender.waits = false;
        }
        return request;
    }
}
