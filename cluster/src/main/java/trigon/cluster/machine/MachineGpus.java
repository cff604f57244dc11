package trigon.cluster.machine;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * This machine's NVIDIA GPUs, and what lies between them and the RDMA devices. From sysfs and procfs, without CUDA.
 *
 * @param gpus by their PCI functions
 * @param driver the loaded one; empty if there is none
 * @param nics the RDMA devices that are PCI functions, by name
 */
public record MachineGpus(List<Gpu> gpus, Optional<Driver> driver, Map<String, Nic> nics) {

    private static final String NVIDIA = "0x10de";
    private static final Pattern DISPLAY = Pattern.compile("0x03(00|02).*");
    private static final Pattern VERSION = Pattern.compile("\\b(\\d{3,}(?:\\.\\d+)+)\\b");
    private static final Pattern MODEL = Pattern.compile("(?m)^Model:\\s*(.+?)\\s*$");

    /** In the model of a GPU of DGX Spark, or of another machine with its chip. */
    private static final String SHARES_MEMORY = "GB10";

    /**
     * A GPU.
     *
     * @param function its address, for example {@code 0000:04:00.0}
     * @param model as its driver says; empty without one
     * @param iommu type of its IOMMU group, such as {@code identity} or {@code DMA-FQ}; empty without an IOMMU
     */
    public record Gpu(String function, Optional<String> model, Optional<String> iommu) {

        /** True if an IOMMU translates its addresses. */
        public boolean isTranslated() {
            return translates(iommu);
        }

        /** Tells whether it uses the host's memory, as that of a DGX Spark. NICs then need no GPUDirect. */
        public boolean sharesMemory() {
            return model.filter(each -> each.contains(SHARES_MEMORY)).isPresent();
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

    private static boolean translates(Optional<String> iommu) {
        return iommu.filter(type -> !type.equals("identity")).isPresent();
    }

    public MachineGpus {
        gpus = List.copyOf(gpus);
        nics = Map.copyOf(nics);
    }

    /** Reads the files as they are now. */
    public static MachineGpus of(Machine machine) {
        List<Path> functions = Machine.entries(machine.file("sys/bus/pci/devices")).stream()
                .filter(MachineGpus::isGpu)
                .toList();
        Map<String, Nic> nics = new TreeMap<>();
        for (Path device : Machine.entries(machine.file("sys/class/infiniband"))) {
            PciPath.of(device.resolve("device"))
                    .ifPresent(nic -> nics.put(device.getFileName().toString(), nic(nic, functions)));
        }
        return new MachineGpus(
                functions.stream().map(function -> gpu(machine, function)).toList(),
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

    private static boolean isGpu(Path function) {
        return Machine.line(function.resolve("vendor")).filter(NVIDIA::equals).isPresent()
                && Machine.line(function.resolve("class"))
                        .filter(text -> DISPLAY.matcher(text).matches())
                        .isPresent();
    }

    private static Gpu gpu(Machine machine, Path function) {
        String name = function.getFileName().toString();
        return new Gpu(
                name,
                Machine.text(machine.file("proc/driver/nvidia/gpus")
                                .resolve(name)
                                .resolve("information"))
                        .map(MODEL::matcher)
                        .filter(Matcher::find)
                        .map(matcher -> matcher.group(1)),
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
}
