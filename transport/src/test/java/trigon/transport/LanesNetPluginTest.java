package trigon.transport;

import java.nio.file.Path;

/** The contract over a software link whose long messages go in pieces. */
class LanesNetPluginTest extends NetPluginContract {

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.lanes(directory);
    }

    @Override
    protected int longestMessage() {
        return 1 << 30;
    }

    @Override
    protected boolean isRendezvous() {
        return false;
    }
}
