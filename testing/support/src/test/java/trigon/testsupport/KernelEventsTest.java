package trigon.testsupport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.system.kernel.InterfaceEvent;
import trigon.system.kernel.KernelEvents;

/** Here, beside what it waits with, since {@code system} can use no module that uses it. */
@Timeout(300)
class KernelEventsTest {

    private static final Duration LONG = Duration.ofDays(1);

    @Test
    void whoWaitsIsWokenUp() throws Exception {
        try (KernelEvents events = new KernelEvents()) {
            CountDownLatch over = new CountDownLatch(3);
            Thread waiting = Thread.ofPlatform().daemon().start(() -> {
                for (int i = 0; i < 3; i++) {
                    events.await(new int[0], LONG);
                    over.countDown();
                }
            });
            Await.until("it is woken up three times", () -> {
                events.wakeUp();
                return over.getCount() == 0;
            });
            waiting.join();
        }
    }

    @Test
    void aWakeUpBeforeTheWaitCounts() throws Exception {
        try (KernelEvents events = new KernelEvents()) {
            events.wakeUp();
            Thread waiting = Thread.ofPlatform().daemon().start(() -> events.await(new int[0], LONG));
            Await.until("it is woken up", () -> !waiting.isAlive());
        }
    }

    @Test
    void wakingUpAfterTheEndDoesNothing() throws Exception {
        KernelEvents events = new KernelEvents();
        events.close();
        events.close();
        events.wakeUp();
    }

    /** In a network namespace of its own, where it is root. */
    @Test
    void theKernelTellsOfCablesAndAddresses(@TempDir Path directory) throws Exception {
        assumeThat(new ProcessBuilder("unshare", "-rn", "ip", "link", "add", "va", "type", "veth", "peer", "name", "vb")
                        .redirectErrorStream(true)
                        .redirectOutput(directory.resolve("attempt").toFile())
                        .start()
                        .waitFor())
                .as("unshare may make a network namespace with a cable in it")
                .isZero();
        Path output = directory.resolve("output");

        Process child = new ProcessBuilder(
                        "unshare",
                        "-rn",
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        KernelEventsTest.class.getName())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();

        assertThat(child.waitFor()).as(Files.readString(output)).isZero();
    }

    /** The child: takes a cable through its life. */
    public static void main(String[] none) throws Exception {
        int index = 77;
        ip("link add name va index " + index + " type veth peer name vb");
        try (KernelEvents events = new KernelEvents()) {
            ip("addr add 10.9.0.1/24 dev va");
            await(
                    events,
                    event -> event instanceof InterfaceEvent.Address(int at, var address, boolean present)
                            && at == index
                            && present
                            && address.getHostAddress().equals("10.9.0.1"));
            ip("link set va up");
            ip("link set vb up");
            await(events, event -> event.equals(new InterfaceEvent.State(index, true)));
            ip("link set vb down");
            await(events, event -> event.equals(new InterfaceEvent.State(index, false)));
            ip("addr del 10.9.0.1/24 dev va");
            await(events, event -> event instanceof InterfaceEvent.Address(int _, var _, boolean present) && !present);
            ip("link del va");
            await(events, event -> event.equals(new InterfaceEvent.State(index, false)));
        }
    }

    private static void ip(String arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(arguments.split(" ")));
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor()).isZero();
    }

    private static void await(KernelEvents events, Predicate<InterfaceEvent> wanted) {
        List<InterfaceEvent> seen = new ArrayList<>();
        Await.until(() -> "the event; all that came: " + seen, Await.DEADLINE, () -> {
            seen.addAll(events.await(new int[0], Duration.ofSeconds(1)));
            return seen.stream().anyMatch(wanted);
        });
    }
}
