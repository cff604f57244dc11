package trigon.integration.lab;

import java.nio.file.Path;
import trigon.transport.plugin.NetPluginContract;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.LinkKind;

/** NCCL's calls over SoftRoCE. */
class NetPluginLabTest extends NetPluginContract {

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.of(directory, LinkKind.RDMA, """
                a: {nics: [{device: rxe_ab, address: 10.0.12.1/24}]}
                b: {nics: [{device: rxe_ba, address: 10.0.12.2/24}]}
                """);
    }

    /** More than the device's longest message, 8 MiB. */
    @Override
    protected int longestMessage() {
        return 20 << 20;
    }

    @Override
    protected boolean isRendezvous() {
        return true;
    }
}
