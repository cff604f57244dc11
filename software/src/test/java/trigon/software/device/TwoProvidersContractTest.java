package trigon.software.device;

import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import trigon.testsupport.verbs.QueuePairSettings;
import trigon.testsupport.verbs.VerbsContract;
import trigon.testsupport.verbs.VerbsFabric;

/** The contract between two providers, each with its own event loop, as two processes have. */
class TwoProvidersContractTest extends VerbsContract {

    private static final SoftwareVerbs ONE = Loopback.provider();
    private static final SoftwareVerbs OTHER = Loopback.provider();

    private static final VerbsFabric FABRIC = new VerbsFabric(
            new VerbsFabric.End(ONE, "soft_a", 1, 0),
            new VerbsFabric.End(OTHER, "soft_b", 1, 0),
            Optional.of(new VerbsFabric.End(OTHER, "soft_c", 1, 0)));

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
        ONE.close();
        OTHER.close();
    }
}
