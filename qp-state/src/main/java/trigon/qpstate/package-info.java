/**
 * The life cycle of a reliable connected queue pair: which states there are, which transitions are legal, and which
 * attributes each of them needs.
 *
 * <p>{@link trigon.qpstate.QueuePairLifecycle} is the entry: whoever owns a {@link trigon.verbs.QueuePair} changes its
 * state through one lifecycle only. Everything here is control path.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_modify_qp.3.html">ibv_modify_qp(3)</a>
 */
@NullMarked
package trigon.qpstate;

import org.jspecify.annotations.NullMarked;
