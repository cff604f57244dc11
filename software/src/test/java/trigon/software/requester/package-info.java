@NullMarked
package trigon.software.requester;

import org.jspecify.annotations.NullMarked;
