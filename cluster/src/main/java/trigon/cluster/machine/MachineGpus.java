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

    /** Display and 3D controllers, and AMD's processing accelerators. */
    private static final Pattern CLASS = Pattern.compile("0x(03(00|02|80)|1200).*");

    private static final Pattern VERSION = Pattern.compile("\\b(\\d{3,}(?:\\.\\d+)+)\\b");
    private static final Pattern MODEL = Pattern.compile("(?m)^Model:\\s*(.+?)\\s*$");

    /** In the model of a GPU of DGX Spark or of Strix Halo, or of another machine with that chip. */
    private static final Pattern SHARES_MEMORY = Pattern.compile("GB10|gfx1151");

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

    /** Distance of two PCI functions, in the terms of nvidia-smi and NCCL, the nearest first. */
    public enum PciDistance {
        /** Below one switch. */
        PIX,
        /** Below several switches of one root port. */
        PXB,
        /** Through a host bridge, which is the CPU's. */
        PHB,
        /** Through several host bridges of one NUMA node. */
        NODE,
        /** Through several NUMA nodes. */
        SYS;

        /** Tells whether traffic between the two bypasses the CPU; only then NCCL uses a NIC for memory of a GPU. */
        public boolean isBelowTheCpu() {
            return compareTo(PXB) <= 0;
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
        Optional<GpuVendor> vendor = Stream.of(GpuVendor.values())
                .filter(each -> !functions(machine, each).isEmpty())
                .findFirst();
        List<Path> functions = vendor.map(each -> functions(machine, each)).orElse(List.of());
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

    private static List<Path> functions(Machine machine, GpuVendor vendor) {
        String number = "0x%04x".formatted(vendor.pciNumber());
        return Machine.entries(machine.file("sys/bus/pci/devices")).stream()
                .filter(function -> Machine.line(function.resolve("vendor"))
                                .filter(number::equals)
                                .isPresent()
                        && Machine.line(function.resolve("class"))
                                .filter(text -> CLASS.matcher(text).matches())
                                .isPresent())
                .toList();
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
                        distance.isBelowTheCpu() ? Optional.of(nic.accessControl(gpu)) : Optional.empty()));
            });
        }
        paths.sort(Comparator.comparing(GpuPath::distance).thenComparing(GpuPath::gpu));
        return new Nic(nic.function().getFileName().toString(), iommu(nic.function()), paths);
    }

    /**
     * The way from a PCI host bridge to a function, as sysfs has it.
     *
     * @param steps folders, from the host bridge to the function
     */
    private record PciPath(List<Path> steps) {

        private static final Pattern HOST_BRIDGE = Pattern.compile("pci[0-9a-f]{4,}:[0-9a-f]{2}");
        private static final int BELOW_ONE_SWITCH = 2; // its port, and the function

        /** Bytes of the configuration that every user may read. */
        private static final int READABLE_BY_ALL = 64;

        private static final int EXTENDED_CAPABILITIES = 0x100;
        private static final int ACCESS_CONTROL_SERVICES = 0x0d;
        private static final int CONTROL_REGISTER = 6;
        private static final int REDIRECTS_REQUESTS_OR_COMPLETIONS = 0b1100;

        PciPath {
            steps = List.copyOf(steps);
        }

        /** Reads that of a device in sysfs; empty if it is none of PCI. */
        static Optional<PciPath> of(Path device) {
            List<Path> steps = new ArrayList<>();
            try {
                for (Path at = device.toRealPath(); at != null && at.getFileName() != null; at = at.getParent()) {
                    steps.addFirst(at);
                    if (HOST_BRIDGE.matcher(at.getFileName().toString()).matches()) {
                        return Optional.of(new PciPath(steps));
                    }
                }
            } catch (IOException _) {
                return Optional.empty();
            }
            return Optional.empty();
        }

        Path function() {
            return steps.getLast();
        }

        PciDistance to(PciPath other) {
            int common = common(other);
            if (common == 0) {
                return numaNode() == other.numaNode() ? PciDistance.NODE : PciDistance.SYS;
            }
            if (common == 1) {
                return PciDistance.PHB;
            }
            return Math.max(steps.size(), other.steps.size()) - common <= BELOW_ONE_SWITCH
                    ? PciDistance.PIX
                    : PciDistance.PXB;
        }

        private int common(PciPath other) {
            int common = 0;
            while (common < Math.min(steps.size(), other.steps.size())
                    && steps.get(common).equals(other.steps.get(common))) {
                common++;
            }
            return common;
        }

        /** A negative number where the machine has one only. */
        private long numaNode() {
            return Machine.number(function().resolve("numa_node")).orElse(-1L);
        }

        /** Tells whether a port between the two sends what is for the other up to the CPU first. */
        AccessControl accessControl(PciPath other) {
            int common = common(other);
            List<Path> ports = new ArrayList<>(steps.subList(common, Math.max(common, steps.size() - 1)));
            ports.addAll(other.steps.subList(common, Math.max(common, other.steps.size() - 1)));
            return ports.stream()
                    .map(PciPath::accessControl)
                    .max(AccessControl::compareTo)
                    .orElse(AccessControl.OFF);
        }

        private static AccessControl accessControl(Path port) {
            ByteBuffer configuration;
            try {
                configuration = ByteBuffer.wrap(Files.readAllBytes(port.resolve("config")))
                        .order(ByteOrder.LITTLE_ENDIAN);
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
}
