package trigon.system.kernel;

import java.util.OptionalLong;

/**
 * A route that the kernel takes between two addresses.
 *
 * @param interfaceIndex the interface by which packets leave
 * @param table the routing table that has it; 254 is {@code main}
 * @param isLocal whether packets stay here: the destination is an address of this machine
 * @param hasGateway whether packets go by a gateway
 * @param rule the preference of the rule that leads to the table; empty if it is not known
 */
public record KernelRoute(int interfaceIndex, long table, boolean isLocal, boolean hasGateway, OptionalLong rule) {

    // linux/rtnetlink.h
    private static final long MAIN = 254;

    /** The table and its rule, for example {@code table 52, by rule 5270}, or {@code table main}. */
    public String source() {
        return "table " + (table == MAIN ? "main" : table)
                + (table != MAIN && rule.isPresent() ? ", by rule " + rule.getAsLong() : "");
    }

    KernelRoute byRule(OptionalLong preference) {
        return new KernelRoute(interfaceIndex, table, isLocal, hasGateway, preference);
    }
}
