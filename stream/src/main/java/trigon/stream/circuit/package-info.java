/**
 * The opening of a TCP connection through relays.
 *
 * <pre>
 * who wants it                                   relay
 *                                        &lt;--     greeting   version, nonce
 * request   rest of the route, proofs   --&gt;     a proof that it can check? else refused
 *                                                connects to the next relay, or to the end
 *                                        &lt;--     reply      opened, or why not
 * bytes                                  &lt;-&gt;     bytes
 * </pre>
 *
 * <p>Numbers are in network order. Nothing but the request is said before the reply, so a relay never holds bytes for
 * an end that may not exist.
 */
@NullMarked
package trigon.stream.circuit;

import org.jspecify.annotations.NullMarked;
