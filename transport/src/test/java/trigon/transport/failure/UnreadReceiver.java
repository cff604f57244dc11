package trigon.transport.failure;

import static org.assertj.core.api.Assertions.assertThat;
import static trigon.transport.testsupport.Connected.retry;

import java.io.IOException;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;
import trigon.system.Memory;
import trigon.testsupport.Await;
import trigon.transport.testsupport.CapturedLog;
import trigon.transport.testsupport.LaneVerbs;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;

/**
 * Receives from an {@link UnreadSender} that it has killed before: what arrives is whole and right, the rest is an
 * error, and nothing waits for ever.
 *
 * @param directory for the files of a run
 * @param size of a message in bytes
 * @param pauseSeconds from the sender's end to the first receive
 * @param leastBytes that are to be under way then
 */
record UnreadReceiver(Path directory, int size, int pauseSeconds, int leastBytes) {

    /** The receiver's does not take as much. */
    static final int MORE_THAN_A_SOCKET = 1 << 18;

    private static final long REMOTE_ERROR = -NcclResult.REMOTE_ERROR.code();

    /** More than a machine that is gone may take to be noticed. */
    private static final Duration DEADLINE = Duration.ofSeconds(150);

    private static final String FAR_END =
            "until ip link set vb up 2>&-; do sleep 0.1; done; ip addr add 10.9.12.1/24 dev vb; ip link set lo up;"
                    + " exec \"$@\"";

    /** What becomes of the sender's machine with it. */
    interface Machine {

        /** A program and its arguments by which the sender is started; none for this machine. */
        List<String> by();

        /** The sender has been started. */
        void started(Process sender) throws IOException, InterruptedException;

        /** The sender was killed, and its peer may know it. */
        void ended() throws IOException, InterruptedException;
    }

    static final Machine THIS_ONE = new Machine() {
        @Override
        public List<String> by() {
            return List.of();
        }

        @Override
        public void started(Process sender) {}

        @Override
        public void ended() {}
    };

    /**
     * A network namespace at the other end of a cable, which is cut when its process has ended: so ends a container.
     */
    private static final Machine ONE_THAT_VANISHES = new Machine() {
        @Override
        public List<String> by() {
            return List.of("unshare", "-n", "sh", "-ec", FAR_END, "sh");
        }

        @Override
        public void started(Process sender) throws IOException, InterruptedException {
            String own = namespace(Path.of("/proc/self/ns/net"));
            Path its = Path.of("/proc/" + sender.pid() + "/ns/net");
            Await.until("a namespace of the sender's own", () -> !namespace(its).equals(own));
            ip("link", "set", "vb", "netns", Long.toString(sender.pid()));
        }

        @Override
        public void ended() throws IOException, InterruptedException {
            Thread.sleep(500); // what has left the dead sender may be under way, and nothing here tells
            ip("link", "set", "va", "down");
        }
    };

    /**
     * The receiver in a network namespace of this process's own, and the sender in one that vanishes with it.
     *
     * @param arguments the directory, and the size of a message in bytes
     */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        ip("link", "set", "lo", "up");
        ip("link", "add", "va", "type", "veth", "peer", "name", "vb");
        ip("addr", "add", "10.9.12.2/24", "dev", "va");
        ip("link", "set", "va", "up");
        ip("link", "set", "vb", "up"); // a link that is down is refused; it goes down once more on its way
        Path directory = Path.of(arguments[0]);
        TestCluster cluster = TestCluster.software(directory, """
                a: {nics: [{address: 10.9.12.1/24}]}
                b: {nics: [{address: 10.9.12.2/24}]}
                """).withoutFailover();
        UnreadReceiver receiver = new UnreadReceiver(directory, Integer.parseInt(arguments[1]), 0, MORE_THAN_A_SOCKET);
        System.out.println(receiver.run(cluster, ONE_THAT_VANISHES));
    }

    private static String namespace(Path link) {
        try {
            return Files.readSymbolicLink(link).toString();
        } catch (IOException e) {
            throw new AssertionError("the sender has ended", e);
        }
    }

    private static void ip(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("ip"));
        command.addAll(List.of(arguments));
        assertThat(new ProcessBuilder(command).inheritIO().start().waitFor())
                .as("%s", command)
                .isZero();
    }

    /** How a run ended. */
    record End(long sent, long received, String text) {

        @Override
        public String toString() {
            return text;
        }
    }

    /** One life of node b of that cluster, with a sender that is node a. */
    End run(TestCluster cluster, Machine machine) throws IOException, InterruptedException {
        TestNode b = cluster.open("b");
        End end;
        try (b;
                CapturedLog log = new CapturedLog()) {
            long handle = b.allocate(NetPlugin.HANDLE_BYTES);
            long listenComm = b.plugin.listen(b.context, 0, handle);
            Files.write(
                    directory.resolve(UnreadSender.HANDLE),
                    Memory.segment(handle, NetPlugin.HANDLE_BYTES).toArray(ValueLayout.JAVA_BYTE));
            long comm;
            long sent;
            Process sender = start(machine);
            try {
                machine.started(sender);
                comm = retry(() -> b.plugin.accept(listenComm));
                b.plugin.closeListen(listenComm);
                sent = messagesDone(sender);
            } finally {
                sender.destroyForcibly();
            }
            assertThat(sender.waitFor(60, TimeUnit.SECONDS)).isTrue();
            machine.ended();
            assertThat(sent * size).as("bytes sent that nobody has asked for").isGreaterThan(leastBytes);
            Thread.sleep(TimeUnit.SECONDS.toMillis(pauseSeconds)); // what is tried is a length of time
            long received = receiveUntilItFails(b, comm, sent);
            end = new End(
                    sent,
                    received,
                    "%d messages of %d bytes received of %d that were done, %d s after their sender was killed"
                            .formatted(received, size, sent, pauseSeconds));
            log.await("WARN", "receiver on", "lost a at ", "ended or was killed");
            b.plugin.closeReceive(comm);
        }
        assertThat(b.verbs().ledger().outstanding()).isEmpty();
        return end;
    }

    /** Returns how many messages arrived, each of which was right; then came the error, and stayed. */
    private long receiveUntilItFails(TestNode b, long comm, long sent) {
        long memory = b.allocate(2L * size);
        long right = memory + size;
        long memoryHandle = b.register(comm, memory, size);
        for (long number = 0; number <= sent + 64; number++) {
            long result = receive(b, comm, memory, memoryHandle);
            if (result < 0) {
                assertThat(result).isEqualTo(REMOTE_ERROR);
                assertThat(receive(b, comm, memory, memoryHandle)).isEqualTo(REMOTE_ERROR);
                return number;
            }
            UnreadSender.fill(right, size, number);
            assertThat(result).isEqualTo(size);
            assertThat(Memory.segment(memory, size).mismatch(Memory.segment(right, size)))
                    .as("first wrong byte of message %d", number)
                    .isEqualTo(-1);
        }
        throw new AssertionError("more was received than was sent");
    }

    private long receive(TestNode b, long comm, long memory, long memoryHandle) {
        long request = b.plugin.irecv(comm, memory, size, UnreadSender.TAG, memoryHandle);
        long[] result = {request < 0 ? request : b.plugin.test(request)};
        Await.until("a message, or the error that says that it is lost", DEADLINE, () -> {
            if (result[0] == NetPlugin.NOT_DONE) {
                result[0] = b.plugin.test(request);
            }
            return result[0] != NetPlugin.NOT_DONE;
        });
        return result[0];
    }

    private Process start(Machine machine) throws IOException {
        List<String> command = new ArrayList<>(machine.by());
        command.addAll(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Xmx64m",
                "--enable-native-access=ALL-UNNAMED",
                LaneVerbs.LIBRARY_OPTION,
                LaneVerbs.EXPORTS_OPTION,
                "-cp",
                System.getProperty("java.class.path"),
                UnreadSender.class.getName(),
                directory.toString(),
                Integer.toString(size)));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("sender.log").toFile())
                .start();
    }

    private long messagesDone(Process sender) throws IOException {
        Path done = directory.resolve(UnreadSender.DONE);
        Await.until("the sender is stuck", () -> Files.exists(done) || !sender.isAlive());
        assertThat(done).as(Files.readString(directory.resolve("sender.log"))).exists();
        return Long.parseLong(Files.readString(done));
    }
}
