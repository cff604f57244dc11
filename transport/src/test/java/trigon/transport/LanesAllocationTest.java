package trigon.transport;

import java.nio.file.Path;

/** Over a software link whose long messages go in pieces, and so not on the posting thread. */
class LanesAllocationTest extends AllocationContract {

    @Override
    protected TestCluster cluster(Path folder) {
        return TestCluster.lanes(folder);
    }
}
