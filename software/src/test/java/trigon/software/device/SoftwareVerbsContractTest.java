package trigon.software.device;

import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import trigon.testsupport.verbs.QueuePairSettings;
import trigon.testsupport.verbs.VerbsContract;
import trigon.testsupport.verbs.VerbsFabric;

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
