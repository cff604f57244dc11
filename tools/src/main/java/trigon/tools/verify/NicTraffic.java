package trigon.tools.verify;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import trigon.cluster.machine.Machine;

/**
 * Bytes that go over NICs, in both directions together: those of this machine, as sysfs has them, and the interfaces of
 * other network namespaces, as containers have them. The counters of these stay open, and can be read when the process
 * by which they were found has ended. One thread.
 */
final class NicTraffic implements AutoCloseable {

    /** Between the name of an interface and what tells its namespace. */
    static final String OF = " of process ";

    private static final int MAX_BYTES = 1 << 20;
    private static final int FIELDS = 16;

    /** The unit of an RDMA port's counters, whatever its width (InfiniBand, PortCounters). */
    private static final int BYTES_OF_A_WORD = 4;

    /** Columns of proc(5)'s net/dev: bytes received, and bytes sent. */
    private static final int RECEIVED = 0;

    private static final int SENT = 8;

    private record Network(String place, RandomAccessFile counters, Map<String, Long> first) {}

    private final Machine machine;
    private final Map<String, Long> first;
    private final Map<String, Network> networks = new LinkedHashMap<>();
    private final Map<Long, String> places = new HashMap<>();

    /** Counts the bytes of this machine from now on. */
    NicTraffic(Machine machine) {
        this.machine = machine;
        this.first = now(machine);
    }

    /** Suffix for the names of the process's interfaces; empty if it is in this command's network namespace. */
    String place(long pid) {
        return places.computeIfAbsent(pid, this::find);
    }

    private String find(long pid) {
        Path process = machine.file("proc/" + pid);
        String namespace = namespace(process);
        if (namespace.isEmpty() || namespace.equals(namespace(machine.file("proc/self")))) {
            return "";
        }
        Network known = networks.get(namespace);
        if (known != null) {
            return known.place();
        }
        try {
            RandomAccessFile counters =
                    new RandomAccessFile(process.resolve("net/dev").toFile(), "r");
            String place = OF + pid;
            networks.put(namespace, new Network(place, counters, read(counters)));
            return place;
        } catch (IOException _) {
            return ""; // it has ended
        }
    }

    private static String namespace(Path process) {
        try {
            return Files.readSymbolicLink(process.resolve("ns/net")).toString();
        } catch (IOException _) {
            return "";
        }
    }

    /**
     * Bytes by NIC: network interfaces by their names, RDMA ports by the names of their devices, interfaces elsewhere
     * with their places, since their namespace was found.
     */
    Map<String, Long> bytes() {
        Map<String, Long> all = new TreeMap<>();
        addSince(first, now(machine), "", all);
        for (Network network : networks.values()) {
            try {
                addSince(network.first(), read(network.counters()), network.place(), all);
            } catch (IOException _) {
                // the namespace has gone, and its interfaces with it
            }
        }
        return all;
    }

    /** Adds what came in addition. A counter that was set back, or a NIC that is new, counts from zero. */
    private static void addSince(Map<String, Long> before, Map<String, Long> now, String place, Map<String, Long> to) {
        now.forEach((name, bytes) -> {
            long then = before.getOrDefault(name, 0L);
            to.put(name + place, bytes >= then ? bytes - then : bytes);
        });
    }

    private static Map<String, Long> now(Machine machine) {
        Map<String, Long> found = new TreeMap<>();
        for (Path nic : Machine.entries(machine.file("sys/class/net"))) {
            add(nic, nic.resolve("statistics"), "rx_bytes", "tx_bytes", 1, found);
        }
        for (Path device : Machine.entries(machine.file("sys/class/infiniband"))) {
            for (Path port : Machine.entries(device.resolve("ports"))) {
                add(device, port.resolve("counters"), "port_rcv_data", "port_xmit_data", BYTES_OF_A_WORD, found);
            }
        }
        return found;
    }

    private static void add(Path of, Path counters, String in, String out, int unit, Map<String, Long> to) {
        Machine.number(counters.resolve(in))
                .flatMap(received -> Machine.number(counters.resolve(out)).map(sent -> (received + sent) * unit))
                .ifPresent(sum -> to.merge(of.getFileName().toString(), sum, Long::sum));
    }

    /** Two lines with headings, and a line for each interface. */
    private static Map<String, Long> read(RandomAccessFile counters) throws IOException {
        byte[] text = new byte[MAX_BYTES];
        int length = 0;
        counters.seek(0);
        for (int count = 0; count >= 0 && length < text.length; length += Math.max(count, 0)) {
            count = counters.read(text, length, text.length - length);
        }
        Map<String, Long> bytes = new TreeMap<>();
        new String(text, 0, length, StandardCharsets.UTF_8).lines().skip(2).forEach(line -> {
            int colon = line.lastIndexOf(':');
            String[] fields = line.substring(colon + 1).strip().split("\\s+", -1);
            if (colon > 0 && fields.length >= FIELDS) {
                bytes.put(
                        line.substring(0, colon).strip(),
                        Long.parseLong(fields[RECEIVED]) + Long.parseLong(fields[SENT]));
            }
        });
        return bytes;
    }

    @Override
    public void close() {
        for (Network network : networks.values()) {
            try {
                network.counters().close();
            } catch (IOException _) {
                // nothing was written
            }
        }
    }
}
