package trigon.transport.resume;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The handshake's messages under way between two simulated ends, and the links that they go over. */
final class SimulatedWire {

    enum Kind {
        GREETING,
        CHALLENGE,
        OFFER,
        ANSWER,
        READY,
        CONFIRM,
        NOTICE
    }

    record Message(Kind kind, int link, int attempt, long begun, long count) {}

    private static final int MAX_MESSAGES = 12;

    private final List<Message> messages = new ArrayList<>();
    private final boolean[] up;

    /** Over so many links, which are up. */
    SimulatedWire(int links) {
        up = new boolean[links];
        Arrays.fill(up, true);
    }

    SimulatedWire copy() {
        SimulatedWire copy = new SimulatedWire(up.length);
        copy.messages.addAll(messages);
        System.arraycopy(up, 0, copy.up, 0, up.length);
        return copy;
    }

    int links() {
        return up.length;
    }

    boolean isUp(int link) {
        return link < up.length && up[link];
    }

    void cut(int link) {
        up[link] = false;
    }

    /** Returns whether it was down. */
    boolean mend(int link) {
        boolean mends = link < up.length && !up[link];
        if (mends) {
            up[link] = true;
        }
        return mends;
    }

    int count() {
        return messages.size();
    }

    Message get(int index) {
        return messages.get(index);
    }

    /** It is lost over a link that is down, or where too many are under way. */
    void send(Message message) {
        if (messages.size() < MAX_MESSAGES && up[message.link]) {
            messages.add(message);
        }
    }

    boolean drop(int index) {
        return index < messages.size() && messages.remove(index) != null;
    }

    boolean repeat(int index) {
        return index < messages.size() && messages.size() < MAX_MESSAGES && messages.add(messages.get(index));
    }

    /** All that matters of it, for telling states apart. */
    void describe(StringBuilder to) {
        for (Message message : messages) {
            to.append(message.kind);
            SimulatedSession.append(to, message.link, message.attempt, (int) message.begun, (int) message.count);
        }
        for (boolean link : up) {
            to.append(link ? '+' : '-');
        }
    }
}
