@NullMarked
package trigon.software.wire;

import org.jspecify.annotations.NullMarked;
