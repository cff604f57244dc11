/**
 * libibverbs behind the verbs API, by way of {@code java.lang.foreign}. {@link trigon.verbs.ffm.Libibverbs} is the way
 * in; all else is private to the module. Here are the objects of the API, {@code call} has the library's functions, and
 * {@code struct} what is laid out in memory for them.
 *
 * <p>The control path calls the functions of the library through jextract's bindings
 * ({@code trigon.verbs.ffm.generated}). The data path calls the function pointers in {@code ibv_context.ops}, since
 * {@code ibv_post_send}, {@code ibv_post_recv} and {@code ibv_poll_cq} are inline functions without a symbol.
 *
 * <p>The interfaces in {@link trigon.verbs} say which thread may call what.
 *
 * @see <a href="https://github.com/linux-rdma/rdma-core/blob/master/libibverbs/verbs.h">verbs.h</a>
 */
@NullMarked
package trigon.verbs.ffm;

import org.jspecify.annotations.NullMarked;
