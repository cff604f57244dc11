/** Tests in Java over the libibverbs of the instant device, which a JVM of their own finds. */
@NullMarked
package trigon.integration.instant;

import org.jspecify.annotations.NullMarked;
