package trigon.software.device;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import trigon.software.MoverSettings;
import trigon.software.call.Buffers;
import trigon.testsupport.Await;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.VerbsFabric;
import trigon.verbs.MemoryRegion;
import trigon.verbs.SendFlag;
import trigon.verbs.WorkCompletionStatus;

/** The program of {@link LackOfMemoryTest}: connects while there is no memory for buffers, and when there is again. */
final class DirectMemoryUsedUp {

    static final String PASSED = "connected, and moved data throughout";

    private static final int LENGTH = 200_000;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** The JDK collects garbage, and waits, before it says that there is no memory. */
    private DirectMemoryUsedUp() {}

    /** Ends with status 0 after {@link #PASSED}. */
    public static void main(String[] args) {
        MoverSettings movers = MoverSettings.NONE;
        try (SoftwareVerbs one = new SoftwareVerbs(List.of(Loopback.A), movers);
                SoftwareVerbs other = new SoftwareVerbs(List.of(Loopback.B), movers)) {
            VerbsFabric fabric = new VerbsFabric(
                    new VerbsFabric.End(one, "soft_a", 1, 0),
                    new VerbsFabric.End(other, "soft_b", 1, 0),
                    Optional.empty());
            try (NativeBuffer from = new NativeBuffer(LENGTH).fill((byte) 7);
                    NativeBuffer to = new NativeBuffer(LENGTH);
                    ConnectedPair early = ConnectedPair.open(fabric, Loopback.PATIENT);
                    ConnectedPair late = ConnectedPair.create(fabric, Loopback.PATIENT);
                    ConnectedPair last = ConnectedPair.create(fabric, Loopback.PATIENT)) {
                MemoryRegion local = early.first().register(from);
                MemoryRegion remote = early.second().register(to);
                write(early, from, local, to, remote, 64);

                List<ByteBuffer> all = takeAll();
                late.first().becomeReadyToReceive(late.second().endpoint());
                late.second().becomeReadyToReceive(late.first().endpoint());
                late.first().becomeReadyToSend(); // tries to connect, again and again
                late.second().becomeReadyToSend();
                write(early, from, local, to, remote, LENGTH);
                late.first()
                        .queuePair()
                        .awaitOpen(PATIENCE); // what is refused late would fail a request posted by then
                all.clear();
                System.gc();
                // for a moment what was refused is refused again, without asking
                Await.until("there is memory again", DirectMemoryUsedUp::isMemory);

                last.first().becomeReadyToReceive(last.second().endpoint());
                last.second().becomeReadyToReceive(last.first().endpoint());
                last.first().becomeReadyToSend();
                last.second().becomeReadyToSend();
                for (ConnectedPair pair : List.of(late, last)) {
                    MemoryRegion source = pair.first().register(from);
                    MemoryRegion target = pair.second().register(to);
                    write(pair, from, source, to, target, LENGTH);
                }
            }
        }
        System.out.println(PASSED);
    }

    private static List<ByteBuffer> takeAll() {
        List<ByteBuffer> all = new ArrayList<>();
        for (int size = 1 << 20; size >= 64; size /= 4) {
            try {
                while (true) {
                    all.add(ByteBuffer.allocateDirect(size));
                }
            } catch (OutOfMemoryError _) {
                // as intended
            }
        }
        return all;
    }

    private static boolean isMemory() {
        try {
            return Buffers.allocate(1 << 20).isDirect();
        } catch (OutOfMemoryError _) {
            return false;
        }
    }

    private static void write(
            ConnectedPair pair,
            NativeBuffer from,
            MemoryRegion local,
            NativeBuffer to,
            MemoryRegion remote,
            int length) {
        int result = pair.first()
                .queuePair()
                .postWrite(
                        1,
                        from.address(),
                        length,
                        local.localKey(),
                        to.address(),
                        remote.remoteKey(),
                        SendFlag.SIGNALED);
        if (result != 0) {
            throw new AssertionError("errno " + result + " for a message of " + length + " bytes");
        }
        WorkCompletionStatus status = pair.first().nextSend().status();
        if (status != WorkCompletionStatus.SUCCESS) {
            throw new AssertionError(status + " for a message of " + length + " bytes");
        }
    }
}
