/** Protocols by which messages get from isends to irecvs over the paths of a session. */
@NullMarked
package trigon.transport.protocol;

import org.jspecify.annotations.NullMarked;
