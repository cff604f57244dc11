package trigon.nccl;

/**
 * Properties of a device, for NCCL ({@code ncclNetProperties}), independent of the API version.
 *
 * @param name unique among the node's devices
 * @param pciPath sysfs directory of the PCI function, or the empty string where there is none (NULL to NCCL)
 * @param guid unique to the node's device
 * @param pointerSupport or-ed {@code NCCL_PTR_*} bits
 * @param speedMbps what one link carries in one direction, Mbit/s
 * @param port port number
 * @param latencyMicros network latency in microseconds
 * @param maxComms greatest number of comms
 * @param maxReceives greatest number of buffers of one irecv
 * @param maxMessageBytes longest message of point-to-point and collective operations
 */
public record DeviceProperties(
        String name,
        String pciPath,
        long guid,
        int pointerSupport,
        int speedMbps,
        int port,
        float latencyMicros,
        int maxComms,
        int maxReceives,
        long maxMessageBytes) {

    /** {@code NCCL_PTR_HOST}. */
    public static final int POINTER_HOST = 1;

    /** {@code NCCL_PTR_CUDA}: memory of a GPU by its address. */
    public static final int POINTER_CUDA = 2;

    /** {@code NCCL_PTR_DMABUF}: memory of a GPU by a descriptor. */
    public static final int POINTER_DMA_BUF = 4;
}
