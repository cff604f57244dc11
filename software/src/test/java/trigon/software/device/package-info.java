@NullMarked
package trigon.software.device;

import org.jspecify.annotations.NullMarked;
