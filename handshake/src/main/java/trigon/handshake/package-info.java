/**
 * How two ends of a link find each other and exchange what their queue pairs need: a {@link
 * trigon.handshake.ListenHandle} that NCCL carries to the connecting side, then one TCP connection over the candidate
 * path itself.
 *
 * <pre>
 *   connecting side                                   listening side
 *   HandshakeClient.connect   -- Hello     --&gt;
 *                             &lt;-- Challenge --   proves to know the secret
 *   proves it as well         -- Offer     --&gt;   OfferHandler.onOffer
 *   OutgoingOffer.answer      &lt;-- Answer    --   the handler's answer
 *   OutgoingOffer.sendReady   -- Ready     --&gt;   IncomingOffer.result
 *   its result                &lt;-- Ready     --
 * </pre>
 *
 * From the Challenge on, every message carries its sender's proof that it knows the connection's secret and agrees on all
 * that was said before; see {@code HandshakeProofs}. Either side may send Reject with a reason instead. One thread, that
 * of the {@link trigon.handshake.HandshakeEventLoop}, serves all connections; no call of this package waits for a peer,
 * and callbacks on that thread must not block.
 */
@NullMarked
package trigon.handshake;

import org.jspecify.annotations.NullMarked;
