package trigon.software.device;

import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import trigon.testsupport.QueuePairSettings;
import trigon.testsupport.VerbsContract;
import trigon.testsupport.VerbsFabric;

/** The contract between two addresses of one provider, so that one event loop plays both ends. */
class SoftwareVerbsContractTest extends VerbsContract {

    private static final SoftwareVerbs PROVIDER = Loopback.provider();

    private static final VerbsFabric FABRIC = new VerbsFabric(
            new VerbsFabric.End(PROVIDER, "soft_a", 1, 0),
            new VerbsFabric.End(PROVIDER, "soft_b", 1, 0),
            Optional.of(new VerbsFabric.End(PROVIDER, "soft_c", 1, 0)));

    @Override
    public VerbsFabric fabric() {
        return FABRIC;
    }

    @Override
    public QueuePairSettings settings() {
        return Loopback.PATIENT;
    }

    @AfterAll
    static void close() {
        PROVIDER.close();
    }
}
