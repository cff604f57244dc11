package trigon.software.memory;

/**
 * What registered memory is named by.
 *
 * @param local in work requests of this process
 * @param remote in those of peers
 */
record MemoryKeys(int local, int remote) {}
