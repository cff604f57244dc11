package trigon.transport.failure;

import java.nio.file.Path;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.LinkKind;

class StripedQueuePairErrorTest extends QueuePairErrorContract {

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.striped(directory, LinkKind.SOFTWARE, 2, """
                a: {nics: [{address: 127.1.12.1/24}, {address: 127.1.13.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}, {address: 127.1.13.2/24}]}
                """);
    }
}
