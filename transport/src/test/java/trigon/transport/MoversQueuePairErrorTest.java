package trigon.transport;

import java.nio.file.Path;

class MoversQueuePairErrorTest extends QueuePairErrorContract {

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.movers(directory);
    }
}
