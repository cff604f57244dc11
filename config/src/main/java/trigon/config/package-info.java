/**
 * The settings: defaults, one optional YAML file for the whole cluster, environment variables; and where each value
 * came from.
 */
@NullMarked
package trigon.config;

import org.jspecify.annotations.NullMarked;
