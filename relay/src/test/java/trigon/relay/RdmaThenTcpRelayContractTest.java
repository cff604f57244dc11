package trigon.relay;

import org.junit.jupiter.api.AfterAll;
import trigon.testsupport.verbs.QueuePairSettings;
import trigon.testsupport.verbs.VerbsContract;
import trigon.testsupport.verbs.VerbsFabric;

/** The contract of the verbs through a relay: RDMA carries the first hop, and TCP the second. */
class RdmaThenTcpRelayContractTest extends VerbsContract {

    private static final RelayedLine LINE = new RelayedLine(RelayedLine.A, RelayedLine.B_TO_A);

    @Override
    public VerbsFabric fabric() {
        return LINE.fabric();
    }

    @Override
    public QueuePairSettings settings() {
        return QueuePairSettings.DEFAULT.withTimeout(22);
    }

    @AfterAll
    static void close() {
        LINE.close();
    }
}
