package trigon.transport.plugin;

import java.nio.file.Path;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.LinkKind;

/** The contract over two software links at the same time. */
class StripedSoftwareNetPluginTest extends NetPluginContract {

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.striped(directory, LinkKind.SOFTWARE, 1, """
                a: {nics: [{address: 127.1.12.1/24}, {address: 127.1.13.1/24, speedMbps: 2500}]}
                b: {nics: [{address: 127.1.12.2/24}, {address: 127.1.13.2/24}]}
                """);
    }

    @Override
    protected int longestMessage() {
        return 100 << 20;
    }

    @Override
    protected boolean isRendezvous() {
        return true;
    }

    @Override
    protected int queuePairs() {
        return 2;
    }
}
