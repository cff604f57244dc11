/** Processes and cables that go away while a job starts or runs; see {@code docs/reference/failures.md}. */
@NullMarked
package trigon.integration.failover;

import org.jspecify.annotations.NullMarked;
