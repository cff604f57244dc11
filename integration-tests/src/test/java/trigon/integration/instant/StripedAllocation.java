package trigon.integration.instant;

import java.nio.file.Path;
import trigon.transport.AllocationContract;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.LinkKind;

/** Over two queue pairs of libibverbs. {@link InstantAllocationIT} runs it, where the device is. */
class StripedAllocation extends AllocationContract {

    @Override
    protected TestCluster cluster(Path folder) {
        return TestCluster.striped(folder, LinkKind.RDMA, 2, InstantAllocationIT.NODES);
    }

    @Override
    protected String receiver() {
        return "a";
    }
}
