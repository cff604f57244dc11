@NullMarked
package trigon.hop;

import org.jspecify.annotations.NullMarked;
