package trigon.integration.lab;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import trigon.integration.onesided.OneSidedContract;
import trigon.transport.testsupport.TestCluster;
import trigon.transport.testsupport.TestNode;
import trigon.verbs.LinkKind;

/**
 * On SoftRoCE, where each node reaches each other one by another device. Processors are emulated: what is short
 * elsewhere takes minutes.
 */
@Timeout(600)
class OneSidedLabTest extends OneSidedContract {

    @Override
    protected List<TestNode> nodes(Path directory) {
        TestCluster cluster = TestCluster.patient(directory, LinkKind.RDMA, """
                a: {nics: [{device: rxe_ab, address: 10.0.12.1/24}, {device: rxe_ac, address: 10.0.13.1/24}]}
                b: {nics: [{device: rxe_ba, address: 10.0.12.2/24}, {device: rxe_bc, address: 10.0.23.2/24}]}
                c: {nics: [{device: rxe_ca, address: 10.0.13.3/24}, {device: rxe_cb, address: 10.0.23.3/24}]}
                """);
        return Stream.of("a", "b", "c").map(cluster::open).toList();
    }
}
