package trigon.tools.demo;

/**
 * One end of a cable, as a cluster file has it.
 *
 * @param device of RDMA; empty for TCP
 * @param address of IPv4, with its prefix
 */
record Nic(String device, String address) {

    /** A subnet for each pair of nodes, in which the last number is the node's. */
    static Nic of(DemoLinks links, char node, char peer) {
        int own = node - 'a' + 1;
        int other = peer - 'a' + 1;
        int subnet = 10 * Math.min(own, other) + Math.max(own, other);
        String name = "_" + node + peer;
        return switch (links) {
            case RDMA -> new Nic("rxe" + name, "10.0.%d.%d/24".formatted(subnet, own));
            case SIMULATED -> new Nic("sim" + name, "127.0.%d.%d/24".formatted(subnet, own));
            case AUTO, SOFTWARE -> new Nic("", "127.0.%d.%d/24".formatted(subnet, own));
        };
    }

    /** An entry of the list of NICs. */
    @Override
    public String toString() {
        return device.isEmpty() ? "{address: " + address + "}" : "{device: " + device + ", address: " + address + "}";
    }
}
