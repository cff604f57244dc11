package trigon.cluster.facts;

import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import trigon.cluster.machine.MachineGpus;
import trigon.cluster.machine.MachineGpus.Driver;
import trigon.cluster.machine.MachineGpus.Gpu;
import trigon.cluster.machine.MachineLinks;
import trigon.cluster.machine.Nic;
import trigon.cluster.machine.RdmaPort;
import trigon.routing.LocalLink;
import trigon.system.InterfaceAddress;

/**
 * A node's NICs, and which of them the plugin would use. The schema {@code trigon.links/1} has these keys: a change of
 * what one means needs a new number.
 *
 * @param interfaces all network interfaces
 * @param rdmaPorts all RDMA ports
 * @param gpuNics RDMA devices as they are seen from the GPUs, by name
 * @param noRdma why there is none; empty if there is
 * @param links that would be used, the best first
 * @param warnings of the plugin's start
 * @param problems that would end the plugin's start
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
                links.rdmaAsOpened(),
                gpus.gpus(),
                gpus.driver(),
                gpus.gpus().isEmpty() ? Map.of() : gpus.nics(),
                links.noRdma(),
                links.discovered().links().stream().map(Link::of).toList(),
                links.discovered().leftOut().stream().map(LeftOut::of).toList(),
                links.warnings(),
                links.problems());
    }

    /**
     * A link that the plugin uses.
     *
     * @param kind {@code rdma} or {@code software}
     * @param device of RDMA
     * @param nic the network interface's name
     * @param rank its place among the links, the best first
     */
    public record Link(
            String name,
            String kind,
            String device,
            @JsonProperty("interface") String nic,
            InterfaceAddress address,
            int speedMbps,
            int rank) {

        static Link of(LocalLink link) {
            return new Link(
                    link.name(),
                    link.kind().name().toLowerCase(Locale.ROOT),
                    link.deviceName(),
                    link.interfaceName(),
                    link.address(),
                    link.speedMbps(),
                    link.rank());
        }

        public boolean isRdma() {
            return kind.equals("rdma");
        }

        /** The address alone, without its prefix, as probes name ends. */
        public String host() {
            return InterfaceAddress.text(address.address());
        }
    }

    /**
     * A link that is not used, or not as it was found.
     *
     * @param why in words
     * @param weight {@code suspect} if somebody probably wants it used
     * @param down true if its interface is down
     */
    public record LeftOut(String name, String why, String weight, boolean down) {

        static LeftOut of(trigon.routing.LeftOut each) {
            return new LeftOut(
                    each.name(),
                    each.cause().toString(),
                    each.cause().weight().name().toLowerCase(Locale.ROOT).replace('_', '-'),
                    each.cause().isDown());
        }

        /** Tells whether somebody probably wants it used, and it is up: of what is down, other facts say more. */
        public boolean isSuspect() {
            return weight.equals("suspect") && !down;
        }
    }
}
