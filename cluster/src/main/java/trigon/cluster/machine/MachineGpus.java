package trigon.cluster.machine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import trigon.routing.hardware.NicHardware;
import trigon.routing.hardware.PciDistance;
import trigon.routing.hardware.PciPath;
import trigon.system.GpuVendor;

/**
 * This machine's GPUs, and what lies between them and the RDMA devices. From sysfs and procfs, without CUDA and HIP.
 * AMD's count only where there are none of NVIDIA's, which jobs then use.
 *
 * @param gpus by their PCI functions
 * @param driver NVIDIA's loaded one; empty if there is none
 * @param nics the RDMA devices that are PCI functions, by name
 */
public record MachineGpus(List<Gpu> gpus, Optional<Driver> driver, Map<String, Nic> nics) {

    private static final Pattern VERSION = Pattern.compile("\\b(\\d{3,}(?:\\.\\d+)+)\\b");
    private static final Pattern MODEL = Pattern.compile("(?m)^Model:\\s*(.+?)\\s*$");

    /** In the model of a GPU of DGX Spark or of Strix Halo, or of another machine with that chip. */
    private static final Pattern SHARES_MEMORY = Pattern.compile("GB10|gfx1151");

    /** Bytes of a port's configuration that every user may read. */
    private static final int READABLE_BY_ALL = 64;

    private static final int EXTENDED_CAPABILITIES = 0x100;
    private static final int ACCESS_CONTROL_SERVICES = 0x0d;
    private static final int CONTROL_REGISTER = 6;
    private static final int REDIRECTS_REQUESTS_OR_COMPLETIONS = 0b1100;

    /**
     * A GPU.
     *
     * @param function its address, for example {@code 0000:04:00.0}
     * @param vendor its maker; empty from a Trigon that knows NVIDIA alone
     * @param model as its driver says, of AMD's the architecture; empty without one
     * @param iommu type of its IOMMU group, such as {@code identity} or {@code DMA-FQ}; empty without an IOMMU
     */
    public record Gpu(String function, Optional<GpuVendor> vendor, Optional<String> model, Optional<String> iommu) {

        /** True if an IOMMU translates its addresses. */
        public boolean isTranslated() {
            return translates(iommu);
        }

        /** Tells whether it is AMD's, whose library is RCCL. */
        public boolean isOfAmd() {
            return vendor.filter(GpuVendor.AMD::equals).isPresent();
        }

        /** Tells whether it uses the host's memory, as that of a DGX Spark. NICs then need no GPUDirect. */
        public boolean sharesMemory() {
            return model.filter(each -> SHARES_MEMORY.matcher(each).find()).isPresent();
        }
    }

    /** NVIDIA's kernel driver, and whether it is the open one: the closed one hands out no DMA-BUFs. */
    public record Driver(String version, boolean open) {}

    /**
     * An RDMA device.
     *
     * @param function its address
     * @param iommu type of its IOMMU group; empty without an IOMMU
     * @param gpus all GPUs, the nearest first
     */
    public record Nic(String function, Optional<String> iommu, List<GpuPath> gpus) {

        public Nic {
            gpus = List.copyOf(gpus);
        }

        /** True if an IOMMU translates its addresses. */
        public boolean isTranslated() {
            return translates(iommu);
        }

        /** Path between it and the nearest GPU. */
        public Optional<GpuPath> nearest() {
            return gpus.stream().findFirst();
        }
    }

    /** Path between a NIC and a GPU; access control is empty if that is the CPU. */
    public record GpuPath(String gpu, PciDistance distance, Optional<AccessControl> accessControl) {}

    /** Effect of PCIe's access control services (ACS) on traffic between two functions below a switch. */
    public enum AccessControl {
        /** They let it pass. */
        OFF,
        /** Only root may read it. */
        UNKNOWN,
        /** They send it through the CPU, which costs speed, or through an IOMMU that refuses it. */
        REDIRECTS;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static boolean translates(Optional<String> iommu) {
        return iommu.filter(type -> !type.equals("identity")).isPresent();
    }

    public MachineGpus {
        gpus = List.copyOf(gpus);
        nics = Map.copyOf(nics);
    }

    /** Reads the files as they are now. */
    public static MachineGpus of(Machine machine) {
        NicHardware hardware = new NicHardware(machine.file("sys"));
        Optional<GpuVendor> vendor = Stream.of(GpuVendor.values())
                .filter(each -> !hardware.gpus(each).isEmpty())
                .findFirst();
        List<Path> functions = vendor.map(hardware::gpus).orElse(List.of());
        Map<String, String> ofAmd = AmdGpus.architectures(machine);
        Map<String, Nic> nics = new TreeMap<>();
        for (Path device : Machine.entries(machine.file("sys/class/infiniband"))) {
            PciPath.of(device.resolve("device"))
                    .ifPresent(nic -> nics.put(device.getFileName().toString(), nic(nic, functions)));
        }
        return new MachineGpus(
                functions.stream()
                        .map(function -> gpu(machine, function, vendor, ofAmd))
                        .toList(),
                Machine.text(machine.file("proc/driver/nvidia/version")).flatMap(MachineGpus::driver),
                nics);
    }

    /**
     * The GPU at that address.
     *
     * @throws java.util.NoSuchElementException if there is none
     */
    public Gpu gpu(String function) {
        return gpus.stream()
                .filter(each -> each.function().equals(function))
                .findFirst()
                .orElseThrow();
    }

    private static Gpu gpu(Machine machine, Path function, Optional<GpuVendor> vendor, Map<String, String> ofAmd) {
        String name = function.getFileName().toString();
        return new Gpu(
                name,
                vendor,
                Optional.ofNullable(ofAmd.get(name))
                        .or(() -> Machine.text(machine.file("proc/driver/nvidia/gpus")
                                        .resolve(name)
                                        .resolve("information"))
                                .map(MODEL::matcher)
                                .filter(Matcher::find)
                                .map(matcher -> matcher.group(1))),
                iommu(function));
    }

    private static Optional<String> iommu(Path function) {
        return Machine.line(function.resolve("iommu_group/type"));
    }

    private static Optional<Driver> driver(String text) {
        return Optional.of(VERSION.matcher(text))
                .filter(Matcher::find)
                .map(matcher -> new Driver(matcher.group(1), text.contains("Open Kernel Module")));
    }

    private static Nic nic(PciPath nic, List<Path> functions) {
        List<GpuPath> paths = new ArrayList<>();
        for (Path function : functions) {
            PciPath.of(function).ifPresent(gpu -> {
                PciDistance distance = nic.to(gpu);
                paths.add(new GpuPath(
                        function.getFileName().toString(),
                        distance,
                        distance.isBelowTheCpu() ? Optional.of(accessControl(nic, gpu)) : Optional.empty()));
            });
        }
        paths.sort(Comparator.comparing(GpuPath::distance).thenComparing(GpuPath::gpu));
        return new Nic(nic.function().getFileName().toString(), iommu(nic.function()), paths);
    }

    /** Tells whether a port between the two sends what is for the other up to the CPU first. */
    private static AccessControl accessControl(PciPath one, PciPath other) {
        return one.portsTo(other).stream()
                .map(MachineGpus::accessControl)
                .max(AccessControl::compareTo)
                .orElse(AccessControl.OFF);
    }

    private static AccessControl accessControl(Path port) {
        ByteBuffer configuration;
        try {
            configuration =
                    ByteBuffer.wrap(Files.readAllBytes(port.resolve("config"))).order(ByteOrder.LITTLE_ENDIAN);
        } catch (IOException _) {
            return AccessControl.UNKNOWN;
        }
        int size = configuration.limit();
        if (size <= READABLE_BY_ALL) {
            return AccessControl.UNKNOWN;
        }
        int at = EXTENDED_CAPABILITIES;
        while (at >= EXTENDED_CAPABILITIES && at + Long.BYTES <= size) {
            int header = configuration.getInt(at);
            if ((header & 0xffff) == ACCESS_CONTROL_SERVICES) {
                return (configuration.getShort(at + CONTROL_REGISTER) & REDIRECTS_REQUESTS_OR_COMPLETIONS) == 0
                        ? AccessControl.OFF
                        : AccessControl.REDIRECTS;
            }
            int next = header >>> 20;
            if (next <= at) {
                break; // the end of the list, or none that is right
            }
            at = next;
        }
        return AccessControl.OFF;
    }
}
