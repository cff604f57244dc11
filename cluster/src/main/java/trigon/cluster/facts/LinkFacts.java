package trigon.cluster.facts;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.cluster.machine.MachineGpus;
import trigon.cluster.machine.MachineGpus.Driver;
import trigon.cluster.machine.MachineGpus.Gpu;
import trigon.cluster.machine.MachineLinks;
import trigon.cluster.machine.Nic;
import trigon.cluster.machine.RdmaPort;

/**
 * A node's NICs, and which of them the plugin would use. The schema {@code trigon.links/1} has these keys: a change of
 * what one means needs a new number.
 *
 * @param interfaces all network interfaces
 * @param rdmaPorts all RDMA ports
 * @param gpuNics RDMA devices as they are seen from the GPUs, by name
 * @param noRdma why there is none; empty if there is
 * @param links what would be used, the best first
 * @param warnings what the plugin would warn of
 * @param problems what would end the plugin's start
 */
public record LinkFacts(
        List<Nic> interfaces,
        List<RdmaPort> rdmaPorts,
        List<Gpu> gpus,
        Optional<Driver> gpuDriver,
        Map<String, MachineGpus.Nic> gpuNics,
        Optional<String> noRdma,
        List<Link> links,
        List<LeftOut> leftOut,
        List<String> warnings,
        List<String> problems) {

    /** Reads those of that machine. */
    public static LinkFacts of(MachineLinks links, MachineGpus gpus) {
        return new LinkFacts(
                links.nics(),
                links.rdmaWithGpuMemory(),
                gpus.gpus(),
                gpus.driver(),
                gpus.gpus().isEmpty() ? Map.of() : gpus.nics(),
                links.noRdma(),
                links.discovered().links().stream().map(Link::of).toList(),
                links.discovered().leftOut().stream().map(LeftOut::of).toList(),
                links.warnings(),
                links.problems());
    }
}
