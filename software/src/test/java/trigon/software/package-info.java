@NullMarked
package trigon.software;

import org.jspecify.annotations.NullMarked;
