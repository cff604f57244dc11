package trigon.routing.hardware;

/** Distance of two PCI functions, in the terms of nvidia-smi and NCCL, the nearest first. */
public enum PciDistance {
    /** Both are below one PCIe switch. */
    PIX,
    /** Below several switches of one root port. */
    PXB,
    /** Through a host bridge, which is the CPU's. */
    PHB,
    /** Through several host bridges of one NUMA node. */
    NODE,
    /** Through several NUMA nodes. */
    SYS;

    /** Tells whether traffic between the two bypasses the CPU; only then NCCL uses a NIC for memory of a GPU. */
    public boolean isBelowTheCpu() {
        return compareTo(PXB) <= 0;
    }
}
