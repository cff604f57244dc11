package trigon.policy.host;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;

/**
 * Looks at a file when it is there first, and again once it has changed and has then been left alone for an interval.
 * By asking for its times: what other machines write to a shared file system tells nobody.
 *
 * @param path of the file, which may not be there
 * @param interval from one question to the next
 * @param look what looks at the file
 * @param meanwhile done with each question, too
 */
record FileWatch(Path path, Duration interval, Runnable look, Runnable meanwhile) implements Runnable {

    /** Until the thread is interrupted. */
    @Override
    public void run() {
        String looked = state();
        look.run();
        String before = looked;
        while (!Thread.currentThread().isInterrupted()) {
            try {
                Thread.sleep(interval);
            } catch (InterruptedException _) {
                return;
            }
            String now = state();
            if (!now.equals(looked) && now.equals(before)) {
                looked = now;
                look.run();
            }
            before = now;
            meanwhile.run();
        }
    }

    private String state() {
        try {
            BasicFileAttributes attributes = Files.readAttributes(path, BasicFileAttributes.class);
            return attributes.lastModifiedTime() + " " + attributes.size() + " " + attributes.fileKey();
        } catch (IOException e) {
            return "none";
        }
    }
}
