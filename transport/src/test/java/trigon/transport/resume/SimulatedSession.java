package trigon.transport.resume;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A session whose two ends run the real state machines over {@link SimulatedPaths}, with an application at each end
 * that uses its buffers again as soon as it is told that a message is done. One event at a time; who calls chooses
 * which.
 *
 * <p>Throws an {@link AssertionError} as soon as a message is lost, doubled or has wrong bytes.
 */
final class SimulatedSession {

    /** What is done wrong on purpose. */
    enum Mutation {
        NONE,
        RECEIVER_DOES_NOT_FENCE,
        COUNT_OFF_BY_ONE,
        RING_USED_AGAIN
    }

    /** What may happen next. Those from {@link #LOSE_PACKETS} on are faults. */
    enum Event {
        SEND,
        TELL_SENT,
        RECEIVE,
        TELL_RECEIVED,
        POLL_SENDER,
        POLL_RECEIVER,
        LAND,
        ACKNOWLEDGE,
        WRITE_ENTRY,
        DELIVER,
        FENCE_SENDER,
        FENCE_RECEIVER,
        SENDER_SEES_ERROR,
        SENDER_TIMER,
        RECEIVER_TIMER,
        HEARD,
        LOSE_PACKETS,
        SENDER_ERROR,
        RECEIVER_ERROR,
        SUSPECT,
        LINK_DOWN,
        LINK_UP,
        DROP,
        DOUBLE,
        STOP_SENDER,
        STOP_RECEIVER,
        CONTINUE,
        KILL_SENDER,
        KILL_RECEIVER,
        LOSE_COMPLETIONS
    }

    private enum Kind {
        GREETING,
        CHALLENGE,
        OFFER,
        ANSWER,
        READY,
        CONFIRM,
        NOTICE
    }

    private record Message(Kind kind, int link, int attempt, long begun, long count) {}

    private static final int MOST_MESSAGES = 12;

    final int messages;
    final int slots;
    private final Mutation mutation;
    private SimulatedPaths paths;
    private SenderResume sender = SenderResume.up();
    private ReceiverResume receiver = ReceiverResume.up();
    private final List<Message> wire = new ArrayList<>();
    private boolean[] linkUp;
    private boolean senderStopped;
    private boolean receiverStopped;
    private boolean senderDead;
    private boolean receiverDead;
    private boolean losesCompletions;
    private Message offer = new Message(Kind.OFFER, 0, 0, 0, 0);

    // the sender's application: begun, confirmed, told; and its buffers
    private int begun;
    private int confirmed;
    private int toldSent;
    private int[] buffers;

    // the receiver's: asked for, complete, told
    private int asked;
    private int complete;
    private int toldReceived;

    /** With so many messages, buffers at each end, and links. */
    SimulatedSession(int messages, int slots, int links, Mutation mutation) {
        this.messages = messages;
        this.slots = slots;
        this.mutation = mutation;
        paths = new SimulatedPaths(messages, slots);
        paths.open(0, 0);
        paths.connect(0, 0);
        linkUp = new boolean[links];
        Arrays.fill(linkUp, true);
        buffers = new int[slots];
        for (int slot = 0; slot < slots; slot++) {
            buffers[slot] = slot;
        }
    }

    /** The same, to go on otherwise. */
    SimulatedSession copy() {
        SimulatedSession copy = new SimulatedSession(messages, slots, linkUp.length, mutation);
        copy.paths = paths.copy();
        copy.sender = sender;
        copy.receiver = receiver;
        copy.wire.addAll(wire);
        copy.linkUp = linkUp.clone();
        copy.senderStopped = senderStopped;
        copy.receiverStopped = receiverStopped;
        copy.senderDead = senderDead;
        copy.receiverDead = receiverDead;
        copy.losesCompletions = losesCompletions;
        copy.offer = offer;
        copy.begun = begun;
        copy.confirmed = confirmed;
        copy.toldSent = toldSent;
        copy.buffers = buffers.clone();
        copy.asked = asked;
        copy.complete = complete;
        copy.toldReceived = toldReceived;
        return copy;
    }

    /** Equal for states from which the same may follow. */
    String description() {
        StringBuilder text = new StringBuilder(96);
        paths.describe(text);
        text.append(sender.state());
        append(text, sender.epoch(), sender.attempt(), (int) sender.begun());
        append(text, (int) sender.confirmed(), (int) sender.received(), sender.fruitless());
        text.append(receiver.state());
        append(text, receiver.epoch(), receiver.attempt(), (int) receiver.begun());
        append(text, (int) receiver.confirmed(), (int) receiver.received(), begun, confirmed, toldSent);
        append(text, asked, complete, toldReceived);
        append(text, senderStopped || senderDead ? 1 : 0, receiverStopped || receiverDead ? 1 : 0);
        append(text, buffers);
        for (Message message : wire) {
            text.append(message.kind);
            append(text, message.link, message.attempt, (int) message.begun);
            append(text, (int) message.count);
        }
        for (boolean up : linkUp) {
            text.append(up ? '+' : '-');
        }
        return text.toString();
    }

    private static void append(StringBuilder to, int... numbers) {
        for (int number : numbers) {
            to.append((char) ('0' + number));
        }
    }

    /** Paths so far, the attempts' included. */
    int pathCount() {
        return paths.count;
    }

    int wireCount() {
        return wire.size();
    }

    /** Whether all messages have got across, and both applications know. */
    boolean isDone() {
        return toldSent == messages && toldReceived == messages;
    }

    /** Whether both ends, or those that live, have given up, for a reason that there was. */
    boolean isRightlyLost() {
        boolean senderGone = senderDead || sender.state() == SenderResume.State.LOST;
        boolean receiverGone = receiverDead || receiver.state() == ReceiverResume.State.LOST;
        return senderGone && receiverGone && mayBeLost();
    }

    private boolean mayBeLost() {
        boolean fruitless = sender.lost() == LostReason.FRUITLESS && sender.fruitless() > SenderResume.MOST_FRUITLESS;
        return senderDead || receiverDead || fruitless || losesCompletions;
    }

    int senderEpoch() {
        return sender.epoch();
    }

    private boolean senderRuns() {
        return !senderStopped && !senderDead;
    }

    private boolean receiverRuns() {
        return !receiverStopped && !receiverDead;
    }

    private boolean senderGateIsOpen() {
        return senderRuns()
                && (sender.state() == SenderResume.State.UP || sender.state() == SenderResume.State.SUSPECT);
    }

    private boolean receiverGateIsOpen() {
        return receiverRuns() && receiver.state() == ReceiverResume.State.UP;
    }

    /** Does it, if it can happen now; false if it cannot. */
    boolean happens(Event event, int which) {
        return switch (event) {
            case SEND -> senderGateIsOpen() && send();
            case TELL_SENT -> senderGateIsOpen() && tellSent();
            case RECEIVE -> receiverGateIsOpen() && receive();
            case TELL_RECEIVED -> receiverGateIsOpen() && tellReceived();
            case POLL_SENDER -> senderGateIsOpen() && pollSender();
            case POLL_RECEIVER -> receiverGateIsOpen() && pollReceiver();
            case LAND -> isPath(which) && paths.land(which);
            case ACKNOWLEDGE -> isPath(which) && paths.acknowledge(which);
            case WRITE_ENTRY -> isPath(which) && paths.writeEntry(which);
            case DELIVER -> which < wire.size() && deliver(which);
            case FENCE_SENDER -> senderRuns() && fenceSender();
            case FENCE_RECEIVER -> receiverRuns() && fenceReceiver();
            case SENDER_SEES_ERROR -> senderGateIsOpen() && paths.isDamaged(sender.epoch()) && breakSender();
            case SENDER_TIMER -> senderRuns() && senderTimer(which);
            case RECEIVER_TIMER -> receiverRuns() && receiverTimer(which);
            case HEARD -> senderRuns() && sender.state() == SenderResume.State.SUSPECT && heard();
            case LOSE_PACKETS -> isPath(which >> 3) && damage(which >> 3, which & 7);
            case SENDER_ERROR -> senderGateIsOpen() && breakSender();
            case RECEIVER_ERROR -> receiverGateIsOpen() && breakReceiver();
            case SUSPECT -> senderRuns() && sender.state() == SenderResume.State.UP && suspect(which);
            case LINK_DOWN -> which < linkUp.length && linkUp[which] && cut(which);
            case LINK_UP -> which < linkUp.length && !linkUp[which] && (linkUp[which] = true);
            case DROP -> which < wire.size() && wire.remove(which) != null;
            case DOUBLE -> which < wire.size() && wire.size() < MOST_MESSAGES && wire.add(wire.get(which));
            case STOP_SENDER -> senderRuns() && (senderStopped = true);
            case STOP_RECEIVER -> receiverRuns() && (receiverStopped = true);
            case CONTINUE -> goOn();
            case KILL_SENDER -> !senderDead && killSender();
            case KILL_RECEIVER -> !receiverDead && killReceiver();
            case LOSE_COMPLETIONS -> !losesCompletions && (losesCompletions = true);
        };
    }

    private boolean isPath(int path) {
        return path < paths.count;
    }

    // ---- the applications

    private boolean send() {
        int path = sender.epoch();
        int message = paths.posted[path];
        boolean isNew = message == begun;
        if (message == messages || (isNew && message >= toldSent + slots) || paths.entriesArrived[path] <= message) {
            return false;
        }
        check(message >= paths.stale[path], "message %d is sent by an entry of another path", message);
        if (!paths.senderUp[path]) {
            return false; // posted to a queue pair in error
        }
        check(buffers[message % slots] == message, "message %d is sent from a buffer of another one", message);
        paths.post(path, message, buffers[message % slots]);
        begun = Math.max(begun, message + 1);
        return true;
    }

    private boolean tellSent() {
        if (toldSent >= confirmed) {
            return false;
        }
        check(toldSent < arrivals(), "message %d is done at the sender and has not arrived", toldSent);
        buffers[toldSent % slots] = toldSent + slots;
        toldSent++;
        return true;
    }

    /** Messages that are in the receiver's memory for good, whether it knows or not. */
    private int arrivals() {
        int most = complete;
        for (int path = 0; path < paths.count; path++) {
            most = Math.max(most, paths.arrived(path));
        }
        return most;
    }

    private boolean receive() {
        if (asked == messages || asked >= toldReceived + slots) {
            return false;
        }
        int slot = asked % slots;
        int former = asked - slots;
        check(former < 0 || paths.memory[slot] == former, "message %d was overwritten after it was done", former);
        paths.memory[slot] = SimulatedPaths.POISON;
        asked++;
        paths.entriesWritten[receiver.epoch()] = asked;
        return true;
    }

    private boolean tellReceived() {
        if (toldReceived >= complete) {
            return false;
        }
        int found = paths.memory[toldReceived % slots];
        check(found == toldReceived, "message %d is received as %d", toldReceived, found);
        toldReceived++;
        return true;
    }

    private boolean pollSender() {
        int before = confirmed;
        confirmed = paths.confirmed[sender.epoch()];
        return confirmed > before;
    }

    private boolean pollReceiver() {
        int before = complete;
        complete = paths.arrived(receiver.epoch());
        return complete > before;
    }

    // ---- the ends

    private boolean breakSender() {
        sender = sender.broken();
        paths.senderUp[sender.epoch()] = false;
        return true;
    }

    private boolean breakReceiver() {
        receiver = receiver.broken();
        if (mutation != Mutation.RECEIVER_DOES_NOT_FENCE) {
            paths.receiverUp[receiver.epoch()] = false;
        }
        return true;
    }

    private boolean suspect(int overLink) {
        sender = sender.suspected();
        return greet(overLink);
    }

    private boolean heard() {
        if (paths.isDamaged(sender.epoch())) {
            return false;
        }
        sender = sender.heard();
        return true;
    }

    private boolean greet(int overLink) {
        return tell(new Message(Kind.GREETING, overLink % linkUp.length, 0, 0, 0));
    }

    private boolean tell(Message message) {
        if (wire.size() < MOST_MESSAGES && linkUp[message.link]) {
            wire.add(message);
        }
        return true;
    }

    private boolean fenceSender() {
        if (sender.state() != SenderResume.State.FENCING) {
            return false;
        }
        int path = sender.epoch();
        if (!losesCompletions) {
            confirmed = paths.confirmed[path];
        }
        paths.senderUp[path] = false;
        sender = sender.fenced(begun, confirmed);
        return true;
    }

    private boolean fenceReceiver() {
        ReceiverResume.State state = receiver.state();
        if (state != ReceiverResume.State.FENCING && state != ReceiverResume.State.FENCING_FOR_OFFER) {
            return false;
        }
        int path = receiver.epoch();
        if (!losesCompletions) {
            complete = paths.arrived(path);
        }
        if (mutation != Mutation.RECEIVER_DOES_NOT_FENCE) {
            paths.receiverUp[path] = false;
        }
        receiver = receiver.fenced(complete);
        return receiverStep();
    }

    private boolean senderTimer(int overLink) {
        return switch (sender.state()) {
            case OFFERED, READY -> {
                paths.senderUp[sender.attempt()] = false;
                sender = sender.failed(sender.attempt());
                yield true;
            }
            case SUSPECT, FENCED -> senderMayGiveUp() ? lose() : greet(overLink);
            case UP, FENCING -> senderMayGiveUp() && lose();
            case LOST -> false;
        };
    }

    private boolean senderMayGiveUp() {
        return receiverDead || receiver.state() == ReceiverResume.State.LOST;
    }

    private boolean lose() {
        sender = sender.lose(LostReason.PEER_ENDED);
        return true;
    }

    private boolean receiverTimer(int overLink) {
        if (receiver.state() != ReceiverResume.State.LOST
                && (senderDead || sender.state() == SenderResume.State.LOST)) {
            receiver = receiver.lose(LostReason.PEER_ENDED);
            return true;
        }
        return receiver.state() == ReceiverResume.State.FENCED && notice(overLink);
    }

    private boolean notice(int overLink) {
        return tell(new Message(Kind.NOTICE, overLink % linkUp.length, receiver.epoch(), 0, 0));
    }

    private boolean deliver(int index) {
        Message message = wire.get(index);
        boolean toSender = message.kind == Kind.CHALLENGE
                || message.kind == Kind.ANSWER
                || message.kind == Kind.CONFIRM
                || message.kind == Kind.NOTICE;
        if (toSender ? senderStopped : receiverStopped) {
            return false;
        }
        wire.remove(index);
        if (!linkUp[message.link] || (toSender ? senderDead : receiverDead)) {
            return true;
        }
        return toSender ? atSender(message) : atReceiver(message);
    }

    private boolean atSender(Message message) {
        sender = switch (message.kind) {
            case CHALLENGE -> sender.challenged();
            case ANSWER -> sender.answered(message.attempt, message.count);
            case CONFIRM -> sender.confirmed(message.attempt);
            case NOTICE -> message.attempt == sender.epoch() ? sender.broken() : sender;
            case GREETING, OFFER, READY -> throw new AssertionError(message);
        };
        switch (sender.step()) {
            case OFFER -> {
                paths.open(sender.attempt(), message.link);
                tell(new Message(Kind.OFFER, message.link, sender.attempt(), sender.begun(), sender.confirmed()));
            }
            case READY -> tell(new Message(Kind.READY, message.link, sender.attempt(), 0, 0));
            case GO_ON -> {
                int path = sender.epoch();
                confirmed = (int) sender.received();
                if (mutation == Mutation.RING_USED_AGAIN) {
                    for (int former = 0; former < path; former++) {
                        paths.stale[path] = Math.max(paths.stale[path], paths.entriesArrived[former]);
                    }
                    paths.entriesArrived[path] = Math.max(paths.entriesArrived[path], paths.stale[path]);
                }
            }
            default -> {}
        }
        return true;
    }

    private boolean atReceiver(Message message) {
        switch (message.kind) {
            case GREETING -> tell(new Message(Kind.CHALLENGE, message.link, 0, 0, 0));
            case OFFER -> {
                receiver = receiver.offered(message.attempt, message.begun, message.count);
                if (receiver.step() != Step.REFUSE) {
                    offer = message;
                }
                receiverStep();
            }
            case READY -> {
                receiver = receiver.ready(message.attempt);
                if (receiver.step() == Step.GO_ON) {
                    paths.entriesWritten[receiver.epoch()] = asked;
                    tell(new Message(Kind.CONFIRM, message.link, receiver.epoch(), 0, 0));
                }
            }
            case CHALLENGE, ANSWER, CONFIRM, NOTICE -> throw new AssertionError(message);
        }
        return true;
    }

    private boolean receiverStep() {
        switch (receiver.step()) {
            case ANSWER -> {
                int off = mutation == Mutation.COUNT_OFF_BY_ONE && complete < offer.begun ? 1 : 0;
                paths.connect(receiver.attempt(), complete + off);
                complete += off;
                tell(new Message(Kind.ANSWER, offer.link, receiver.attempt(), 0, complete));
            }
            case NOTIFY -> notice(0);
            default -> {}
        }
        return true;
    }

    // ---- faults

    private boolean damage(int path, int what) {
        paths.damage(path, what);
        return what != 0;
    }

    private boolean cut(int overLink) {
        linkUp[overLink] = false;
        for (int path = 0; path < paths.count; path++) {
            if (paths.link[path] == overLink) {
                paths.damage(path, 7);
            }
        }
        return true;
    }

    private boolean goOn() {
        boolean any = senderStopped || receiverStopped;
        senderStopped = false;
        receiverStopped = false;
        return any;
    }

    private boolean killSender() {
        senderDead = true;
        Arrays.fill(paths.senderUp, false);
        return true;
    }

    private boolean killReceiver() {
        receiverDead = true;
        Arrays.fill(paths.receiverUp, false);
        return true;
    }

    private void check(boolean right, String what, int... numbers) {
        if (!right) {
            Object[] boxed = Arrays.stream(numbers).boxed().toArray();
            throw new AssertionError(what.formatted(boxed) + "; " + sender + ", " + receiver);
        }
    }
}
