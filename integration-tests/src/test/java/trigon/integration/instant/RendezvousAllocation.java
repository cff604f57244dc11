package trigon.integration.instant;

import java.nio.file.Path;
import trigon.transport.AllocationContract;
import trigon.transport.testsupport.TestCluster;
import trigon.verbs.LinkKind;

/** Over one queue pair of libibverbs. {@link InstantAllocationIT} runs it, where the device is. */
class RendezvousAllocation extends AllocationContract {

    @Override
    protected TestCluster cluster(Path folder) {
        return TestCluster.of(folder, LinkKind.RDMA, InstantAllocationIT.NODES);
    }

    @Override
    protected String receiver() {
        return "a";
    }
}
