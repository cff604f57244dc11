/**
 * The functions of libibverbs as Java methods: they take addresses, and say by an errno what went wrong.
 *
 * <p>Grouped by when they are needed, since linking them takes time: {@link trigon.verbs.ffm.call.DeviceCalls} at
 * {@code init}, {@link trigon.verbs.ffm.call.ResourceCalls} for the first connection,
 * {@link trigon.verbs.ffm.call.AsyncEventCalls} after that, {@link trigon.verbs.ffm.call.DataPathCalls} for each
 * request. They keep no state of their own: a thread may call what libibverbs lets it call.
 */
@NullMarked
package trigon.verbs.ffm.call;

import org.jspecify.annotations.NullMarked;
