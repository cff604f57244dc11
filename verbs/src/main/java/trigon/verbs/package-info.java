/**
 * RDMA verbs in the field's own terms: devices, protection domains, memory regions, completion queues, queue pairs.
 *
 * <p>Two implementations exist: libibverbs ({@code trigon.verbs.ffm}) and a software device over TCP
 * ({@code trigon.software}). Both pass the same contract tests. The control path (everything that creates, modifies or
 * closes) may block and throws {@link trigon.verbs.VerbsException}; the data path (the {@code post} methods of
 * {@link trigon.verbs.QueuePair} and {@link trigon.verbs.CompletionQueue#poll}) takes primitives, returns an errno,
 * never blocks, allocates or throws.
 *
 * @see <a href="https://man7.org/linux/man-pages/man7/rdma_cm.7.html">rdma-core's manual pages, ibv_*(3)</a>
 */
@NullMarked
package trigon.verbs;

import org.jspecify.annotations.NullMarked;
