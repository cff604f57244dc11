/**
 * The agreement of the two ends of a session on what has arrived when its paths fail: two state machines without I/O,
 * threads or clocks. Whoever uses them does what {@code step} says and tells them what came of it.
 * <pre> sender                                             receiver broken, or suspected: PROBE   -- greeting  --&gt;
 * challenged: FENCE, fenced     &lt;-- challenge -- challenged: OFFER             -- epoch, S, C --&gt;  offered:
 * FENCE, fenced: ANSWER answered: READY               &lt;-- epoch, R --- -- ready ------&gt;    ready: GO_ON
 * confirmed: GO_ON              &lt;-- ready ------ </pre>
 *
 * <p>S is the number of messages that the sender has begun, C of those that its devices have confirmed, R of those that
 * are complete at the receiver, each in the messages' order. Once both ends are fenced, C &lt;= R &lt;= S, and messages
 * from R on are sent again, whole. An <em>epoch</em> is a set of paths; each attempt to agree on a new one has a number
 * of its own, greater than those before.
 */
@NullMarked
package trigon.transport.resume;

import org.jspecify.annotations.NullMarked;
