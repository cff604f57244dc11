package trigon.cluster.diagnosis;

import static trigon.cluster.diagnosis.Finding.advice;
import static trigon.cluster.diagnosis.Finding.look;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import trigon.cluster.diagnosis.Finding.Remedy;
import trigon.cluster.diagnosis.Finding.Weight;
import trigon.cluster.facts.LinkFacts.Link;
import trigon.cluster.facts.NodeFacts;
import trigon.cluster.machine.MachineGpus;
import trigon.cluster.machine.MachineGpus.AccessControl;
import trigon.cluster.machine.MachineGpus.Gpu;
import trigon.cluster.machine.MachineGpus.GpuPath;

/**
 * Checks of the NICs of a node, as far as they are links by RDMA, for access to memory of its GPUs. Findings are notes
 * where the settings do not ask for it. Pure.
 */
final class GpuChecks {

    private static final String UNREACHABLE = "no: ";
    private static final String DMA_BUF = "DMA-BUF";

    /** Processors on which NICs and GPUs need no IOMMU; on others it always translates. */
    private static final String WITHOUT_IOMMU = "amd64";

    private final String node;
    private final NodeFacts facts;
    private final Weight weight;
    private final List<Finding> findings = new ArrayList<>();

    private GpuChecks(String node, NodeFacts facts) {
        this.node = node;
        this.facts = facts;
        weight = facts.system().isGpuMemoryOff() ? Weight.NOTE : Weight.WARNING;
    }

    static List<Finding> of(String node, NodeFacts facts) {
        GpuChecks checks = new GpuChecks(node, facts);
        if (!facts.local().gpus().isEmpty()) {
            checks.check();
        }
        return checks.findings;
    }

    private void check() {
        Set<String> devices = facts.links().stream()
                .filter(Link::isRdma)
                .map(Link::device)
                .filter(device -> facts.local().gpuNics().containsKey(device))
                .collect(Collectors.toCollection(TreeSet::new));
        if (devices.isEmpty()) {
            return;
        }
        if (facts.local().gpus().stream().allMatch(Gpu::isOfAmd)) {
            findings.add(Finding.note(
                    "gpu-memory-unsupported",
                    node,
                    "NICs do not reach memory of AMD's GPUs: Trigon offers RCCL none",
                    "the GPUs are AMD's; TRIGON_GPU_MEMORY is " + facts.system().gpuMemoryUse(),
                    advice(
                            node,
                            "nothing: RCCL copies through host memory. With TRIGON_GPU_MEMORY=on, no job starts")));
            return;
        }
        if (facts.local().gpus().stream().allMatch(Gpu::sharesMemory)) {
            findings.add(Finding.note(
                    "gpu-memory-unsupported",
                    node,
                    "NICs do not reach memory of this GPU, by design: DGX Spark has no GPUDirect RDMA",
                    "the model is " + facts.local().gpus().getFirst().model().orElseThrow(),
                    advice(node, "nothing: NCCL's buffers are in host memory, which is the GPU's, too")));
            return;
        }
        List<String> ready = new ArrayList<>();
        for (String device : devices) {
            MachineGpus.Nic nic = Objects.requireNonNull(facts.local().gpuNics().get(device));
            nic.nearest().flatMap(path -> check(device, nic, path)).ifPresent(ready::add);
        }
        if (facts.system().isGpuMemoryOff() && !ready.isEmpty()) {
            findings.add(Finding.note(
                    "gpu-memory-possible",
                    node,
                    "NICs reach memory of GPUs, and are not asked to: " + String.join("; ", ready),
                    "trigon links; TRIGON_GPU_MEMORY is off",
                    advice(node, "to try it, set TRIGON_GPU_MEMORY=auto on all nodes")));
        }
    }

    /** Path to the nearest GPU; empty if there is a finding. */
    private Optional<String> check(String device, MachineGpus.Nic nic, GpuPath nearest) {
        int before = findings.size();
        String gpu = nearest.gpu();
        String how = facts.rdmaPorts().stream()
                .filter(port -> port.device().equals(device))
                .map(port -> port.gpuMemory())
                .findFirst()
                .orElse("");
        if (how.startsWith(UNREACHABLE)) {
            add(
                    "peermem-missing",
                    device,
                    device + " reaches no memory of GPUs, neither by DMA-BUF nor as peer memory",
                    how.substring(UNREACHABLE.length()),
                    advice(
                            node,
                            "modprobe nvidia-peermem, which needs NVIDIA's RDMA driver (DOCA-OFED); or Linux 5.12 and"
                                    + " rdma-core 34 for DMA-BUF"));
        } else if (how.equals(DMA_BUF)
                && facts.local().gpuDriver().filter(driver -> !driver.open()).isPresent()) {
            add(
                    "gpu-driver-closed",
                    device,
                    "%s takes DMA-BUFs, and NVIDIA's closed kernel modules hand out none".formatted(device),
                    "/proc/driver/nvidia/version says "
                            + facts.local().gpuDriver().orElseThrow().version() + ", not the open modules",
                    advice(node, "install the open kernel modules (nvidia-open), or modprobe nvidia-peermem"));
        }
        if (facts.system().architecture().equals(WITHOUT_IOMMU)) {
            checkIommu(device, nic, gpu);
            if (!nearest.distance().isBelowTheCpu()) {
                add(
                        "gpu-far-from-nic",
                        device,
                        "%s reaches the nearest GPU, %s, through the CPU only (%s): NCCL copies through host memory"
                                .formatted(device, gpu, nearest.distance()),
                        "their places in /sys/devices",
                        advice(
                                node,
                                "put both below one PCIe switch; or try NCCL_NET_GDR_LEVEL=SYS, and compare the speed"
                                        + " with TRIGON_GPU_MEMORY=off"));
            }
        }
        if (nearest.accessControl().equals(Optional.of(AccessControl.REDIRECTS))) {
            add(
                    "acs-redirects",
                    device,
                    "PCIe sends what %s and the GPU %s write to each other up to the CPU first".formatted(device, gpu),
                    "access control (ACS) is on at a switch's port between them",
                    look(node, "lspci -vvv | grep -E '^[0-9a-f]|ACSCtl'"),
                    advice(
                            node,
                            "turn ACS off in the firmware's setup, or by setpci at the ports between the two; not on"
                                    + " hosts of virtual machines, which need it"));
        }
        return findings.size() == before
                ? Optional.of("%s that of %s by %s (%s)".formatted(device, gpu, how, nearest.distance()))
                : Optional.empty();
    }

    private void checkIommu(String device, MachineGpus.Nic nic, String gpu) {
        List<String> translated = new ArrayList<>();
        if (nic.isTranslated()) {
            translated.add(device);
        }
        facts.local().gpus().stream()
                .filter(each -> each.function().equals(gpu) && each.isTranslated())
                .forEach(_ -> translated.add("the GPU " + gpu));
        if (!translated.isEmpty()) {
            add(
                    "iommu-translates",
                    device,
                    "the IOMMU translates addresses of %s: GPUDirect is slow, or fails"
                            .formatted(String.join(" and ", translated)),
                    "iommu_group/type of the PCI functions is not identity",
                    advice(node, "add iommu=pt to the kernel's command line, or turn the IOMMU off in the firmware"));
        }
    }

    private void add(String code, String device, String what, String evidence, Remedy... remedies) {
        findings.add(new Finding(weight, code, node + " " + device, what, evidence, List.of(remedies)));
    }
}
