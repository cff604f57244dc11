/** Nodes, connections, devices and logs of the transport's tests, and of those elsewhere that run a whole transport. */
@NullMarked
package trigon.transport.testsupport;

import org.jspecify.annotations.NullMarked;
