package trigon.software.memory;

/**
 * The names of registered memory.
 *
 * @param local in work requests of this process
 * @param remote in those of peers
 */
record MemoryKeys(int local, int remote) {}
