package trigon.trace;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.system.Memory;
import trigon.system.file.Folder;

/** The trace of this process, where {@value #VARIABLE} asks for one: what it says of the process, and its samples. */
public final class ProcessTrace {

    public static final String VARIABLE = "TRIGON_TRACE";

    private static final Logger log = LoggerFactory.getLogger(ProcessTrace.class);

    private static final Path SHARED_MEMORY = Path.of("/dev/shm");
    private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");

    /** Together the same for all processes of a machine that share a clock: a container may have one of its own. */
    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");

    private static final Path TIME_NAMESPACE = Path.of("/proc/self/ns/time");

    private static final Path PROGRAM = Path.of("/proc/self/comm");
    private static final Path RDMA = Path.of("/sys/class/infiniband");

    /** Launchers' variables for a process's rank; the first that is set counts. */
    private static final List<String> RANKS = List.of("RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "SLURM_PROCID");

    /** A port's counters of retransmissions, as SoftRoCE and mlx5 call them. */
    private static final List<String> RETRANSMISSIONS = List.of(
            "completer_retry_err",
            "retry_rnr_exceeded_err",
            "local_ack_timeout_err",
            "packet_seq_err",
            "rnr_nak_retry_err");

    private final long table;
    private final IntSupplier sampleConnections;
    private final Clock clock;

    private ProcessTrace(long table, IntSupplier sampleConnections, Clock clock) {
        this.table = table;
        this.sampleConnections = sampleConnections;
        this.clock = clock;
    }

    /**
     * Begins it. Where it cannot be had the job goes on without, and the log says why.
     *
     * @param table address of the entry library's {@code trace_table}
     * @param sampleConnections reads TCP's counters into it
     */
    public static Optional<Recorder> beginIfWanted(
            Map<String, String> environment, long table, IntSupplier sampleConnections) {
        String directory = environment.getOrDefault(VARIABLE, "");
        if (directory.isEmpty()) {
            return Optional.empty();
        }
        ProcessTrace trace = new ProcessTrace(table, sampleConnections, Clock.systemUTC());
        Fields process = trace.process(environment);
        String name = process.get("host") + "-" + process.get("pid") + "-"
                + Long.toHexString(process.number("real", 0) / 1_000_000);
        try {
            Recorder recorder = Recorder.begin(Path.of(directory), SHARED_MEMORY, name, process, table, trace::sample);
            log.info("this process is traced: {}/{}.trace", directory, name);
            return Optional.of(recorder);
        } catch (IOException | RuntimeException e) {
            log.warn(
                    "no trace: {} is {}, which cannot be used: {}; name a folder that this process may write to",
                    VARIABLE,
                    directory,
                    e.toString());
            return Optional.empty();
        }
    }

    private Fields process(Map<String, String> environment) {
        String rank = RANKS.stream()
                .map(name -> environment.getOrDefault(name, ""))
                .filter(value -> !value.isEmpty())
                .findFirst()
                .orElse("");
        return Fields.of(
                "host",
                read(HOST_NAME),
                "boot",
                read(BOOT) + " " + link(TIME_NAMESPACE),
                "pid",
                ProcessHandle.current().pid(),
                "rank",
                rank,
                "program",
                read(PROGRAM),
                "time",
                System.nanoTime(),
                "real",
                realTime());
    }

    /** Once a second, on the trace's thread. */
    private void sample(Recorder recorder) {
        recorder.event("clock", Fields.of("real", realTime()));
        sampleTcp(recorder);
        sampleRdma(recorder);
    }

    private void sampleTcp(Recorder recorder) {
        var _ = sampleConnections.getAsInt();
        Map<String, long[]> byAddress = new TreeMap<>();
        long count = Memory.getLong(table + TableLayout.TCP_COUNT);
        for (long i = 0; i < count; i++) {
            long connection = table + TableLayout.TCP + i * TableLayout.TCP_BYTES;
            long[] sums = byAddress.computeIfAbsent(address(connection), _ -> new long[3]);
            sums[0] += Memory.getLong(connection + TableLayout.TCP_RETRANSMITS);
            sums[1] += Memory.getLong(connection + TableLayout.TCP_WINDOW_LIMITED);
            sums[2] += Memory.getLong(connection + TableLayout.TCP_BUSY);
        }
        byAddress.forEach((address, sums) -> recorder.event(
                "tcp",
                Fields.of("address", address, "retransmits", sums[0], "windowLimited", sums[1], "busy", sums[2])));
    }

    private static String address(long connection) {
        byte[] bytes = new byte[16];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = Memory.getByte(connection + i);
        }
        try {
            return InetAddress.getByAddress(bytes).getHostAddress();
        } catch (UnknownHostException e) {
            throw new AssertionError("16 bytes are an address", e);
        }
    }

    private static void sampleRdma(Recorder recorder) {
        if (!Files.isDirectory(RDMA)) {
            return;
        }
        try {
            for (Path device : Folder.entries(RDMA)) {
                Fields counters = Fields.of("device", device.getFileName());
                for (String name : RETRANSMISSIONS) {
                    Path counter = device.resolve("ports/1/hw_counters").resolve(name);
                    if (Files.isReadable(counter)) {
                        counters = counters.with(name, read(counter));
                    }
                }
                recorder.event("rdma", counters);
            }
        } catch (IOException e) {
            log.debug("the devices' counters cannot be read", e);
        }
    }

    private long realTime() {
        Instant now = clock.instant();
        return now.getEpochSecond() * 1_000_000_000L + now.getNano();
    }

    private static String link(Path file) {
        try {
            return Files.readSymbolicLink(file).toString();
        } catch (IOException e) {
            return ""; // before Linux 5.6 there are none
        }
    }

    private static String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            return "unknown";
        }
    }
}
