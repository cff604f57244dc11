package trigon.transport.plugin;

import java.nio.file.Path;
import trigon.transport.testsupport.TestCluster;

class SoftwareNetPluginTest extends NetPluginContract {

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.software(directory, """
                a: {nics: [{address: 127.1.12.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}]}
                """);
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
