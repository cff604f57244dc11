package trigon.transport.failure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.locks.LockSupport;
import trigon.nccl.NetPlugin;
import trigon.system.Memory;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;
import trigon.verbs.LinkKind;

/**
 * A process that sends to a receiver that does not ask, until nothing more fits, says how much was done, and waits to
 * be killed. For {@link UnreadReceiver}.
 */
final class UnreadSender {

    static final int TAG = 9;

    /** Where it finds the receiver's handle, in the directory. */
    static final String HANDLE = "handle";

    /** Where it says how many messages were done. */
    static final String DONE = "done";

    private static final long STUCK_NANOS = 2_000_000_000L;
    private static final int OUTSTANDING = 8;

    private UnreadSender() {}

    /**
     * Sends.
     *
     * @param arguments the directory with the cluster's file, and the size of a message in bytes
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path directory = Path.of(arguments[0]);
        int size = Integer.parseInt(arguments[1]);
        TestNode a = new TestCluster(directory.resolve("trigon.yaml"), LinkKind.SOFTWARE).open("a");
        long handle = a.allocate(NetPlugin.HANDLE_BYTES);
        byte[] bytes = Files.readAllBytes(directory.resolve(HANDLE));
        for (int i = 0; i < bytes.length; i++) {
            Memory.putByte(handle + i, bytes[i]);
        }
        long comm = 0;
        while (comm == 0) {
            comm = a.plugin.connect(a.context, 0, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            LockSupport.parkNanos(100_000);
        }
        long memory = a.allocate((long) size * OUTSTANDING);
        long memoryHandle = a.register(comm, memory, (long) size * OUTSTANDING);
        long done = sendUntilStuck(a, comm, memory, size, memoryHandle);
        Path written = Files.writeString(directory.resolve("writing"), Long.toString(done));
        Files.move(written, directory.resolve(DONE), StandardCopyOption.ATOMIC_MOVE);
        Thread.sleep(Long.MAX_VALUE); // until it is killed
    }

    private static long sendUntilStuck(TestNode a, long comm, long memory, int size, long memoryHandle) {
        long[] requests = new long[OUTSTANDING];
        long posted = 0;
        long done = 0;
        long progress = System.nanoTime();
        while (System.nanoTime() - progress < STUCK_NANOS) {
            long sequence = posted;
            int slot = (int) (sequence % OUTSTANDING);
            if (posted - done < OUTSTANDING) {
                long address = memory + (long) slot * size;
                fill(address, size, sequence);
                long request = a.plugin.isend(comm, address, size, TAG, memoryHandle);
                if (request != NetPlugin.TRY_AGAIN) {
                    requests[slot] = require(request);
                    posted++;
                }
            }
            if (done < posted && require(a.plugin.test(requests[(int) (done % OUTSTANDING)])) == size) {
                done++;
                progress = System.nanoTime();
            } else if (posted - done == OUTSTANDING) {
                LockSupport.parkNanos(100_000); // others need the processors while nothing moves
            }
        }
        return done;
    }

    private static long require(long result) {
        if (result < 0 && result != NetPlugin.NOT_DONE) {
            throw new IllegalStateException("a call returned " + result);
        }
        return result;
    }

    /** A message's bytes, which no other message has. */
    static void fill(long address, int size, long number) {
        for (int i = 0; i < size; i += Long.BYTES) {
            Memory.putLong(address + i, number * 0x9E3779B97F4A7C15L + i);
        }
    }
}
