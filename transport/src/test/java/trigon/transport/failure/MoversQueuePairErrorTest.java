package trigon.transport.failure;

import java.nio.file.Path;
import trigon.transport.testsupport.TestCluster;

class MoversQueuePairErrorTest extends QueuePairErrorContract {

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.movers(directory);
    }
}
