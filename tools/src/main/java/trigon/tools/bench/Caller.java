package trigon.tools.bench;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import trigon.tools.console.CommandFailure;

/**
 * Who has started a rank from another node. It holds this one's standard input, which ends when it does, however that
 * comes about.
 */
final class Caller {

    /** The hidden option of a rank that has one. */
    static final String OPTION = "--until-end-of-input";

    private final InputStream input;
    private volatile boolean gone;

    Caller(InputStream input) {
        this.input = input;
    }

    /** Has a thread of its own do this once the caller has gone. */
    void watch(Runnable atEnd) {
        Thread.ofPlatform().name("trigon-caller").daemon().start(() -> {
            try {
                input.transferTo(OutputStream.nullOutputStream());
            } catch (IOException _) {
                // the end, or as good as that
            }
            gone = true;
            atEnd.run();
        });
    }

    /** @throws CommandFailure once the caller has gone */
    void check() {
        if (!gone) {
            return;
        }
        throw new CommandFailure("the standard input has ended, and so has the command that started this rank; if it"
                + " has not, what --via names has to pass its input on, as \"docker exec -i\" does");
    }
}
