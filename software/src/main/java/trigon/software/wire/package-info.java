/**
 * The wire format of two software devices: requests and responses, and before them the exchange of greeting,
 * preamble and acceptance that opens a connection.
 *
 * <ul>
 *   <li><b>Greeting</b>: the first that the accepting side says: protocol, version, and a nonce.
 *   <li><b>Preamble</b>: the connecting side's answer: who it is, which queue pair it wants, and a proof that it knows
 *       the connection's key.
 *   <li><b>Acceptance</b>: the accepting side's proof; from then on the connection is in use.
 *   <li><b>Tail</b>: a byte behind a short message that says nothing, see {@code inbound} of C.
 * </ul>
 */
@NullMarked
package trigon.software.wire;

import org.jspecify.annotations.NullMarked;
