package trigon.software.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import trigon.testsupport.Await;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.NativeBuffer;
import trigon.testsupport.verbs.ConnectedPair;
import trigon.testsupport.verbs.VerbsFabric;
import trigon.verbs.MemoryRegion;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.SendFlag;

/** Sockets and threads end with what they belong to, whenever that is. */
@Timeout(120)
class ResourcesTest {

    private static final int ROUNDS = 150;
    private static final int LENGTH = 1 << 20;

    /** The JDK opens a socket of its own with the first one of the process, and keeps it. */
    @BeforeAll
    static void openTheFirstSocket() throws IOException {
        SocketChannel.open().close();
    }

    @Test
    void closingLeavesNoSocketsAndNoThreads() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        Set<Thread> threadsBefore = threads();
        Set<Path> before = sockets();
        try (SoftwareVerbs one = Loopback.provider();
                SoftwareVerbs other = Loopback.provider()) {
            VerbsFabric fabric = new VerbsFabric(
                    new VerbsFabric.End(one, "soft_a", 1, 0),
                    new VerbsFabric.End(other, "soft_b", 1, 0),
                    Optional.empty());
            for (int round = 0; round < ROUNDS; round++) {
                playAndClose(fabric, random);
            }
            Await.until("all sockets are closed, seed " + seed, () -> before.containsAll(sockets()));
            LedgerAssert.assertNothingOpen(one);
            LedgerAssert.assertNothingOpen(other);
        }
        Set<Thread> left = threads();
        left.removeAll(threadsBefore);
        assertThat(left).as("seed %d", seed).isEmpty();
    }

    /** Opens a connection, begins to move data, and closes it at any moment. */
    private static void playAndClose(VerbsFabric fabric, Random random) {
        try (ConnectedPair pair = ConnectedPair.create(fabric, Loopback.PATIENT);
                NativeBuffer from = new NativeBuffer(LENGTH);
                NativeBuffer to = new NativeBuffer(LENGTH)) {
            MemoryRegion local = pair.first().register(from);
            MemoryRegion remote = pair.second().register(to);
            pair.first().becomeReadyToReceive(pair.second().endpoint());
            if (random.nextInt(8) > 0) {
                pair.second().becomeReadyToReceive(pair.first().endpoint());
            }
            pair.first().becomeReadyToSend();
            for (int i = random.nextInt(40); i > 0; i--) {
                pair.first()
                        .queuePair()
                        .postWrite(
                                i,
                                from.address(),
                                random.nextInt(LENGTH),
                                local.localKey(),
                                to.address(),
                                remote.remoteKey(),
                                random.nextBoolean() ? SendFlag.SIGNALED : SendFlag.NONE);
                for (int polls = random.nextInt(400); polls > 0; polls--) {
                    pair.first().hasSend();
                    pair.second().hasReceive();
                }
            }
            switch (random.nextInt(4)) {
                case 0 -> pair.second().queuePair().close();
                case 1 ->
                    pair.first()
                            .queuePair()
                            .modify(QueuePairAttributes.to(QueuePairStateCode.ERROR)
                                    .build());
                case 2 -> local.close();
                default -> remote.close();
            }
            for (int polls = random.nextInt(50); polls > 0; polls--) {
                pair.first().hasSend();
            }
        }
    }

    /** By the numbers that the kernel gives them, so that what is closed and what is opened are told apart. */
    private static Set<Path> sockets() {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return open.flatMap(ResourcesTest::target)
                    .filter(target -> target.toString().startsWith("socket:"))
                    .collect(Collectors.toSet());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Stream<Path> target(Path descriptor) {
        try {
            return Stream.of(Files.readSymbolicLink(descriptor));
        } catch (IOException _) {
            return Stream.empty(); // closed meanwhile
        }
    }

    private static Set<Thread> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread ->
                        List.of("trigon-software", "trigon-move").stream().anyMatch(thread.getName()::startsWith))
                .collect(Collectors.toSet());
    }
}
