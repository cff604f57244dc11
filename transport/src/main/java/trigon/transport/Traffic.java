package trigon.transport;

import java.util.concurrent.atomic.LongAdder;

/** What went over a link in comms that are closed by now. Thread-safe. */
final class Traffic {

    private final LongAdder messages = new LongAdder();
    private final LongAdder bytes = new LongAdder();

    void add(long messages, long bytes) {
        this.messages.add(messages);
        this.bytes.add(bytes);
    }

    long messages() {
        return messages.sum();
    }

    long bytes() {
        return bytes.sum();
    }
}
