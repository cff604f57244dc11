package trigon.routing.discovery;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Predicate;
import trigon.config.setting.LinkPolicy;
import trigon.routing.LeftOut;
import trigon.routing.LocalLink;
import trigon.routing.discovery.GidSelector.PortAddress;
import trigon.system.InterfaceAddress;

/**
 * The links without a list from the user: all RDMA ports with an IP address, else all interfaces, those that are down
 * later, and those that have a link-local address only last. The fastest have the best rank: where all nodes share a
 * slow network besides their cables, the cables go first.
 */
final class AutomaticLinks {

    private final LinkPolicy policy;
    private final GidSelector gids;
    private final HostInterfaces interfaces;
    private final List<LeftOut> leftOut;
    private final LinkList links = new LinkList();

    AutomaticLinks(LinkPolicy policy, GidSelector gids, HostInterfaces interfaces, List<LeftOut> leftOut) {
        this.policy = policy;
        this.gids = gids;
        this.interfaces = interfaces;
        this.leftOut = leftOut;
    }

    List<LocalLink> find(List<RdmaPort> ports) {
        if (policy != LinkPolicy.SOFTWARE) {
            addRdma(ports);
        }
        if (policy != LinkPolicy.RDMA) {
            if (links.links().isEmpty()) {
                addInterfaces();
            } else {
                addSoftwareBesideRdma();
            }
        }
        return links.links();
    }

    private void addRdma(List<RdmaPort> ports) {
        List<RdmaPort> sorted = ports.stream()
                .sorted(Comparator.comparingInt(
                                (RdmaPort port) -> -port.attributes().speedMbps())
                        .thenComparing(RdmaPort::deviceName)
                        .thenComparingInt(RdmaPort::port))
                .toList();
        for (int rank = 0; rank < sorted.size(); rank++) {
            for (PortAddress address : gids.addresses(sorted.get(rank), leftOut)) {
                links.addRdma(address, rank);
            }
        }
    }

    /** The RDMA links' addresses as software links, for peers that have no RDMA there. */
    private void addSoftwareBesideRdma() {
        List<LocalLink> rdma = links.links();
        for (LocalLink link : rdma) {
            interfaces
                    .withAddress(link.address().address())
                    .ifPresent(on -> links.addSoftware(on, link.address(), link.rank(), speedBeside(link, on)));
        }
        for (HostInterface each : interfaces.interfaces()) {
            boolean used = rdma.stream().anyMatch(link -> link.interfaceName().equals(each.name()));
            if (!used) {
                leftOut.add(new LeftOut(each.name(), LeftOut.Cause.noRdmaInterface()));
            }
        }
    }

    /** No faster than the RDMA device's own, which goes first where both lead to the peer. */
    private static OptionalInt speedBeside(LocalLink rdma, HostInterface on) {
        return OptionalInt.of(on.speedMbps() > 0 ? Math.min(on.speedMbps(), rdma.speedMbps()) : rdma.speedMbps());
    }

    private void addInterfaces() {
        List<HostInterface> usable = new ArrayList<>();
        List<HostInterface> fastestFirst = interfaces.interfaces().stream()
                .sorted(Comparator.comparing(HostInterface::isLinkLocalOnly)
                        .thenComparing(each -> !each.up())
                        .thenComparingInt((HostInterface each) -> -each.use().countedMbps(each.speedMbps())))
                .toList();
        // as NCCL chooses its socket interfaces: the loopback only if there is nothing else at all
        Predicate<HostInterface> isInner = each -> interfaces.inner().networks().contains(each.name());
        Predicate<HostInterface> isOrdinary =
                isInner.or(HostInterface::loopback).negate();
        for (HostInterface each : fastestFirst) {
            boolean mayComeUp = isOrdinary.test(each) && !addresses(each).isEmpty();
            if (!each.up() && !mayComeUp) {
                leftOut.add(new LeftOut(each.name(), LeftOut.Cause.interfaceDown()));
            } else if (addresses(each).isEmpty()) {
                leftOut.add(new LeftOut(each.name(), LeftOut.Cause.noAddressOfInterface()));
            } else {
                usable.add(each);
            }
        }
        for (Predicate<HostInterface> wanted : List.of(isOrdinary, isInner, HostInterface::loopback)) {
            if (usable.stream().anyMatch(wanted)) {
                addInterfaces(usable, wanted);
                return;
            }
        }
    }

    private void addInterfaces(List<HostInterface> usable, Predicate<HostInterface> wanted) {
        int rank = 0;
        for (HostInterface each : usable) {
            if (!wanted.test(each)) {
                leftOut.add(new LeftOut(each.name(), LeftOut.Cause.betterInterfaces()));
                continue;
            }
            if (!each.up()) {
                leftOut.add(new LeftOut(each.name(), LeftOut.Cause.downAtInit()));
            }
            if (each.isLinkLocalOnly()) {
                leftOut.add(new LeftOut(each.name(), LeftOut.Cause.linkLocalOnly()));
            }
            add(each, rank, false);
            rank++;
        }
        for (HostInterface each : usable) { // behind all others, and the first to go where a handle is full
            if (wanted.test(each)) {
                add(each, rank, true);
                rank++;
            }
        }
    }

    private void add(HostInterface each, int rank, boolean deprecated) {
        addresses(each).stream()
                .filter(address -> each.isDeprecated(address) == deprecated)
                .forEach(address -> links.addSoftware(each, address, rank));
    }

    private List<InterfaceAddress> addresses(HostInterface of) {
        InnerInterfaces inner = interfaces.inner();
        boolean inside = inner.networks().contains(of.name()) || inner.cables().contains(of.name());
        if (inside) {
            return of.isLinkLocalOnly() ? List.of() : of.usableAddresses();
        }
        return of.linkAddresses();
    }
}
