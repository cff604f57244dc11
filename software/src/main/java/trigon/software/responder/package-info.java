/**
 * The half of a queue pair that carries out the peer's requests and answers them: the responder of the InfiniBand
 * specification.
 */
@NullMarked
package trigon.software.responder;

import org.jspecify.annotations.NullMarked;
