@NullMarked
package trigon.software.memory;

import org.jspecify.annotations.NullMarked;
