package trigon.transport;

import java.nio.file.Path;

class SoftwareQueuePairErrorTest extends QueuePairErrorContract {

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """);
    }
}
