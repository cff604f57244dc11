package trigon.system.kernel;

import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * 16 bits of the network namespace that this process is in. Only there an address that this process and a peer have is
 * one and the same; containers of different nodes often have equal addresses.
 */
public final class OwnHost {

    private static final Logger log = LoggerFactory.getLogger(OwnHost.class);
    private static final int BITS = 0xFFFF;
    private static final int NUMBER = find();

    private OwnHost() {}

    private static int find() {
        try {
            return (int) NodeNumber.of("") & BITS;
        } catch (IOException e) {
            log.debug("this network namespace is not known", e);
            return 0;
        }
    }

    /** The number that peers are told; 0 if it is not known. */
    public static int number() {
        return NUMBER;
    }

    /** True unless a peer with that number is known to be in another network namespace. */
    public static boolean mayBe(int other) {
        return other == 0 || number() == 0 || other == number();
    }
}
