/** Attackers on the cables of a running job; see {@code docs/reference/security.md}. */
@NullMarked
package trigon.integration.security;

import org.jspecify.annotations.NullMarked;
