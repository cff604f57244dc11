package trigon.integration.lab;

import java.nio.file.Path;
import trigon.transport.plugin.NetPluginContract;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.LinkKind;

/** NCCL's calls over two SoftRoCE links at the same time, the default there: b has the ends of both of a's cables. */
class StripedNetPluginLabTest extends NetPluginContract {

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.of(directory, LinkKind.RDMA, """
                a: {nics: [{device: rxe_ab, address: 10.0.12.1/24}, {device: rxe_ac, address: 10.0.13.1/24}]}
                b: {nics: [{device: rxe_ba, address: 10.0.12.2/24}, {device: rxe_ca, address: 10.0.13.3/24}]}
                """);
    }

    /** So that each part is more than the device's longest message, 8 MiB. */
    @Override
    protected int longestMessage() {
        return 20 << 20;
    }

    @Override
    protected boolean isRendezvous() {
        return true;
    }

    @Override
    protected int queuePairs() {
        return 2;
    }
}
