package trigon.transport.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.transport.testsupport.Connected.finish;
import static trigon.transport.testsupport.Connected.retry;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import trigon.handshake.message.LinkAddress;
import trigon.handshake.message.ListenHandle;
import trigon.nccl.NetPlugin;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.testsupport.LedgerAssert;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.LaneVerbs;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/** A peer that is stopped and goes on is no lost peer, whatever is said at other addresses that it is known by. */
@Timeout(180)
class PausedPeerTest {

    private static final int MESSAGES = 20;

    /** Longer than a refusal has to last to be believed. */
    private static final Duration FURTHER = Duration.ofSeconds(2);

    @TempDir
    Path directory;

    @Test
    void goesOnThoughAnAddressThatNobodyAnsweredAtRefuses() throws Exception {
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 127.8.12.1/24}, {address: 127.8.13.1/24}]}
                b: {nics: [{address: 127.8.12.2/24}]}
                """, "");
        Process receiver = start();
        TestNode a = cluster.open("a");
        try (CapturedLog log = new CapturedLog("trigon.handshake")) {
            long comm = connect(a, receiver);
            long memory = a.allocate(PausedReceiver.BYTES);
            long memoryHandle = a.register(comm, memory, PausedReceiver.BYTES);
            send(a, comm, memory, memoryHandle);

            signal("STOP", receiver);
            Await.until("somebody notices", () -> log.lines().stream().anyMatch(PausedPeerTest::isNoticed));
            Thread.sleep(FURTHER); // what is tried is a length of time
            signal("CONT", receiver);

            send(a, comm, memory, memoryHandle);
            a.plugin.closeSend(comm);
        } finally {
            receiver.destroyForcibly();
            a.close();
        }
        LedgerAssert.assertNothingOpen(a.verbs());
    }

    private static boolean isNoticed(String line) {
        return line.startsWith("WARN") && line.contains("the process on b does not answer");
    }

    private Process start() throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "-Xmx64m",
                        "--enable-native-access=ALL-UNNAMED",
                        LaneVerbs.LIBRARY_OPTION,
                        LaneVerbs.EXPORTS_OPTION,
                        "-cp",
                        System.getProperty("java.class.path"),
                        PausedReceiver.class.getName(),
                        directory.toString())
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("receiver.log").toFile())
                .start();
    }

    private long connect(TestNode a, Process receiver) throws IOException {
        Path known = directory.resolve(PausedReceiver.HANDLE);
        Await.until("the receiver listens", () -> Files.exists(known) || !receiver.isAlive());
        long handle = a.allocate(NetPlugin.HANDLE_BYTES);
        byte[] bytes = Files.readAllBytes(known);
        for (int i = 0; i < bytes.length; i++) {
            Memory.putByte(handle + i, bytes[i]);
        }
        addOneThatRefuses(handle);
        long[] comm = {0};
        Await.until("the connection", () -> {
            comm[0] = a.plugin.connect(a.context, 0, handle, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
            return comm[0] != 0;
        });
        return comm[0];
    }

    /** As behind a firewall, or where another machine has the address. */
    private static void addOneThatRefuses(long at) throws IOException {
        ListenHandle handle = ListenHandle.readFrom(at);
        List<LinkAddress> links = new ArrayList<>(handle.links());
        links.add(new LinkAddress(
                InetAddress.getByName("127.8.13.2"), 24, 9, links.getFirst().kinds()));
        new ListenHandle(handle.connection(), handle.secret(), handle.nodeIndex(), handle.configFingerprint(), links, 0)
                .writeTo(at);
    }

    private static void send(TestNode a, long comm, long memory, long memoryHandle) {
        for (int i = 0; i < MESSAGES; i++) {
            long request =
                    retry(() -> a.plugin.isend(comm, memory, PausedReceiver.BYTES, PausedReceiver.TAG, memoryHandle));
            assertThat(finish(a, request)).isEqualTo(PausedReceiver.BYTES);
        }
    }

    private static void signal(String name, Process to) throws IOException, InterruptedException {
        Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(to.pid())).start();
        assertThat(kill.waitFor(20, TimeUnit.SECONDS)).isTrue();
        assertThat(kill.exitValue()).isZero();
    }
}
