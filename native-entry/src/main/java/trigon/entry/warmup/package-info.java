/**
 * Messages before NCCL's first: a plugin on the loopback device is connected to itself and used, so that NCCL's calls
 * find classes that are loaded and code that is compiled.
 */
@NullMarked
package trigon.entry.warmup;

import org.jspecify.annotations.NullMarked;
