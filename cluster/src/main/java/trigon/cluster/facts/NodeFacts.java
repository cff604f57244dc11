package trigon.cluster.facts;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonInclude.Include;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.net.InetAddress;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import trigon.cluster.facts.LinkFacts.Link;
import trigon.cluster.json.JsonObject;
import trigon.cluster.machine.Machine;
import trigon.cluster.machine.MachineGpus;
import trigon.cluster.machine.MachineLinks;
import trigon.cluster.machine.Nic;
import trigon.cluster.machine.RdmaPort;
import trigon.system.InterfaceAddress;

/**
 * Facts that a node states about itself: its links, and all else that decides whether a job runs. No secrets. A fact
 * that another version does not state is empty, and one that only that version knows is left out. Immutable.
 *
 * @param version of Trigon there
 * @param host its name
 * @param interfacesAfter the interfaces after the links were tried
 * @param rdmaPortsAfter the same of the RDMA ports
 */
public record NodeFacts(
        String schema,
        String version,
        String host,
        @JsonUnwrapped LinkFacts local,
        @JsonUnwrapped SystemFacts system,
        @JsonUnwrapped NetworkFacts networks,
        @JsonUnwrapped NcclFacts nccl,
        @JsonUnwrapped PluginFacts plugin,
        @JsonInclude(Include.NON_EMPTY) List<Nic> interfacesAfter,
        @JsonInclude(Include.NON_EMPTY) List<RdmaPort> rdmaPortsAfter) {

    private static final String SCHEMA = "trigon.node/1";
    private static final Pattern DGX_SPARK = Pattern.compile("DGX[ _-]Spark");

    /** Facts of a node that has said nothing. */
    public static final NodeFacts NONE = JsonObject.EMPTY.as(NodeFacts.class);

    /** Reads those of that machine, now. */
    public static NodeFacts of(Machine machine, MachineLinks links) {
        return new NodeFacts(
                SCHEMA,
                machine.version(),
                machine.hostName(),
                LinkFacts.of(links, MachineGpus.of(machine)),
                SystemFacts.of(machine, links.config()),
                NetworkFacts.of(machine, links),
                NcclFacts.of(machine),
                PluginFacts.of(machine, links),
                List.of(),
                List.of());
    }

    /** With the counters of later ones. */
    public NodeFacts withCountersOf(NodeFacts after) {
        return new NodeFacts(
                schema,
                version,
                host,
                local,
                system,
                networks,
                nccl,
                plugin,
                after.local.interfaces(),
                after.local.rdmaPorts());
    }

    public List<Nic> interfaces() {
        return local.interfaces();
    }

    public List<RdmaPort> rdmaPorts() {
        return local.rdmaPorts();
    }

    public List<Link> links() {
        return local.links();
    }

    /** True for a DGX Spark, and for other makers' machines with its board, which have its GPU. */
    public boolean isDgxSpark() {
        return DGX_SPARK.matcher(system.machine().orElse("")).find()
                || local.gpus().stream().anyMatch(gpu -> gpu.sharesMemory() && !gpu.isOfAmd());
    }

    public Optional<Nic> interfaceNamed(String name) {
        return interfaces().stream().filter(nic -> nic.name().equals(name)).findFirst();
    }

    /** The interface that has an address. */
    public Optional<Nic> interfaceOf(InetAddress address) {
        return interfaces().stream()
                .filter(nic ->
                        nic.addresses().stream().anyMatch(each -> each.address().equals(address)))
                .findFirst();
    }

    /** The same by the address's text. */
    public Optional<Nic> interfaceAt(String address) {
        return interfaceOf(InterfaceAddress.parseAddress(address));
    }

    /**
     * Tells whether an interface leads to no other machine, as bridges of containers do; these are links only where
     * there is nothing else. An interface that a file lists is none of these.
     */
    public boolean isInner(String name) {
        return !isListed() && networks.innerInterfaces().contains(name);
    }

    /** Tells whether a file lists this node. */
    public boolean isListed() {
        return plugin.clusterNode().isPresent();
    }

    /** The kernel's reverse-path filter of an interface; 0 where it is not known. */
    public long reversePathFilter(String name) {
        return networks.reversePathFilter().getOrDefault(name, 0L);
    }
}
