/** Verified programs as JVM bytecode: each becomes a hidden class whose maps and addresses are constants. */
@NullMarked
package trigon.policy.compile;

import org.jspecify.annotations.NullMarked;
