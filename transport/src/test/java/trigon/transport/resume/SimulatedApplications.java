package trigon.transport.resume;

import java.util.Arrays;

/**
 * The applications at both ends of a simulated session. Each uses its buffers again as soon as it is told that a
 * message is done, which a sender with copies is as soon as it is posted.
 *
 * <p>Throws an {@link AssertionError} as soon as a message is lost, doubled or has wrong bytes.
 */
final class SimulatedApplications {

    final int messages;
    private final int slots;
    private final boolean copies;
    private final Mutation mutation;

    // the sender's: begun, confirmed, told; and its buffers
    int begun;
    int confirmed;
    int toldSent;
    private int[] buffers;

    /** What a copy of a message holds, by message. */
    private int[] copied;

    // the receiver's: asked for, complete, told
    int asked;
    int complete;
    private int toldReceived;

    /**
     * With so many messages, and buffers at each end.
     *
     * @param copies whether messages are copied, so that their buffers are free at once
     */
    SimulatedApplications(int messages, int slots, boolean copies, Mutation mutation) {
        this.messages = messages;
        this.slots = slots;
        this.copies = copies;
        this.mutation = mutation;
        buffers = new int[slots];
        for (int slot = 0; slot < slots; slot++) {
            buffers[slot] = slot;
        }
        copied = new int[messages];
        Arrays.fill(copied, -1);
    }

    SimulatedApplications copy() {
        SimulatedApplications copy = new SimulatedApplications(messages, slots, copies, mutation);
        copy.begun = begun;
        copy.confirmed = confirmed;
        copy.toldSent = toldSent;
        copy.buffers = buffers.clone();
        copy.copied = copied.clone();
        copy.asked = asked;
        copy.complete = complete;
        copy.toldReceived = toldReceived;
        return copy;
    }

    /** All that matters of it, for telling states apart. */
    void describe(StringBuilder to) {
        SimulatedSession.append(to, begun, confirmed, toldSent, asked, complete, toldReceived);
        SimulatedSession.append(to, buffers);
    }

    /** Whether all messages have got across, and both know. */
    boolean areDone() {
        return toldSent == messages && toldReceived == messages;
    }

    /** Posts the next message over a path that is in use. */
    boolean send(SimulatedPaths paths, int path) {
        int message = paths.posted[path];
        boolean isNew = message == begun;
        if (message == messages || (isNew && message >= toldSent + slots) || !paths.mayPost(path, message)) {
            return false;
        }
        check(paths.sends[path] || message >= paths.stale[path], message, "is sent by an entry of another path");
        if (!paths.senderUp[path]) {
            return false; // posted to a queue pair in error
        }
        paths.post(path, message, bytesOf(message, isNew));
        begun = Math.max(begun, message + 1);
        return true;
    }

    private int bytesOf(int message, boolean isNew) {
        if (copies && isNew) {
            copied[message] = buffers[message % slots];
        }
        boolean fromCopy = copies && mutation != Mutation.COPY_DROPPED_WHEN_SENT;
        int bytes = fromCopy ? copied[message] : buffers[message % slots];
        check(bytes == message, message, "is sent from a buffer of another one");
        return bytes;
    }

    boolean tellSent(SimulatedPaths paths) {
        if (toldSent >= (copies ? begun : confirmed)) {
            return false;
        }
        check(copies || toldSent < arrivals(paths), toldSent, "is done at the sender and has not arrived");
        buffers[toldSent % slots] = toldSent + slots;
        toldSent++;
        return true;
    }

    /** Messages that are in the receiver's memory for good, whether it knows or not. */
    private int arrivals(SimulatedPaths paths) {
        int most = complete;
        for (int path = 0; path < paths.count; path++) {
            most = Math.max(most, paths.arrived(path));
        }
        return most;
    }

    /** Asks for the next message over a path that is in use. */
    boolean receive(SimulatedPaths paths, int path) {
        if (asked == messages || asked >= toldReceived + slots) {
            return false;
        }
        int slot = asked % slots;
        int former = asked - slots;
        check(former < 0 || paths.memory[slot] == former, former, "was overwritten after it was done");
        paths.memory[slot] = SimulatedPaths.POISON;
        asked++;
        paths.entriesWritten[path] = asked;
        return true;
    }

    boolean tellReceived(SimulatedPaths paths) {
        if (toldReceived >= complete) {
            return false;
        }
        int found = paths.memory[toldReceived % slots];
        check(found == toldReceived, toldReceived, "was received as another one");
        toldReceived++;
        return true;
    }

    boolean pollSender(SimulatedPaths paths, int path) {
        int before = confirmed;
        confirmed = paths.confirmed[path];
        return confirmed > before;
    }

    boolean pollReceiver(SimulatedPaths paths, int path) {
        int before = complete;
        complete = paths.arrived(path);
        return complete > before;
    }

    private static void check(boolean right, int message, String what) {
        if (!right) {
            throw new AssertionError("message " + message + " " + what);
        }
    }
}
