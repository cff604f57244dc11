package trigon.cluster.machine;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * AMD's GPUs as the kernel's driver for computing (KFD) has them: each node of its topology is a processor or a GPU,
 * with a number in each line of its properties. Source: Linux's drivers/gpu/drm/amd/amdkfd/kfd_topology.c.
 */
final class AmdGpus {

    private static final String NODES = "sys/class/kfd/kfd/topology/nodes";

    private AmdGpus() {}

    /** Architectures by PCI function, such as {@code gfx1151} at {@code 0000:c5:00.0}. */
    static Map<String, String> architectures(Machine machine) {
        Map<String, String> found = new TreeMap<>();
        for (Path node : Machine.entries(machine.file(NODES))) {
            Map<String, Long> properties = properties(node);
            long version = properties.getOrDefault("gfx_target_version", 0L);
            if (version > 0) {
                found.put(function(properties), architecture(version));
            }
        }
        return found;
    }

    private static Map<String, Long> properties(Path node) {
        Map<String, Long> properties = new TreeMap<>();
        Machine.text(node.resolve("properties"))
                .ifPresent(text -> text.lines().forEach(line -> {
                    String[] words = line.split(" ", -1);
                    if (words.length == 2) {
                        number(words[1]).ifPresent(number -> properties.put(words[0], number));
                    }
                }));
        return properties;
    }

    private static Optional<Long> number(String word) {
        try {
            return Optional.of(Long.parseUnsignedLong(word));
        } catch (NumberFormatException _) {
            return Optional.empty();
        }
    }

    /** Bus, device and function, as PCI numbers them, in one number. */
    private static String function(Map<String, Long> properties) {
        long location = properties.getOrDefault("location_id", 0L);
        return "%04x:%02x:%02x.%x"
                .formatted(
                        properties.getOrDefault("domain", 0L),
                        location >> 8 & 0xff,
                        location >> 3 & 0x1f,
                        location & 0x7);
    }

    /** The compiler's name: two decimal digits each for minor and stepping, which the name has in hexadecimal. */
    private static String architecture(long version) {
        return "gfx%d%x%x".formatted(version / 10_000, version / 100 % 100, version % 100);
    }
}
