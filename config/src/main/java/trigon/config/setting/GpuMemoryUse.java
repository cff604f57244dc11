package trigon.config.setting;

/** Use of GPU memory: NCCL may hand it to NICs, instead of passing data through the host's. */
public enum GpuMemoryUse {
    /** It does not, and sees one device for all links. */
    OFF,
    /** It does where all links are RDMA and all NICs reach such memory: it decides before it knows the peer. */
    AUTO,
    /** It does over RDMA links. Where a NIC does not reach such memory, there is no start. */
    ON
}
