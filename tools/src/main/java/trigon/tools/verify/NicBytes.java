package trigon.tools.verify;

import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import trigon.cluster.machine.Machine;

/**
 * What went over the NICs of this machine until now, in both directions together, as sysfs has it: network interfaces
 * by their names, RDMA ports by the names of their devices.
 *
 * @param bytes by name
 */
record NicBytes(Map<String, Long> bytes) {

    /** The unit of an RDMA port's counters, whatever its width (InfiniBand, PortCounters). */
    private static final int BYTES_OF_A_WORD = 4;

    NicBytes {
        bytes = Map.copyOf(bytes);
    }

    static NicBytes now(Machine machine) {
        Map<String, Long> found = new TreeMap<>();
        for (Path nic : Machine.entries(machine.file("sys/class/net"))) {
            add(nic, nic.resolve("statistics"), "rx_bytes", "tx_bytes", 1, found);
        }
        for (Path device : Machine.entries(machine.file("sys/class/infiniband"))) {
            for (Path port : Machine.entries(device.resolve("ports"))) {
                add(device, port.resolve("counters"), "port_rcv_data", "port_xmit_data", BYTES_OF_A_WORD, found);
            }
        }
        return new NicBytes(found);
    }

    private static void add(Path of, Path counters, String in, String out, int unit, Map<String, Long> to) {
        Machine.number(counters.resolve(in))
                .flatMap(received -> Machine.number(counters.resolve(out)).map(sent -> (received + sent) * unit))
                .ifPresent(sum -> to.merge(of.getFileName().toString(), sum, Long::sum));
    }

    /** Bytes that came in addition. A counter that was set back, or a NIC that is new, counts from zero. */
    Map<String, Long> since(NicBytes before) {
        Map<String, Long> more = new TreeMap<>();
        bytes.forEach((name, now) -> {
            long then = before.bytes.getOrDefault(name, 0L);
            more.put(name, now >= then ? now - then : now);
        });
        return more;
    }
}
