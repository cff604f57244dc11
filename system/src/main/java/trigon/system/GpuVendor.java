package trigon.system;

/** Makers of GPUs whose libraries for collectives load network plugins of one kind. */
public enum GpuVendor {
    /** The maker of NCCL. */
    NVIDIA(0x10de, "NCCL"),

    /** The maker of RCCL, which has NCCL's interfaces. */
    AMD(0x1002, "RCCL");

    private final int pciNumber;
    private final String library;

    GpuVendor(int pciNumber, String library) {
        this.pciNumber = pciNumber;
        this.library = library;
    }

    /**
     * The vendor with that number.
     *
     * @throws IllegalArgumentException if there is none
     */
    public static GpuVendor ofPciNumber(long number) {
        for (GpuVendor each : values()) {
            if (each.pciNumber == number) {
                return each;
            }
        }
        throw new IllegalArgumentException("no maker of GPUs has the number " + number);
    }

    /** The vendor's number in its PCI functions. */
    public int pciNumber() {
        return pciNumber;
    }

    /** Name of its library for collectives. */
    public String library() {
        return library;
    }
}
