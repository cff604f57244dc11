package trigon.tools.console;

import java.time.Duration;

/** Clock and pauses of commands; tests bring their own. */
public interface Time {

    /** The clock of this machine, and real pauses. */
    Time SYSTEM = new Time() {
        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public void sleep(Duration time) throws InterruptedException {
            Thread.sleep(time);
        }
    };

    /** As {@link System#nanoTime}: compare differences only. */
    long nanoTime();

    /** Returns once that time has passed. */
    void sleep(Duration time) throws InterruptedException;
}
