package trigon.transport;

import java.nio.file.Path;
import trigon.transport.testsupport.TestCluster;

/** Over a software link whose long messages other threads move. */
class MoversAllocationTest extends AllocationContract {

    @Override
    protected TestCluster cluster(Path folder) {
        return TestCluster.movers(folder);
    }
}
