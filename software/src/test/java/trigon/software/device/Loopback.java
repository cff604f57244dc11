package trigon.software.device;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.List;
import java.util.Optional;
import trigon.software.MoverSettings;
import trigon.software.SoftwareDevice;
import trigon.testsupport.LedgerAssert;
import trigon.testsupport.verbs.QueuePairSettings;
import trigon.testsupport.verbs.VerbsFabric;

/**
 * Software devices on loopback addresses: {@code soft_a} and {@code soft_b} share a subnet, {@code soft_c} does not.
 */
public final class Loopback {

    public static final SoftwareDevice A = device("soft_a", "127.0.12.1");
    public static final SoftwareDevice B = device("soft_b", "127.0.12.2");
    public static final SoftwareDevice C = device("soft_c", "127.0.13.2");

    /** Movers even where there are few processors, so that the tests meet what large machines do. */
    public static final MoverSettings MOVERS = new MoverSettings(2, 5000);

    /** Longer than tests wait: a machine that is busy with something else fails no request. */
    public static final QueuePairSettings PATIENT = QueuePairSettings.DEFAULT.withTimeout(22);

    private Loopback() {}

    public static SoftwareDevice device(String name, String address) {
        return new SoftwareDevice(name, address(address), 24, 25_000, 1);
    }

    public static InetAddress address(String literal) {
        try {
            return InetAddress.getByName(literal);
        } catch (UnknownHostException e) {
            throw new AssertionError(e);
        }
    }

    public static SoftwareVerbs provider() {
        return provider(MOVERS);
    }

    public static SoftwareVerbs provider(MoverSettings movers) {
        return new SoftwareVerbs(List.of(A, B, C), movers);
    }

    /** Both ends of one provider. */
    public static VerbsFabric fabric(SoftwareVerbs provider) {
        return new VerbsFabric(
                new VerbsFabric.End(provider, "soft_a", 1, 0),
                new VerbsFabric.End(provider, "soft_b", 1, 0),
                Optional.empty());
    }

    /** Closes the devices; nothing of them may be open still. */
    public static void closeUnused(SoftwareVerbs... providers) {
        for (SoftwareVerbs each : providers) {
            LedgerAssert.assertNothingOpen(each);
        }
        for (SoftwareVerbs each : providers) {
            each.close();
        }
    }
}
