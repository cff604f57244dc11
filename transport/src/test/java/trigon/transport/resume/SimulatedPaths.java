package trigon.transport.resume;

import java.util.Arrays;

/**
 * What the devices and the network do with the paths of a simulated session: every attempt has queue pairs, a ring and
 * packets of its own. Nothing here knows what the ends agree on.
 *
 * <p>A message lands in two steps: half of its bytes, then the rest with the immediate. Packets of a queue pair that is
 * fenced at the sender may still land, until the receiver is fenced.
 */
final class SimulatedPaths {

    static final int MAX = 64;

    /** In a receiver's buffer: what it held when it was given to the device, and half of some message. */
    static final int POISON = -1;

    static final int HALF = -2;

    final int slots;
    int count;
    int[] link = new int[MAX];

    /** Whether messages go by SEND: at once, and held back until they are asked for; else an entry asks for each. */
    boolean[] sends = new boolean[MAX];

    boolean[] senderUp = new boolean[MAX];
    boolean[] receiverUp = new boolean[MAX];

    /** What is lost on the way, for good: data, acknowledgements, entries. */
    boolean[] dataLost = new boolean[MAX];

    boolean[] ackLost = new boolean[MAX];
    boolean[] entriesLost = new boolean[MAX];

    /** The first message of the path. All below count messages from the session's beginning, but for halves. */
    int[] base = new int[MAX];

    int[] entriesWritten = new int[MAX];
    int[] entriesArrived = new int[MAX];

    /** Entries below this are another path's, in a ring that is used again; only with that mutation. */
    int[] stale = new int[MAX];

    int[] posted = new int[MAX];
    int[] halvesLanded = new int[MAX];
    int[] confirmed = new int[MAX];

    /** Which message's bytes were in the buffer when a message was posted; by path and message. */
    final int[] content;

    /** The receiver's buffers, by slot. */
    int[] memory;

    private final int messages;

    SimulatedPaths(int messages, int slots) {
        this.messages = messages;
        this.slots = slots;
        content = new int[MAX * messages];
        memory = new int[slots];
        Arrays.fill(memory, POISON);
    }

    private SimulatedPaths(SimulatedPaths of) {
        messages = of.messages;
        slots = of.slots;
        count = of.count;
        link = of.link.clone();
        sends = of.sends.clone();
        senderUp = of.senderUp.clone();
        receiverUp = of.receiverUp.clone();
        dataLost = of.dataLost.clone();
        ackLost = of.ackLost.clone();
        entriesLost = of.entriesLost.clone();
        base = of.base.clone();
        entriesWritten = of.entriesWritten.clone();
        entriesArrived = of.entriesArrived.clone();
        stale = of.stale.clone();
        posted = of.posted.clone();
        halvesLanded = of.halvesLanded.clone();
        confirmed = of.confirmed.clone();
        content = of.content.clone();
        memory = of.memory.clone();
    }

    SimulatedPaths copy() {
        return new SimulatedPaths(this);
    }

    /** The sender's end of a new path. */
    void open(int path, int overLink, boolean bySend) {
        link[path] = overLink;
        sends[path] = bySend;
        senderUp[path] = true;
        receiverUp[path] = false;
        dataLost[path] = false;
        ackLost[path] = false;
        entriesLost[path] = false;
        stale[path] = 0;
        count = Math.max(count, path + 1);
    }

    /** The receiver's end, for messages from there on. */
    void connect(int path, int first) {
        receiverUp[path] = true;
        base[path] = first;
        entriesWritten[path] = first;
        entriesArrived[path] = first;
        posted[path] = first;
        halvesLanded[path] = 0;
        confirmed[path] = first;
    }

    /** Whether the receiver has asked for a message, or need not. */
    boolean mayPost(int path, int message) {
        return sends[path] || entriesArrived[path] > message;
    }

    void post(int path, int message, int bytesOf) {
        content[path * messages + message] = bytesOf;
        posted[path] = message + 1;
    }

    /** Messages that have arrived, with their immediates. */
    int arrived(int path) {
        return base[path] + halvesLanded[path] / 2;
    }

    /** A packet of data lands. False: there is none, or it is held back. */
    boolean land(int path, boolean unasked) {
        if (!receiverUp[path] || dataLost[path] || halvesLanded[path] >= 2 * (posted[path] - base[path])) {
            return false;
        }
        int message = arrived(path);
        if (sends[path] && message >= entriesWritten[path] && !unasked) {
            return false;
        }
        boolean first = halvesLanded[path] % 2 == 0;
        memory[message % slots] = first ? HALF : content[path * messages + message];
        halvesLanded[path]++;
        return true;
    }

    /** An acknowledgement arrives. */
    boolean acknowledge(int path) {
        if (!senderUp[path] || ackLost[path] || confirmed[path] >= arrived(path)) {
            return false;
        }
        confirmed[path]++;
        return true;
    }

    /** An entry arrives in the sender's ring. */
    boolean writeEntry(int path) {
        if (!senderUp[path] || entriesLost[path] || entriesArrived[path] >= entriesWritten[path]) {
            return false;
        }
        entriesArrived[path]++;
        return true;
    }

    /** Whether something of it is lost for good. */
    boolean isDamaged(int path) {
        return dataLost[path] || ackLost[path] || entriesLost[path] || !senderUp[path] || !receiverUp[path];
    }

    /** Loses what the bits say: data, acknowledgements, entries. */
    void damage(int path, int what) {
        dataLost[path] |= (what & 1) != 0;
        ackLost[path] |= (what & 2) != 0;
        entriesLost[path] |= (what & 4) != 0;
    }

    /** All that matters of it, for telling states apart. */
    void describe(StringBuilder to) {
        for (int path = 0; path < count; path++) {
            if (!senderUp[path] && !receiverUp[path]) {
                to.append('x').append((char) ('0' + confirmed[path])).append((char) ('0' + arrived(path)));
                continue;
            }
            to.append(link[path])
                    .append(sends[path] ? 'M' : 'm')
                    .append(senderUp[path] ? 'S' : 's')
                    .append(receiverUp[path] ? 'R' : 'r')
                    .append(dataLost[path] ? 'D' : 'd')
                    .append(ackLost[path] ? 'A' : 'a')
                    .append(entriesLost[path] ? 'E' : 'e')
                    .append((char) ('0' + base[path]))
                    .append((char) ('0' + entriesWritten[path]))
                    .append((char) ('0' + entriesArrived[path]))
                    .append((char) ('0' + posted[path]))
                    .append((char) ('0' + halvesLanded[path]))
                    .append((char) ('0' + confirmed[path]));
            for (int message = base[path]; message < posted[path]; message++) {
                to.append((char) ('0' + content[path * messages + message]));
            }
        }
        for (int slot : memory) {
            to.append((char) ('0' + slot));
        }
    }
}
