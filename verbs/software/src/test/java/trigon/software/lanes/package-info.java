@NullMarked
package trigon.software.lanes;

import org.jspecify.annotations.NullMarked;
