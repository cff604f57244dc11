/**
 * The structs of libibverbs in native memory: sizes and offsets, work requests that are written once and then changed
 * in a few fields, and attributes. {@link trigon.verbs.ffm.struct.LayoutCheck} compares what is written by hand with
 * jextract's output.
 *
 * <p>What a queue pair's requests are written in belongs to the one thread that posts; the memory they come from,
 * {@link trigon.verbs.ffm.struct.WorkRequestMemory}, is for any thread.
 */
@NullMarked
package trigon.verbs.ffm.struct;

import org.jspecify.annotations.NullMarked;
