package trigon.integration.lab;

import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import trigon.transport.ChurnContract;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.LinkKind;

/** Connections and communicators over SoftRoCE; fewer than on software links, as the machine is emulated. */
class ChurnLabTest extends ChurnContract {

    private static final int CYCLES = Integer.getInteger("trigon.churn.cycles", 150);
    private static final int COMMUNICATORS = Integer.getInteger("trigon.churn.communicators", 40);

    @TempDir
    Path directory;

    private TestCluster cluster;

    @BeforeEach
    void makeCluster() {
        cluster = TestCluster.of(directory, LinkKind.RDMA, """
                a: {nics: [{device: rxe_ab, address: 10.0.12.1/24}]}
                b: {nics: [{device: rxe_ba, address: 10.0.12.2/24}]}
                """);
    }

    @Test
    void connectionsLeaveNothing() throws InterruptedException {
        cyclesLeaveNothing(cluster, CYCLES);
    }

    @Test
    void communicatorsLeaveNothing() {
        communicatorsLeaveNothing(cluster, COMMUNICATORS);
    }
}
