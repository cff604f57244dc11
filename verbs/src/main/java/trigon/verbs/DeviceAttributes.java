package trigon.verbs;

/**
 * The abilities of a device ({@code struct ibv_device_attr}, the part that is used here).
 *
 * @param nodeGuid 64-bit GUID of the device
 * @param portCount number of physical ports; ports are numbered from 1
 * @param maxQueuePairWorkRequests greatest depth of a send or receive queue
 * @param maxCompletionQueueEntries greatest size of a completion queue
 * @param maxReadAtomic RDMA READs and atomics a queue pair can have outstanding as target
 */
public record DeviceAttributes(
        long nodeGuid, int portCount, int maxQueuePairWorkRequests, int maxCompletionQueueEntries, int maxReadAtomic) {}
