package trigon.tools.bench;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import trigon.tools.console.CommandFailure;

/** Programs that run for the current step on this machine. One thread starts them; any thread may stop them. */
final class StepPrograms {

    /** The hidden option of a rank that another node's command has started. */
    static final String UNTIL_END_OF_INPUT = "--until-end-of-input";

    private final Set<Process> running = ConcurrentHashMap.newKeySet();
    private volatile boolean stopped;
    private volatile boolean inputEnded;

    /**
     * Stops the current step, and refuses others, once this input ends. It ends with the command that started this
     * rank, however that comes about.
     */
    void endWith(InputStream input) {
        Thread.ofPlatform().name("trigon-caller").daemon().start(() -> {
            try {
                input.transferTo(OutputStream.nullOutputStream());
            } catch (IOException _) {
                // the end, or as good as that
            }
            inputEnded = true;
            stop();
        });
    }

    /** Begins a step, which is not stopped yet. */
    void begin() {
        stopped = false;
        check();
    }

    /** @throws CommandFailure once the input has ended */
    void check() {
        if (inputEnded) {
            throw new CommandFailure("the standard input has ended, and so has the command that started this rank; if"
                    + " it has not, what --via names has to pass its input on, as \"docker exec -i\" does");
        }
    }

    /** Takes a program that has just been started. */
    void add(Process program) {
        running.add(program);
        if (stopped) {
            program.destroyForcibly();
        }
    }

    /** Kills the programs of this step, and all that it would still start. */
    void stop() {
        stopped = true;
        running.forEach(Process::destroyForcibly);
    }

    /** Tells whether the current step was stopped. */
    boolean isStopped() {
        return stopped;
    }

    /** Kills the programs that still run, of which nothing is wanted any more. */
    void finish() {
        running.forEach(Process::destroyForcibly);
        running.clear();
    }
}
