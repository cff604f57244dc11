package trigon.tools.doctor;

import static trigon.tools.doctor.Finding.command;

import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import trigon.system.InterfaceAddress;
import trigon.tools.console.JsonObject;
import trigon.tools.probe.Observations;
import trigon.tools.probe.Observations.Heard;

/** Cables of which one end has an address and the other has none. Pure. */
final class CableChecks {

    private CableChecks() {}

    static List<Finding> of(Observations seen) {
        Set<InetAddress> taken = seen.facts().values().stream()
                .flatMap(facts -> facts.objects("interfaces").stream())
                .flatMap(nic -> NodeChecks.ownAddresses(nic).stream())
                .map(InterfaceAddress::address)
                .collect(Collectors.toSet());
        Set<String> said = new TreeSet<>();
        List<Finding> findings = new ArrayList<>();
        for (Heard each : seen.heard()) {
            Optional<InterfaceAddress> address = used(seen, each.by(), each.on());
            Optional<JsonObject> other = nic(seen, each.node(), each.from());
            String end = each.node() + " " + each.from();
            if (address.isPresent()
                    && other.filter(nic -> NodeChecks.ownAddresses(nic).isEmpty())
                            .isPresent()
                    && said.add(end)) {
                findings.add(Finding.error(
                        "address-missing",
                        end,
                        "a cable joins %s (%s) and %s, which has no address: it is not used"
                                .formatted(each.by() + " " + each.on(), address.get(), end),
                        "a hello by multicast came from there",
                        command(
                                each.node(),
                                "ip addr add " + FreeAddress.beside(address.get(), taken) + " dev " + each.from())));
            }
        }
        return findings;
    }

    private static Optional<JsonObject> nic(Observations seen, String node, String name) {
        return Optional.ofNullable(seen.facts().get(node)).flatMap(facts -> Observations.interfaceNamed(facts, name));
    }

    /** An address of the interface that a link has; a link-local one goes over any cable, with or without another. */
    private static Optional<InterfaceAddress> used(Observations seen, String node, String name) {
        return Optional.ofNullable(seen.facts().get(node)).stream()
                .flatMap(facts -> facts.objects("links").stream())
                .filter(link -> link.text("interface").equals(name))
                .map(link -> InterfaceAddress.parse(link.text("address")))
                .filter(address -> !address.isLinkLocal())
                .findFirst();
    }
}
