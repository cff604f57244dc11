package trigon.cluster.facts;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import trigon.cluster.machine.Machine;
import trigon.config.PluginConfig;
import trigon.config.Settings;

/**
 * A node's system, and what it allows.
 *
 * @param machine its model, as the firmware says
 * @param architecture as Java calls it
 * @param gpuMemoryUse true if NICs are to read and write memory of GPUs, as the setting says
 */
public record SystemFacts(
        long clockMillis,
        Optional<String> machine,
        String kernel,
        String architecture,
        String gpuMemoryUse,
        Optional<Limits> limits,
        Optional<RdmaDevices> rdmaDevices) {

    private static final Pattern LOCKED = Pattern.compile("(?m)^Max locked memory\\s+(\\S+)");
    private static final Pattern FILES = Pattern.compile("(?m)^Max open files\\s+(\\S+)");

    /** Limits of a process, as the kernel writes them. */
    public record Limits(
            String lockedBytes,
            String openFiles,
            Optional<String> memory,
            Optional<String> tasks,
            Optional<Long> sharedMemoryBytes) {

        private static Limits of(Machine machine) {
            String limits = Machine.text(machine.file("proc/self/limits")).orElse("");
            return new Limits(
                    first(LOCKED, limits),
                    first(FILES, limits),
                    Machine.line(machine.file("sys/fs/cgroup/memory.max")),
                    Machine.line(machine.file("sys/fs/cgroup/pids.max")),
                    room(machine.file("dev/shm")));
        }
    }

    /** Files of verbs, by whether this user may open them. */
    public record RdmaDevices(List<String> usable, List<String> refused) {

        private static RdmaDevices of(Machine machine) {
            List<Path> devices = Machine.entries(machine.file("dev/infiniband")).stream()
                    .filter(device -> device.getFileName().toString().startsWith("uverbs"))
                    .toList();
            return new RdmaDevices(names(devices, true), names(devices, false));
        }

        private static List<String> names(List<Path> devices, boolean usable) {
            return devices.stream()
                    .filter(device -> usable == (Files.isReadable(device) && Files.isWritable(device)))
                    .map(device -> device.getFileName().toString())
                    .toList();
        }
    }

    static SystemFacts of(Machine machine, PluginConfig config) {
        return new SystemFacts(
                System.currentTimeMillis(),
                Machine.line(machine.file("sys/class/dmi/id/product_name")),
                Machine.line(machine.file("proc/sys/kernel/osrelease")).orElse(""),
                System.getProperty("os.arch"),
                config.value(Settings.GPU_MEMORY).name().toLowerCase(Locale.ROOT),
                Optional.of(Limits.of(machine)),
                Optional.of(RdmaDevices.of(machine)));
    }

    /** Tells whether NICs are not to read and write memory of GPUs. */
    public boolean isGpuMemoryOff() {
        return gpuMemoryUse.isEmpty() || gpuMemoryUse.equals("off");
    }

    private static Optional<Long> room(Path folder) {
        try {
            return Optional.of(Files.getFileStore(folder).getTotalSpace());
        } catch (IOException _) {
            return Optional.empty();
        }
    }

    private static String first(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        return matcher.find() ? matcher.group(1) : "";
    }
}
