package trigon.cluster.machine;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import trigon.verbs.DeviceMemory;

/**
 * An RDMA port as sysfs has it (sysfs-class-infiniband), so that it is known without a library.
 *
 * @param device for example {@code mlx5_0}
 * @param port from 1
 * @param state for example {@code ACTIVE}
 * @param rate as the kernel writes it, for example {@code 100 Gb/sec (4X EDR)}
 * @param linkLayer {@code Ethernet} or {@code InfiniBand}
 * @param gids entries of the GID table that are filled
 * @param interfaces network interfaces of the port
 * @param counters of what was sent again, and of congestion, by the driver's names; those that it has
 * @param driver the kernel's for the device's PCI function; empty for virtual ones
 * @param gpuMemory the device's way to memory of GPUs, in words; empty until it was opened for that
 * @param unlisted true if libibverbs was asked and has no driver for the device
 */
public record RdmaPort(
        String device,
        int port,
        String state,
        String rate,
        String linkLayer,
        List<GidEntry> gids,
        List<String> interfaces,
        Map<String, Long> counters,
        String driver,
        String gpuMemory,
        boolean unlisted) {

    /**
     * An entry of the GID table.
     *
     * @param type for example {@code RoCE v2}
     * @param interfaceName behind it; empty if the kernel does not say
     */
    public record GidEntry(
            int index,
            String gid,
            String type,
            @JsonProperty("interface") Optional<String> interfaceName) {}

    private static final int MAX_GIDS = 256;

    /**
     * Counters of mlx5, rxe, bnxt_re and irdma for packets that were missing, came twice, or had a wrong checksum.
     *
     * @see <a href="https://docs.kernel.org/admin-guide/abi-stable-files.html">sysfs-class-infiniband, hw_counters</a>
     */
    public static final Set<String> SENT_AGAIN = Set.of(
            "out_of_sequence",
            "packet_seq_err",
            "local_ack_timeout_err",
            "implied_nak_seq_err",
            "rx_icrc_encapsulated",
            "out_of_seq_request",
            "rcvd_seq_err",
            "completer_retry_err",
            "retry_exceeded_err",
            "to_retransmits",
            "seq_err_naks_rcvd");

    /** Notifications of congestion and packets that were marked, as sent and as received; and ticks without credits. */
    public static final Set<String> CONGESTION = Set.of(
            "np_cnp_sent",
            "rp_cnp_handled",
            "np_ecn_marked_roce_packets",
            "rx_cnp_pkts",
            "rx_ecn_marked_pkts",
            "cnpSent",
            "cnpHandled",
            "RxECNMrkd",
            "port_xmit_wait");

    public RdmaPort {
        gids = List.copyOf(gids);
        interfaces = List.copyOf(interfaces);
        counters = Collections.unmodifiableMap(new TreeMap<>(counters));
    }

    /** All ports of all devices. */
    static List<RdmaPort> all(Path sysfs) {
        List<RdmaPort> found = new ArrayList<>();
        for (Path device : Machine.entries(sysfs.resolve("class/infiniband"))) {
            for (Path port : Machine.entries(device.resolve("ports"))) {
                found.add(of(device, port));
            }
        }
        return found;
    }

    private static RdmaPort of(Path device, Path port) {
        List<GidEntry> gids = new ArrayList<>();
        List<String> interfaces = new ArrayList<>();
        for (int i = 0; i < MAX_GIDS; i++) {
            String index = Integer.toString(i);
            Optional<String> gid = Machine.line(port.resolve("gids").resolve(index));
            if (gid.isEmpty()) {
                break;
            }
            Optional<String> behind =
                    Machine.line(port.resolve("gid_attrs/ndevs").resolve(index));
            if (!gid.get().matches("[0:]*") && !gid.get().matches("fe80:[0:]*")) {
                gids.add(new GidEntry(
                        i,
                        gid.get(),
                        Machine.line(port.resolve("gid_attrs/types").resolve(index))
                                .orElse("unknown"),
                        behind));
            }
            behind.filter(name -> !interfaces.contains(name)).ifPresent(interfaces::add);
        }
        if (interfaces.isEmpty()) {
            Machine.entries(device.resolve("device/net"))
                    .forEach(each -> interfaces.add(each.getFileName().toString()));
            Machine.line(device.resolve("parent")).ifPresent(interfaces::add); // SoftRoCE's
        }
        return new RdmaPort(
                device.getFileName().toString(),
                portNumber(port.getFileName().toString()),
                Machine.line(port.resolve("state"))
                        .map(text -> text.replaceFirst("^\\d+: ", ""))
                        .orElse("unknown"),
                Machine.line(port.resolve("rate")).orElse("unknown"),
                Machine.line(port.resolve("link_layer")).orElse("unknown"),
                gids,
                interfaces,
                counters(port),
                Machine.target(device.resolve("device/driver")).orElse(""),
                "",
                false);
    }

    private static Map<String, Long> counters(Path port) {
        Map<String, Long> counters = new TreeMap<>();
        for (String folder : List.of("counters", "hw_counters")) {
            for (Path file : Machine.entries(port.resolve(folder))) {
                String name = file.getFileName().toString();
                if (SENT_AGAIN.contains(name) || isOfCongestion(name)) {
                    Machine.number(file).ifPresent(count -> counters.put(name, count));
                }
            }
        }
        return counters;
    }

    /** Tells whether a counter tells of congestion; whatever its name, if it counts pauses. */
    public static boolean isOfCongestion(String counter) {
        return CONGESTION.contains(counter) || counter.toLowerCase(Locale.ROOT).contains("pause");
    }

    private static int portNumber(String name) {
        return name.matches("\\d{1,3}") ? Integer.parseInt(name) : 1;
    }

    /** The same, with what libibverbs knows of it. */
    RdmaPort asOpened(DeviceMemory memory, boolean isUnlisted) {
        return new RdmaPort(
                device,
                port,
                state,
                rate,
                linkLayer,
                gids,
                interfaces,
                counters,
                driver,
                memory.toString(),
                isUnlisted);
    }

    /** The device, and the port's number unless it is the first. */
    public String label() {
        return device + (port > 1 ? ":" + port : "");
    }

    public boolean isActive() {
        return state.equals("ACTIVE");
    }
}
