package trigon.routing.discovery;

import java.util.List;
import java.util.stream.Stream;
import trigon.routing.LinkUse;

/** The interfaces that NCCL's bootstrap is set to use, as NCCL reads {@code NCCL_SOCKET_IFNAME}. */
public final class BootstrapInterfaces {

    /** NCCL's environment variable for the interfaces of its own connections. */
    public static final String VARIABLE = "NCCL_SOCKET_IFNAME";

    private BootstrapInterfaces() {}

    /**
     * The interfaces, with those marked that the variable names: prefixes of names, or names after {@code =}. None is
     * marked where it names those to leave out ({@code ^}), or where it names all that have an address: then there is
     * no other network to prefer.
     *
     * @param value of the variable; empty if it is not set
     */
    public static HostInterfaces mark(HostInterfaces interfaces, String value) {
        if (value.isEmpty() || value.startsWith("^")) {
            return interfaces;
        }
        boolean exact = value.startsWith("=");
        List<String> names = Stream.of(value.substring(exact ? 1 : 0).split(",", -1))
                .map(name -> name.replaceFirst(":.*", ""))
                .filter(name -> !name.isEmpty())
                .toList();
        boolean leavesOthers = interfaces.interfaces().stream()
                .anyMatch(each -> each.use() == LinkUse.DATA
                        && !each.loopback()
                        && !each.usableAddresses().isEmpty()
                        && !isNamed(each, names, exact));
        return leavesOthers
                ? interfaces.map(each -> isNamed(each, names, exact) ? each.forBootstrap() : each)
                : interfaces;
    }

    private static boolean isNamed(HostInterface each, List<String> names, boolean exact) {
        return names.stream()
                .anyMatch(name -> exact ? each.name().equals(name) : each.name().startsWith(name));
    }
}
