/**
 * TCP connections that never block: how one is opened and ended, and who looks after it while nobody polls.
 *
 * <ul>
 *   <li><b>Event loop</b>: the provider's background thread with its selector.
 *   <li><b>Progress</b>: sending and receiving what there is, in C. Whoever has the lock of a queue pair makes progress
 *       for it: the thread that posts or polls, a mover while a long message is under way, or the event loop where
 *       nobody polls.
 *   <li><b>Mover</b>: a thread of C for the long messages of its queue pairs.
 *   <li><b>Armed</b>: a connection whose socket the event loop's selector watches; it is disarmed while the event
 *       loop watches its queue pair instead.
 * </ul>
 */
@NullMarked
package trigon.software.connection;

import org.jspecify.annotations.NullMarked;
