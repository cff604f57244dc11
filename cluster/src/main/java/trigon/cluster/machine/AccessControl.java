package trigon.cluster.machine;

import java.util.Locale;

/** Effect of PCIe's access control services (ACS) on traffic between two functions below a switch. */
public enum AccessControl {
    /** They let it pass. */
    OFF,
    /** Only root may read it. */
    UNKNOWN,
    /** They send it through the CPU, which costs speed, or through an IOMMU that refuses it. */
    REDIRECTS;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
