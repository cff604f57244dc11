package trigon.software.device;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import trigon.software.SoftwareDevice;
import trigon.system.Memory;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.QueuePairSettings;
import trigon.testsupport.verbs.VerbsEnd;
import trigon.testsupport.verbs.VerbsFabric;
import trigon.verbs.MemoryRegion;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletions;

/**
 * Latency and bandwidth between two providers of this process, with NCCL's pattern of messages: a clear-to-send of 32
 * bytes one way, then the payload with an immediate the other way. Apart from the time it prints the processor time of
 * the device's own threads.
 */
final class SpeedBenchmark {

    private static final int CLEAR_TO_SEND = 32;
    private static final int WINDOW = 8;
    /** The first one warms up. */
    private static final int ROUNDS = 2;

    private static final int PING_PONGS = 20_000;
    /** The kernel keeps 15 characters of a thread's name. */
    private static final String THREAD_NAME = "trigon-software";

    private static final Path TASKS = Path.of("/proc/self/task");

    private SpeedBenchmark() {}

    public static void main() throws UnknownHostException {
        try (SoftwareVerbs one = new SoftwareVerbs(List.of(device("soft_a", 1)));
                SoftwareVerbs other = new SoftwareVerbs(List.of(device("soft_b", 2)))) {
            VerbsFabric fabric = new VerbsFabric(
                    new VerbsFabric.End(one, "soft_a", 1, 0),
                    new VerbsFabric.End(other, "soft_b", 1, 0),
                    Optional.empty());
            for (int round = 0; round < ROUNDS; round++) {
                run(fabric, "8 B back and forth", 1, 8, 1, PING_PONGS);
                run(fabric, "8 B", 1, 8, WINDOW, 10 * PING_PONGS);
                for (int size : new int[] {64 << 10, 512 << 10}) {
                    for (int queuePairs : new int[] {1, 4}) {
                        int messages = (int) ((6L << 30) / size);
                        run(fabric, (size >> 10) + " KiB", queuePairs, size, WINDOW, messages);
                    }
                }
            }
        }
    }

    private static SoftwareDevice device(String name, int host) throws UnknownHostException {
        InetAddress address = InetAddress.getByAddress(new byte[] {127, 0, 12, (byte) host});
        return new SoftwareDevice(name, address, 24, 25_000, 1);
    }

    private static void run(VerbsFabric fabric, String what, int queuePairs, int size, int window, int messages) {
        List<Flow> flows = new ArrayList<>();
        try {
            for (int i = 0; i < queuePairs; i++) {
                // every other one the other way, as the channels of a ring would be
                flows.add(new Flow(fabric, i % 2 == 0, size, window, messages / queuePairs));
            }
            long cpu = deviceNanos();
            long start = System.nanoTime();
            boolean busy = true;
            while (busy) {
                busy = false;
                boolean moved = false;
                for (Flow flow : flows) {
                    moved |= flow.step();
                    busy |= !flow.isDone();
                }
                if (!moved) {
                    Thread.onSpinWait();
                }
            }
            double nanos = System.nanoTime() - start;
            double device = deviceNanos() - cpu;
            System.out.printf(
                    "%-20s %d queue pairs: %8.2f us per message, %6.2f GB/s; device's threads:"
                            + " %6.2f us per message, %5.3f ns per byte%n",
                    what,
                    queuePairs,
                    nanos / messages / 1000,
                    (double) size * messages / nanos,
                    device / messages / 1000,
                    device / messages / size);
        } finally {
            flows.forEach(Flow::close);
        }
    }

    private static long deviceNanos() {
        try (Stream<Path> tasks = Files.list(TASKS)) {
            return tasks.mapToLong(SpeedBenchmark::deviceNanos).sum();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Time on a processor if it is one of the device's; proc_pid_schedstat(5). */
    private static long deviceNanos(Path task) {
        try {
            boolean own = Files.readString(task.resolve("comm")).startsWith(THREAD_NAME);
            return own
                    ? Long.parseLong(Files.readString(task.resolve("schedstat")).split(" ", 2)[0])
                    : 0;
        } catch (IOException _) {
            return 0; // ended just now
        }
    }

    /** Messages one way over one queue pair. */
    private static final class Flow implements AutoCloseable {

        private final ConnectedPair pair;
        private final VerbsEnd sender;
        private final VerbsEnd receiver;
        private final int size;
        private final int window;
        private final int messages;
        private final NativeBuffer source;
        private final NativeBuffer target;
        private final NativeBuffer clearToSend = new NativeBuffer(CLEAR_TO_SEND * WINDOW);
        private final NativeBuffer entry = new NativeBuffer(CLEAR_TO_SEND);
        private final MemoryRegion sourceRegion;
        private final MemoryRegion targetRegion;
        private final MemoryRegion clearToSendRegion;
        private final MemoryRegion entryRegion;
        private final WorkCompletions batch = new WorkCompletions(16);
        private int asked;
        private int sent;
        private int sentDone;
        private int received;

        Flow(VerbsFabric fabric, boolean forth, int size, int window, int messages) {
            pair = ConnectedPair.open(fabric, QueuePairSettings.DEFAULT);
            sender = forth ? pair.first() : pair.second();
            receiver = forth ? pair.second() : pair.first();
            this.size = size;
            this.window = window;
            this.messages = messages;
            source = new NativeBuffer(size * window).fill((byte) 1);
            target = new NativeBuffer(size * window).fill((byte) 1);
            sourceRegion = sender.register(source);
            targetRegion = receiver.register(target);
            clearToSendRegion = sender.register(clearToSend);
            entryRegion = receiver.register(entry);
        }

        boolean isDone() {
            return received == messages && sentDone == messages;
        }

        boolean step() {
            boolean asks = ask();
            boolean sends = send();
            return poll() || asks || sends;
        }

        private boolean ask() {
            if (asked == messages || asked - received == window || asked - sentDone == window) {
                return false;
            }
            receiver.queuePair().postReceive(asked, 0, 0, 0);
            Memory.putLong(entry.address() + CLEAR_TO_SEND - Long.BYTES, asked + 1L);
            int signal = asked % 16 == 15 ? SendFlag.SIGNALED : SendFlag.NONE;
            receiver.queuePair()
                    .postWrite(
                            asked,
                            entry.address(),
                            CLEAR_TO_SEND,
                            entryRegion.localKey(),
                            clearToSend.at((long) (asked % window) * CLEAR_TO_SEND),
                            clearToSendRegion.remoteKey(),
                            SendFlag.INLINE | signal);
            asked++;
            return true;
        }

        private boolean send() {
            long at = clearToSend.at((long) (sent % window) * CLEAR_TO_SEND + CLEAR_TO_SEND - Long.BYTES);
            if (sent == messages || Memory.getLongAcquire(at) != sent + 1L) {
                return false;
            }
            long offset = (long) (sent % window) * size;
            sender.queuePair()
                    .postWriteWithImmediate(
                            sent,
                            source.at(offset),
                            size,
                            sourceRegion.localKey(),
                            target.at(offset),
                            targetRegion.remoteKey(),
                            sent,
                            SendFlag.SIGNALED);
            sent++;
            return true;
        }

        private boolean poll() {
            int arrived = receiver.receiveCompletions().poll(batch);
            received += arrived;
            int done = sender.sendCompletions().poll(batch);
            sentDone += done;
            int asks = receiver.sendCompletions().poll(batch);
            return (arrived | done | asks) != 0;
        }

        @Override
        public void close() {
            pair.close();
            source.close();
            target.close();
            clearToSend.close();
            entry.close();
            batch.close();
        }
    }
}
