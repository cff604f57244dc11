package trigon.tools.diagnosis;

import static trigon.tools.diagnosis.Finding.advice;
import static trigon.tools.diagnosis.Finding.look;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import trigon.tools.console.JsonObject;
import trigon.tools.diagnosis.Finding.Remedy;
import trigon.tools.diagnosis.Finding.Weight;
import trigon.tools.machine.AccessControl;
import trigon.tools.machine.PciDistance;

/**
 * What keeps the NICs of a node from the memory of its GPUs. Notes where the settings do not ask for it; only of NICs
 * that are links by RDMA. Pure.
 */
final class GpuChecks {

    private static final String UNREACHABLE = "no: ";
    private static final String DMA_BUF = "DMA-BUF";
    private static final String SHARES_MEMORY = "GB10"; // as trigon.tools.machine.MachineGpus has it

    /** Processors on which NICs and GPUs need no IOMMU; on others it always translates. */
    private static final String WITHOUT_IOMMU = "amd64";

    private final String node;
    private final JsonObject facts;
    private final Weight weight;
    private final List<Finding> findings = new ArrayList<>();

    private GpuChecks(String node, JsonObject facts) {
        this.node = node;
        this.facts = facts;
        weight = isOff() ? Weight.NOTE : Weight.WARNING;
    }

    static List<Finding> of(String node, JsonObject facts) {
        GpuChecks checks = new GpuChecks(node, facts);
        if (!facts.objects("gpus").isEmpty()) {
            checks.check();
        }
        return checks.findings;
    }

    private boolean isOff() {
        return !Set.of("auto", "on").contains(facts.text("gpuMemoryUse"));
    }

    private void check() {
        Set<String> devices = facts.objects("links").stream()
                .filter(link -> link.text("kind").equals("rdma"))
                .map(link -> link.text("device"))
                .filter(device -> facts.object("gpuNics").values().containsKey(device))
                .collect(Collectors.toCollection(TreeSet::new));
        if (devices.isEmpty()) {
            return;
        }
        if (facts.objects("gpus").stream().allMatch(gpu -> gpu.text("model").contains(SHARES_MEMORY))) {
            findings.add(Finding.note(
                    "gpu-memory-unsupported",
                    node,
                    "NICs do not reach memory of this GPU, by design: DGX Spark has no GPUDirect RDMA",
                    "the model is " + facts.objects("gpus").getFirst().text("model"),
                    advice(node, "nothing: NCCL's buffers are in host memory, which is the GPU's, too")));
            return;
        }
        List<String> ready = new ArrayList<>();
        for (String device : devices) {
            JsonObject nic = facts.object("gpuNics").object(device);
            nic.objects("gpus").stream()
                    .findFirst()
                    .ifPresent(nearest -> check(device, nic, nearest).ifPresent(ready::add));
        }
        if (isOff() && !ready.isEmpty()) {
            findings.add(Finding.note(
                    "gpu-memory-possible",
                    node,
                    "NICs reach memory of GPUs, and are not asked to: " + String.join("; ", ready),
                    "trigon links; TRIGON_GPU_MEMORY is off",
                    advice(node, "to try it, set TRIGON_GPU_MEMORY=auto on all nodes")));
        }
    }

    /** How it reaches the nearest GPU; empty if there is a finding. */
    private Optional<String> check(String device, JsonObject nic, JsonObject nearest) {
        int before = findings.size();
        String gpu = nearest.text("gpu");
        String how = facts.objects("rdmaPorts").stream()
                .filter(port -> port.text("device").equals(device))
                .map(port -> port.text("gpuMemory"))
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
        } else if (how.equals(DMA_BUF) && facts.object("gpuDriver").isFalse("open")) {
            add(
                    "gpu-driver-closed",
                    device,
                    "%s takes DMA-BUFs, and NVIDIA's closed kernel modules hand out none".formatted(device),
                    "/proc/driver/nvidia/version says "
                            + facts.object("gpuDriver").text("version") + ", not the open modules",
                    advice(node, "install the open kernel modules (nvidia-open), or modprobe nvidia-peermem"));
        }
        if (facts.text("architecture").equals(WITHOUT_IOMMU)) {
            checkIommu(device, nic, gpu);
            if (!isNear(nearest)) {
                add(
                        "gpu-far-from-nic",
                        device,
                        "%s and the nearest GPU, %s, are joined by the CPU only (%s), so NCCL copies through host memory"
                                .formatted(device, gpu, nearest.text("distance")),
                        "their places in /sys/devices",
                        advice(
                                node,
                                "put both below one PCIe switch; or try NCCL_NET_GDR_LEVEL=SYS, and compare the speed"
                                        + " with TRIGON_GPU_MEMORY=off"));
            }
        }
        if (nearest.text("accessControl").equals(AccessControl.REDIRECTS.toString())) {
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
                ? Optional.of("%s that of %s by %s (%s)".formatted(device, gpu, how, nearest.text("distance")))
                : Optional.empty();
    }

    private static boolean isNear(JsonObject nearest) {
        return PciDistance.valueOf(nearest.text("distance")).isBelowTheCpu();
    }

    private void checkIommu(String device, JsonObject nic, String gpu) {
        List<String> translated = new ArrayList<>();
        if (isTranslated(nic)) {
            translated.add(device);
        }
        facts.objects("gpus").stream()
                .filter(each -> each.text("function").equals(gpu) && isTranslated(each))
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

    private static boolean isTranslated(JsonObject function) {
        return function.find("iommu").filter(type -> !type.equals("identity")).isPresent();
    }

    private void add(String code, String device, String what, String evidence, Remedy... remedies) {
        findings.add(new Finding(weight, code, node + " " + device, what, evidence, List.of(remedies)));
    }
}
