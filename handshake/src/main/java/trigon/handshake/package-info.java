/**
 * The handshake by which two ends of a link find each other and exchange what their queue pairs need: a {@link
 * trigon.handshake.message.ListenHandle} that NCCL carries to the connecting side, then one TCP connection over the
 * candidate path itself. This package has what the transport gets and gives: offers, their answers, and the lifeline.
 * Each package knows only those before it in this list:
 *
 * <ul>
 *   <li>{@code message}: what is said, as values and as bytes, and its proofs
 *   <li>this package
 *   <li>{@code lifeline}: the TCP connection that both sides have in common, and its thread
 *   <li>{@code connect} and {@code listen}: one side each; neither knows the other
 * </ul>
 *
 * <pre>
 *   connecting side                                   listening side
 *   HandshakeClient.connect   -- Hello     --&gt;
 *                             &lt;-- Challenge --   proves to know the secret, behind fillers
 *   proves it as well         -- Alive     --&gt;   behind fillers
 *                             &lt;-- Alive     --   frames of the full size arrive both ways
 *                             -- Offer     --&gt;   OfferHandler.onOffer
 *   OutgoingOffer.answer      &lt;-- Answer    --   the handler's answer
 *   OutgoingOffer.sendReady   -- Ready     --&gt;   IncomingOffer.result
 *   its result                &lt;-- Ready     --
 * </pre>
 *
 * A further handshake on a TCP connection whose peer has proven itself begins with its Offer; the first one's Hello and
 * Challenge count as said there, too.
 *
 * <p>From the Challenge on, every message carries its sender's proof that it knows the connection's secret and agrees
 * on all that was said before; see {@code HandshakeProofs}. Either side may send Reject with a reason instead, and the
 * listening one NotNow. One thread, that of the {@link trigon.handshake.lifeline.HandshakeEventLoop}, serves all
 * connections; no call of this package waits for a peer, and callbacks on that thread must not block.
 *
 * <p>Words that this package uses as terms:
 *
 * <ul>
 *   <li>a <em>connection</em> is what NCCL asks for: one direction of messages between two processes. It has one queue
 *       pair at each end, or several, which are its <em>stripes</em>; each is brought up by a handshake of its own
 *   <li>the connecting side <em>offers</em> a queue pair, the listening side <em>answers</em> with its own
 *   <li>an <em>attempt</em> is one try to bring all of a connection's stripes up; a new one ends the former
 *   <li>a TCP connection is <em>unauthenticated</em> until its peer has proven that it knows the connection's secret
 *   <li>the <em>lifeline</em> is the handshake's TCP connection after the handshake: open for as long as the queue pair
 *       is in use, it tells whether the peer is still there
 *   <li>a <em>beat</em> is the sign of life that each end gives on it once a second, a <em>farewell</em> the last word
 *       before it is closed in good order
 * </ul>
 */
@NullMarked
package trigon.handshake;

import org.jspecify.annotations.NullMarked;
