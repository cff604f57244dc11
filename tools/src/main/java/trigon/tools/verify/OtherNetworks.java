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
 * What goes over the interfaces of network namespaces other than this command's, as containers have them. Their
 * counters stay open, and can be read when the process by which they were found has ended. One thread.
 */
final class OtherNetworks implements AutoCloseable {

    /** Between the name of an interface and what tells its namespace. */
    static final String OF = " of process ";

    private static final int MAX_BYTES = 1 << 20;
    private static final int FIELDS = 16;

    /** Of a line of proc(5)'s net/dev: bytes that came in, and bytes that went out. */
    private static final int RECEIVED = 0;

    private static final int SENT = 8;

    private record Network(String place, RandomAccessFile counters, Map<String, Long> first) {}

    private final Machine machine;
    private final Map<String, Network> networks = new LinkedHashMap<>();
    private final Map<Long, String> places = new HashMap<>();

    OtherNetworks(Machine machine) {
        this.machine = machine;
    }

    /** What follows the names of the interfaces that the process has; empty where it has this command's own. */
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

    /** What went over each interface since its namespace was found, in both directions together. */
    Map<String, Long> bytes() {
        Map<String, Long> all = new TreeMap<>();
        for (Network network : networks.values()) {
            try {
                read(network.counters()).forEach((name, now) -> {
                    long then = network.first().getOrDefault(name, 0L);
                    all.put(name + network.place(), now >= then ? now - then : now);
                });
            } catch (IOException _) {
                // the namespace has gone, and its interfaces with it
            }
        }
        return all;
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
