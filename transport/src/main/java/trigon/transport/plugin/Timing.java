package trigon.transport.plugin;

import java.util.concurrent.Executor;
import java.util.function.UnaryOperator;
import trigon.system.NanoClock;

/**
 * A plugin's sources of time: the machine's, or a test's.
 *
 * @param clock what handshakes, lifelines and all that waits for a while go by
 * @param halfOpenTimer makes of the timer that waits between two looks for half-open connections the one to use
 */
public record Timing(NanoClock clock, UnaryOperator<Executor> halfOpenTimer) {

    public static final Timing SYSTEM = new Timing(NanoClock.SYSTEM, UnaryOperator.identity());
}
