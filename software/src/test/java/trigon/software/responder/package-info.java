@NullMarked
package trigon.software.responder;

import org.jspecify.annotations.NullMarked;
