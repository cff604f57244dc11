package trigon.transport;

import java.nio.file.Path;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.LinkKind;

/** Over two software links at the same time. */
class StripedSoftwareAllocationTest extends AllocationContract {

    @Override
    protected TestCluster cluster(Path folder) {
        return TestCluster.striped(folder, LinkKind.SOFTWARE, 1, """
                a: {nics: [{address: 127.1.12.1/24}, {address: 127.1.13.1/24}]}
                b: {nics: [{address: 127.1.12.2/24}, {address: 127.1.13.2/24}]}
                """);
    }

    @Override
    protected int bytesOfALongMessage() {
        return 2 * SoftwareAllocationTest.MESSAGE_BYTES;
    }
}
