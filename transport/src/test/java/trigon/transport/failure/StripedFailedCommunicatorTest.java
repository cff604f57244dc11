package trigon.transport.failure;

import java.nio.file.Path;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.LinkKind;

class StripedFailedCommunicatorTest extends FailedCommunicatorContract {

    @Override
    protected TestCluster cluster(Path directory) {
        return TestCluster.striped(directory, LinkKind.SOFTWARE, 2, """
                a: {nics: [{address: 127.1.15.1/24}]}
                b: {nics: [{address: 127.1.15.2/24}]}
                c: {nics: [{address: 127.1.15.3/24}]}
                """);
    }
}
