package trigon.integration.rdma;

import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** An RDMA device within one process, for programs that load libibverbs; needs no kernel module. */
final class InstantDevice {

    private static final Path FOLDER =
            Path.of(System.getProperty("trigon.odd.host")).resolveSibling("simulated");
    private static final Path FAKE_SYSFS =
            Path.of("../testing/simulated-device/fake-sysfs.sh").toAbsolutePath();

    /** The variables by which programs find it. */
    static final Map<String, String> LIBRARY = Map.of("LD_LIBRARY_PATH", FOLDER.toString(), "SIMVERBS_INSTANT", "1");

    /** Two of it, {@code one} at 10.1.12.1/24 and {@code two} at 10.1.13.1/24. */
    static final Map<String, String> TWO = Map.of("SIMVERBS_DEVICES", "one=10.1.12.1/24,two=10.1.13.1/24");

    /** What goes before a command that is to see it as a NIC. */
    static final List<String> AS_NIC = List.of("unshare", "-r", FAKE_SYSFS.toString(), "simulated");

    /** What goes before a command that is to see {@link #TWO} of it, on one interface. */
    static final List<String> AS_TWO_NICS =
            asTwoNics("ip link set lo up; ip addr add 10.1.12.1/24 dev lo; ip addr add 10.1.13.1/24 dev lo");

    /** The same on an interface each, so that nothing of them is shared. */
    static final List<String> ON_TWO_CABLES = asTwoNics("""
            ip link set lo up
            for net in 12 13; do
              ip link add en$net type veth peer name far$net
              ip link set far$net up
              ip link set en$net up
              ip addr add 10.1.$net.1/24 dev en$net
            done""");

    private InstantDevice() {}

    /**
     * The environment of a device whose queue pairs fail now and then, under connections that are to go on by new ones.
     *
     * @param stripes {@code TRIGON_STRIPES}
     * @param late every so many completions of sends are held back until the next poll, or none with 0
     */
    static Map<String, String> failingQueuePairs(String stripes, String late) {
        return Map.of("SIMVERBS_QUEUE_PAIR_FAULTS", "1000", "TRIGON_STRIPES", stripes, "SIMVERBS_LATE", late);
    }

    private static List<String> asTwoNics(String interfaces) {
        String script = interfaces + "; exec \"$@\"";
        return List.of("unshare", "-rn", "sh", "-ec", script, "sh", FAKE_SYSFS.toString(), "simulated");
    }

    /**
     * Skips the test where it was not built, or cannot be shown as NICs.
     *
     * @param by one of those above
     */
    static void assumeItIsThere(List<String> by) throws IOException, InterruptedException {
        assumeThat(FOLDER.resolve("libibverbs.so.1"))
                .as("the instant device, which needs libibverbs-dev")
                .exists();
        List<String> nothing = new ArrayList<>(by);
        nothing.add("true");
        assumeThat(new ProcessBuilder(nothing)
                        .redirectErrorStream(true)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start()
                        .waitFor())
                .as("unshare may make namespaces with another /sys/class, and interfaces")
                .isZero();
    }
}
