package trigon.integration.containers;

/**
 * A bridge network between two nodes, as a cable between them would be. Its addresses are from the range for benchmarks
 * of networks, 198.18.0.0/15, which nobody's network uses.
 */
enum Cable {
    AB(12),
    AC(13),
    BC(23);

    private final int subnet;

    Cable(int subnet) {
        this.subnet = subnet;
    }

    /** In CIDR notation. */
    String subnet() {
        return "198.18." + subnet + ".0/24";
    }

    /** The engine wants one of its own, and takes .1 if it is given none. */
    String bridgeAddress() {
        return "198.18." + subnet + ".254";
    }

    String address(Node node) {
        return "198.18." + subnet + "." + (node.rank() + 1);
    }

    boolean reaches(Node node) {
        return name().contains(node.name());
    }
}
