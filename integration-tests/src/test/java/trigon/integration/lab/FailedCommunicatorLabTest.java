package trigon.integration.lab;

import java.nio.file.Path;
import trigon.transport.failure.FailedCommunicatorContract;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.LinkKind;

/** A communicator that fails on one node of a triangle of SoftRoCE devices. */
class FailedCommunicatorLabTest extends FailedCommunicatorContract {

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.of(directory, LinkKind.RDMA, """
                a: {nics: [{device: rxe_ab, address: 10.0.12.1/24}, {device: rxe_ac, address: 10.0.13.1/24}]}
                b: {nics: [{device: rxe_ba, address: 10.0.12.2/24}, {device: rxe_bc, address: 10.0.23.2/24}]}
                c: {nics: [{device: rxe_ca, address: 10.0.13.3/24}, {device: rxe_cb, address: 10.0.23.3/24}]}
                """);
    }
}
