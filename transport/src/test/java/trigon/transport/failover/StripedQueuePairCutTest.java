package trigon.transport.failover;

/** Of connections over two RDMA links at a time. */
class StripedQueuePairCutTest extends RdmaQueuePairCutTest {

    @Override
    String stripes() {
        return "all";
    }
}
