@NullMarked
package trigon.stream.hop;

import org.jspecify.annotations.NullMarked;
