/** The command tune: facts of links, and a table of choices that a program's collectives were faster with. */
@NullMarked
package trigon.policy.commands.tune;

import org.jspecify.annotations.NullMarked;
