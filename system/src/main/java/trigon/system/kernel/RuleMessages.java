package trigon.system.kernel;

import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.OptionalLong;
import trigon.system.InterfaceAddress;

/** Rules of policy routing, as a routing socket lists them (linux/fib_rules.h, ip-rule(8)). */
final class RuleMessages {

    static final int NEW_RULE = 32;
    static final int RULE_BYTES = 12;
    static final int FRA_DST = 1;
    static final int FRA_SRC = 2;
    static final int FRA_PRIORITY = 6;
    static final int FRA_TABLE = 15;
    private static final int GET_RULE = 34;

    private RuleMessages() {}

    /** Asks for all rules of the address's family. */
    static byte[] request(InetAddress family) {
        byte[] fixed = new byte[RULE_BYTES];
        fixed[0] = RouteAttributes.family(family);
        return RouteAttributes.request(GET_RULE, RouteAttributes.DUMP, fixed);
    }

    /** The preference of the first rule that leads packets between these addresses to that table. */
    static OptionalLong preference(List<ByteBuffer> datagrams, long table, InetAddress from, InetAddress to) {
        return datagrams.stream()
                .flatMap(datagram -> RouteAttributes.of(datagram, NEW_RULE, RULE_BYTES).stream())
                .filter(rule -> (rule.number(FRA_TABLE).orElse(rule.header(4)) & 0xFFFF_FFFFL) == table)
                .filter(rule -> matches(rule, FRA_SRC, rule.header(2), from))
                .filter(rule -> matches(rule, FRA_DST, rule.header(1), to))
                .mapToLong(rule -> rule.number(FRA_PRIORITY).orElse(0) & 0xFFFF_FFFFL)
                .min();
    }

    private static boolean matches(RouteAttributes rule, int kind, int prefixLength, InetAddress address) {
        InetAddress prefix = NetlinkMessages.of(rule.value(kind).orElse(new byte[0]));
        return prefix == null
                || (prefixLength <= prefix.getAddress().length * Byte.SIZE
                        && new InterfaceAddress(prefix, prefixLength).contains(address));
    }
}
