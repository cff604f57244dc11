package trigon.policy.commands.tune;

import java.util.Optional;
import java.util.stream.LongStream;
import trigon.policy.commands.tune.Sample.Asked;
import trigon.report.model.Collective;

/**
 * A collective of a traced run whose end is known.
 *
 * @param sequence its place among those of its kind in the communicator
 * @param time of its last message, on the run's clock
 */
record Ended(String communicator, long sequence, Asked what, Choice choice, long time) {

    /** Reads one; empty if it had no messages, or the trace does not say what it is. */
    static Optional<Ended> of(Collective from) {
        long time = from.messages().stream()
                .flatMapToLong(message -> LongStream.of(message.sent(), message.received()))
                .max()
                .orElse(0);
        return Asked.of(from)
                .filter(_ -> time != 0)
                .flatMap(what -> Choice.of(from.algorithm(), from.channels())
                        .map(choice -> new Ended(from.communicator(), from.sequence(), what, choice, time)));
    }

    /** Tells whether it is like the one that ended before it in the communicator, and the next of its kind. */
    boolean isLike(Ended before) {
        return sequence == before.sequence + 1 && what.equals(before.what) && choice.equals(before.choice);
    }
}
