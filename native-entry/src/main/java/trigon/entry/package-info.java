/**
 * The Java side of the library that NCCL loads.
 *
 * <p>C calls {@link trigon.entry.PluginEntry#boot} once; it wires a {@link trigon.transport.NetPlugin} and fills a table
 * of upcall stubs, through which every later call of NCCL's arrives on NCCL's own threads. No exception leaves an
 * upcall: that would end the process.
 */
@NullMarked
package trigon.entry;

import org.jspecify.annotations.NullMarked;
