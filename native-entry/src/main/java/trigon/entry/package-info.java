/**
 * The Java side of the library that NCCL loads, and the composition root.
 *
 * <p>C makes a {@link trigon.entry.PluginEntry} once, and has it make each kind of plugin when NCCL first wants that;
 * for the net plugin, a {@link trigon.nccl.NetPlugin} and upcall stubs, through which every later call of NCCL's
 * arrives on NCCL's own threads. No exception leaves an upcall: that would end the process.
 *
 * <p>Below: {@code warmup}, {@code net}, {@code host} and {@code log}, each of which knows only those that come after
 * it.
 */
@NullMarked
package trigon.entry;

import org.jspecify.annotations.NullMarked;
