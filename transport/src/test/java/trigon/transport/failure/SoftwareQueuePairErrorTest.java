package trigon.transport.failure;

import java.nio.file.Path;
import trigon.transport.testsupport.TestCluster;

class SoftwareQueuePairErrorTest extends QueuePairErrorContract {

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """);
    }
}
