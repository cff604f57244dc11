package trigon.software.memory;

import java.util.Set;
import trigon.verbs.AccessFlag;
import trigon.verbs.MemoryRegion;
import trigon.verbs.ProtectionDomain;

/** A protection domain that owns regions, and nothing more. */
final class TestDomain implements ProtectionDomain {

    /** Memory that is never touched. */
    static SoftwareMemoryRegion region(long address, long length) {
        return new MemoryRegions().add(new TestDomain(), address, length, 0, _ -> {});
    }

    @Override
    public MemoryRegion registerMemory(long address, long length, Set<AccessFlag> access) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void close() {
        // has nothing to give back
    }
}
