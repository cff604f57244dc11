package trigon.cluster.facts;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import trigon.cluster.json.JsonObject;
import trigon.system.InterfaceAddress;

/** A network interface, as {@code trigon links --json} shows it. */
public record Nic(JsonObject json) {

    /** One that nothing is known of. */
    public static final Nic NONE = new Nic(JsonObject.EMPTY);

    /** One of which nothing but its name is known. */
    public static Nic named(String name) {
        return new Nic(new JsonObject(Map.of("name", name)));
    }

    public String name() {
        return json.text("name");
    }

    public String state() {
        return json.text("state");
    }

    /** Empty where the interface is down. */
    public Optional<Boolean> carrier() {
        return json.truth("carrier");
    }

    /** Whether something is known to be at the other end of its cable. */
    public boolean hasCarrier() {
        return carrier().orElse(false);
    }

    /** Whether nothing is known to be there. */
    public boolean lacksCarrier() {
        return !carrier().orElse(true);
    }

    /** In Mbit/s; 0 where it is not known. */
    public long speedMbps() {
        return json.whole("speedMbps");
    }

    public String duplex() {
        return json.text("duplex");
    }

    public long mtu() {
        return json.whole("mtu");
    }

    public List<String> addresses() {
        return json.texts("addresses");
    }

    /** Those that somebody, or something, has given it, but for the loopback's. */
    public List<InterfaceAddress> ownAddresses() {
        return addresses().stream()
                .map(InterfaceAddress::parse)
                .filter(each -> !each.isLinkLocal() && !each.address().isLoopbackAddress())
                .toList();
    }

    /** Alternative names, which ip accepts and NCCL does not know. */
    public List<String> otherNames() {
        return json.texts("otherNames");
    }

    /** Its IPv6 addresses that are failed, tentative or deprecated. */
    public List<String> addressesIn(String state) {
        JsonObject states = json.object("addressStates");
        return states.values().keySet().stream()
                .filter(address -> states.text(address).equals(state))
                .sorted()
                .toList();
    }

    /** Whether there is no NIC behind it. */
    public boolean isVirtual() {
        return json.text("driver").isEmpty();
    }

    public Pci pci() {
        return new Pci(json.object("pci"));
    }

    /** The same text for all functions that lead to one cable; empty where it is not known. */
    public Optional<String> cable() {
        return json.find("cable");
    }

    /** Whether packets go through a program or another interface of this machine, as of an overlay, without a cable. */
    public boolean isTunnel() {
        return kind().equals("tunnel");
    }

    /** A bridge, a tunnel, or USB, as to a management controller; empty for others. */
    public String kind() {
        return json.text("kind");
    }

    public Counters counters() {
        return new Counters(json.object("counters"));
    }
}
