/**
 * Registered memory, by its keys; how payloads get into it and out of it; and native memory for the device's own
 * buffers.
 */
@NullMarked
package trigon.software.memory;

import org.jspecify.annotations.NullMarked;
