package trigon.integration.lab;

import java.nio.file.Path;
import trigon.transport.failure.QueuePairErrorContract;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.LinkKind;

/** Queue pairs of SoftRoCE that fail with nothing posted. */
class QueuePairErrorLabTest extends QueuePairErrorContract {

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.of(directory, LinkKind.RDMA, """
                a: {nics: [{device: rxe_ab, address: 10.0.12.1/24}]}
                b: {nics: [{device: rxe_ba, address: 10.0.12.2/24}]}
                """);
    }
}
