/** Programs that are odd around the plugin, in child processes; see {@code docs/reference/hosts.md}. */
@NullMarked
package trigon.integration.hosts;

import org.jspecify.annotations.NullMarked;
