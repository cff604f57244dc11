/** The requests of a session, in memory that the entry library shares. */
@NullMarked
package trigon.transport.request;

import org.jspecify.annotations.NullMarked;
