package trigon.transport;

import java.nio.file.Path;

class LanesQueuePairErrorTest extends QueuePairErrorContract {

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.lanes(directory);
    }
}
