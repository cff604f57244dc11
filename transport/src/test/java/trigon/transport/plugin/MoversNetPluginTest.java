package trigon.transport.plugin;

import java.nio.file.Path;
import trigon.transport.testsupport.TestCluster;

/** The contract over a software link whose long messages other threads move. */
class MoversNetPluginTest extends NetPluginContract {

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.movers(directory);
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
