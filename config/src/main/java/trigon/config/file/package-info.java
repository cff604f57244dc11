/**
 * The reading of settings: the YAML file, whose errors name line, key and rule, and the environment, which goes
 * before it.
 *
 * <p>{@link trigon.config.file.ConfigLoader} is the way in. It keeps nothing, and reads on the thread that calls it.
 */
@NullMarked
package trigon.config.file;

import org.jspecify.annotations.NullMarked;
