/**
 * The settings: defaults, one optional YAML file for the whole cluster, environment variables; and where each value
 * came from. This package has the table of them and what other modules get. Each package knows only those before it:
 *
 * <ul>
 *   <li>{@code setting}: what a setting is, and which values there are
 *   <li>{@code cluster}: the nodes, their NICs, and the key that they share
 *   <li>this package
 *   <li>{@code file}: how all of it is read
 * </ul>
 *
 * Everything here is immutable, and safe for all threads.
 */
@NullMarked
package trigon.config;

import org.jspecify.annotations.NullMarked;
