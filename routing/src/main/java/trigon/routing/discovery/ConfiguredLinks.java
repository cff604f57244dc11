package trigon.routing.discovery;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import trigon.config.cluster.NicConfig;
import trigon.config.cluster.NodeConfig;
import trigon.config.setting.ConfigException;
import trigon.config.setting.LinkPolicy;
import trigon.routing.LeftOut;
import trigon.routing.LocalLink;
import trigon.routing.discovery.GidSelector.PortAddress;
import trigon.system.InterfaceAddress;
import trigon.system.NearestName;

/** The links that the configuration file lists for this node: exactly those, or an error. */
final class ConfiguredLinks {

    private final LinkPolicy policy;
    private final GidSelector gids;
    private final HostInterfaces interfaces;
    private final List<RdmaPort> ports;
    private final List<LeftOut> leftOut;
    private final List<NodeConfig> nodes;
    private final LinkList links = new LinkList();

    /** Looks among these for what the file lists; the nodes are all that it has. */
    ConfiguredLinks(
            LinkPolicy policy,
            GidSelector gids,
            HostInterfaces interfaces,
            List<RdmaPort> ports,
            List<LeftOut> leftOut,
            List<NodeConfig> nodes) {
        this.nodes = List.copyOf(nodes);
        this.policy = policy;
        this.gids = gids;
        this.interfaces = interfaces;
        this.ports = List.copyOf(ports);
        this.leftOut = leftOut;
    }

    List<LocalLink> find(NodeConfig node) {
        for (int rank = 0; rank < node.nics().size(); rank++) {
            NicConfig nic = node.nics().get(rank);
            requireDevice(nic);
            List<PortAddress> rdma = rdmaAddresses(nic);
            if (policy != LinkPolicy.SOFTWARE) {
                for (PortAddress address : rdma) {
                    links.addRdma(address, rank, nic.speedMbps());
                }
            }
            if (policy != LinkPolicy.RDMA) {
                addSoftware(nic, rdma, rank);
            }
        }
        return links.links();
    }

    private void requireDevice(NicConfig nic) {
        if (nic.device().isEmpty()) {
            return;
        }
        String device = nic.device().get();
        boolean addressWillDo = policy == LinkPolicy.SOFTWARE && nic.address().isPresent();
        if (isRdmaDevice(device) || interfaces.withName(device).isPresent() || addressWillDo) {
            return;
        }
        List<String> names = Stream.concat(
                        ports.stream().map(RdmaPort::deviceName).distinct(),
                        interfaces.interfaces().stream().map(HostInterface::name))
                .toList();
        throw problem(
                nic,
                "there is neither an RDMA device nor an interface of that name"
                        + NearestName.to(device, names)
                                .map(name -> "; did you mean " + name + "?")
                                .orElse(""));
    }

    /** The RDMA ports' addresses that are this NIC's. Insists on one if the NIC is an RDMA device or must be. */
    private List<PortAddress> rdmaAddresses(NicConfig nic) {
        boolean namesRdmaDevice = nic.device().filter(this::isRdmaDevice).isPresent();
        List<LeftOut> reasons = new ArrayList<>();
        List<PortAddress> found = new ArrayList<>();
        for (RdmaPort port : ports) {
            if (!namesRdmaDevice || nic.device().get().equals(port.deviceName())) {
                found.addAll(addresses(nic, port, namesRdmaDevice, reasons));
            }
        }
        boolean required = policy == LinkPolicy.RDMA || (policy == LinkPolicy.AUTO && namesRdmaDevice);
        if (policy == LinkPolicy.AUTO && !required && found.isEmpty()) {
            leftOut.add(new LeftOut(nic.toString(), LeftOut.Cause.softwareOnly(reasons)));
        }
        if (required && found.isEmpty()) {
            throw problem(
                    nic,
                    nic.address()
                                    .map(address -> "no active RDMA port" + (namesRdmaDevice ? " of it" : "")
                                            + " has the address " + InterfaceAddress.text(address.address()))
                                    .orElse("no active RDMA port of it has an IP address")
                            + LeftOut.inBrackets(reasons));
        }
        return found;
    }

    private List<PortAddress> addresses(NicConfig nic, RdmaPort port, boolean namedByUser, List<LeftOut> reasons) {
        List<PortAddress> all = gids.addresses(port, reasons);
        if (nic.device().isPresent() && !namedByUser) {
            String interfaceName = nic.device().get();
            all = all.stream()
                    .filter(each -> each.on().name().equals(interfaces.nameOf(interfaceName)))
                    .toList();
        }
        if (nic.address().isEmpty()) {
            return all;
        }
        InterfaceAddress wanted = nic.address().get();
        List<PortAddress> matching = all.stream()
                .filter(each -> each.address().address().equals(wanted.address()))
                .toList();
        matching.forEach(each -> noteOtherPrefix(nic, each.address(), wanted));
        if (matching.isEmpty() && namedByUser) {
            return gids.addressSaidToBe(port, wanted).stream().toList();
        }
        return matching.stream().map(each -> each.withAddress(wanted)).toList();
    }

    private void addSoftware(NicConfig nic, List<PortAddress> rdma, int rank) {
        if (nic.address().isPresent()) {
            InterfaceAddress address = nic.address().get();
            HostInterface on = interfaces
                    .withAddress(address.address())
                    .orElseThrow(() -> problem(nic, "no interface has the address"));
            boolean elsewhere = nic.device()
                    .flatMap(interfaces::withName)
                    .filter(named -> rdma.isEmpty() && !named.equals(on))
                    .isPresent();
            if (elsewhere) {
                throw problem(nic, "the address is on another interface, " + on.name());
            }
            noteDown(on);
            HostInterfaces.addressOf(on, address.address()).ifPresent(actual -> noteOtherPrefix(nic, actual, address));
            links.addSoftware(on, address, rank, nic.speedMbps());
            return;
        }
        if (!rdma.isEmpty()) {
            rdma.forEach(each -> links.addSoftware(each.on(), each.address(), rank, nic.speedMbps()));
            return;
        }
        HostInterface on = nic.device()
                .flatMap(interfaces::withName)
                .orElseThrow(() -> problem(nic, "its addresses are not known; add its address"));
        noteDown(on);
        List<InterfaceAddress> addresses = on.linkAddresses();
        if (addresses.isEmpty()) {
            throw problem(nic, "the interface has no IP address");
        }
        if (on.isLinkLocalOnly()) {
            leftOut.add(new LeftOut(on.name(), LeftOut.Cause.linkLocalOnly()));
        }
        addresses.forEach(address -> links.addSoftware(on, address, rank, nic.speedMbps()));
    }

    /** It may come up. */
    private void noteDown(HostInterface on) {
        LeftOut note = new LeftOut(on.name(), LeftOut.Cause.downAtInit());
        if (!on.up() && !leftOut.contains(note)) {
            leftOut.add(note);
        }
    }

    private void noteOtherPrefix(NicConfig nic, InterfaceAddress actual, InterfaceAddress wanted) {
        LeftOut note = new LeftOut(nic.toString(), LeftOut.Cause.otherPrefix(actual));
        if (actual.prefixLength() != wanted.prefixLength()
                && !actual.address().isLoopbackAddress()
                && !leftOut.contains(note)) {
            leftOut.add(note);
        }
    }

    private boolean isRdmaDevice(String name) {
        return ports.stream().anyMatch(port -> port.deviceName().equals(name));
    }

    private ConfigException problem(NicConfig nic, String what) {
        List<String> devices = ports.stream().map(RdmaPort::label).toList();
        return new ConfigException("%s: the NIC %s cannot be used (links is %s): %s. RDMA ports: %s. Interfaces: %s%s"
                .formatted(
                        nic.source(),
                        nic,
                        policy,
                        what,
                        Optional.of(String.join(", ", devices))
                                .filter(text -> !text.isEmpty())
                                .orElse("none"),
                        interfaces,
                        nodeWithTheseAddresses()));
    }

    /** The usual reason for an address that is not here: the process takes itself for another node. */
    private String nodeWithTheseAddresses() {
        return nodes.stream()
                .filter(this::hasAllAddressesOf)
                .findFirst()
                .map(node -> ". These are the addresses of node %s: is TRIGON_NODE meant to be %s here?"
                        .formatted(node.name(), node.name()))
                .orElse("");
    }

    private boolean hasAllAddressesOf(NodeConfig node) {
        return !node.nics().isEmpty()
                && node.nics().stream()
                        .allMatch(nic -> nic.address()
                                .filter(address -> interfaces
                                        .withAddress(address.address())
                                        .isPresent())
                                .isPresent());
    }
}
