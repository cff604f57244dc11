package trigon.transport.resume;

import java.util.Arrays;
import trigon.transport.resume.SimulatedWire.Kind;
import trigon.transport.resume.SimulatedWire.Message;

/**
 * A session whose two ends run the real state machines over {@link SimulatedPaths}, with {@link SimulatedApplications}.
 * One event at a time; who calls chooses which.
 */
final class SimulatedSession {

    /** What becomes of an end, apart from its session. */
    private enum Life {
        RUNS,
        STOPPED,
        /** It looks for no path any more: the peer is gone, or it has no thread. Who asks it hears so. */
        GAVE_UP,
        DEAD;

        boolean isOver() {
            return this == GAVE_UP || this == DEAD;
        }
    }

    private final Mutation mutation;

    /** The links over which messages go by SEND begin here: those through relays, and all where they are copied. */
    private final int firstBySend;

    private SimulatedPaths paths;
    private SenderResume sender = SenderResume.up();
    private ReceiverResume receiver = ReceiverResume.up();
    private SimulatedWire wire;
    private Life sending = Life.RUNS;
    private Life receiving = Life.RUNS;

    /** Nothing was heard for a while: the sender asks elsewhere, and stays where it is until it is answered. */
    private boolean suspects;

    private boolean losesCompletions;

    /** An end was ended while the other one lived. */
    private boolean killed;

    private Message offer = new Message(Kind.OFFER, 0, 0, 0, 0);

    private SimulatedApplications applications;

    /** With so many messages, buffers at each end, and links; messages go by SEND from one of the links on. */
    SimulatedSession(SimulatedApplications applications, int slots, int links, int firstBySend, Mutation mutation) {
        this.applications = applications;
        this.firstBySend = firstBySend;
        this.mutation = mutation;
        paths = new SimulatedPaths(applications.messages, slots);
        paths.open(0, 0, firstBySend == 0);
        paths.connect(0, 0);
        wire = new SimulatedWire(links);
    }

    /** The same, to go on otherwise. */
    SimulatedSession copy() {
        SimulatedSession copy =
                new SimulatedSession(applications.copy(), paths.slots, wire.links(), firstBySend, mutation);
        copy.paths = paths.copy();
        copy.sender = sender;
        copy.receiver = receiver;
        copy.wire = wire.copy();
        copy.sending = sending;
        copy.receiving = receiving;
        copy.suspects = suspects;
        copy.losesCompletions = losesCompletions;
        copy.killed = killed;
        copy.offer = offer;
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
        append(text, (int) receiver.confirmed(), (int) receiver.received());
        applications.describe(text);
        text.append(sending).append(receiving).append(suspects);
        wire.describe(text);
        return text.toString();
    }

    static void append(StringBuilder to, int... numbers) {
        for (int number : numbers) {
            to.append((char) ('0' + number));
        }
    }

    /** Paths so far, the attempts' included. */
    int pathCount() {
        return paths.count;
    }

    int wireCount() {
        return wire.count();
    }

    /** Whether all messages have got across, and both applications know. */
    boolean isDone() {
        return applications.areDone();
    }

    /** Whether both ends, or those that live, have given up, for a reason that there was. */
    boolean isRightlyLost() {
        return isSenderOver() && isReceiverOver() && mayBeLost();
    }

    private boolean isSenderOver() {
        return sending.isOver() || sender.state() == SenderResume.State.LOST;
    }

    private boolean isReceiverOver() {
        return receiving.isOver() || receiver.state() == ReceiverResume.State.LOST;
    }

    private boolean mayBeLost() {
        boolean fruitless = sender.lost() == LostReason.FRUITLESS && sender.fruitless() > SenderResume.MAX_FRUITLESS;
        return killed || fruitless || losesCompletions;
    }

    int senderEpoch() {
        return sender.epoch();
    }

    private boolean senderRuns() {
        return sending == Life.RUNS && sender.state() != SenderResume.State.LOST;
    }

    private boolean receiverRuns() {
        return receiving == Life.RUNS && receiver.state() != ReceiverResume.State.LOST;
    }

    private boolean senderGateIsOpen() {
        return senderRuns() && sender.state() == SenderResume.State.UP;
    }

    private boolean receiverGateIsOpen() {
        return receiverRuns() && receiver.state() == ReceiverResume.State.UP;
    }

    /** Does it, if it can happen now; false if it cannot. */
    boolean happens(SimulatedEvent event, int which) {
        return switch (event) {
            case SEND -> senderGateIsOpen() && applications.send(paths, sender.epoch());
            case TELL_SENT -> senderRuns() && applications.tellSent(paths);
            case RECEIVE -> receiverGateIsOpen() && applications.receive(paths, receiver.epoch());
            case TELL_RECEIVED -> receiverRuns() && applications.tellReceived(paths);
            case POLL_SENDER -> senderGateIsOpen() && applications.pollSender(paths, sender.epoch());
            case POLL_RECEIVER -> receiverGateIsOpen() && applications.pollReceiver(paths, receiver.epoch());
            case LAND -> isPath(which) && paths.land(which, mutation == Mutation.LANDS_UNASKED);
            case ACKNOWLEDGE -> isPath(which) && paths.acknowledge(which);
            case WRITE_ENTRY -> isPath(which) && paths.writeEntry(which);
            case DELIVER -> which < wire.count() && deliver(which);
            case FENCE_SENDER -> senderRuns() && fenceSender();
            case FENCE_RECEIVER -> receiverRuns() && fenceReceiver();
            case SENDER_SEES_ERROR -> senderGateIsOpen() && paths.isDamaged(sender.epoch()) && breakSender();
            case SENDER_TIMER -> senderRuns() && senderTimer(which);
            case RECEIVER_TIMER -> receiverRuns() && receiverTimer(which);
            case HEARD -> senderRuns() && suspects && heard();
            case LOSE_PACKETS -> isPath(which >> 3) && damage(which >> 3, which & 7);
            case SENDER_ERROR -> senderGateIsOpen() && breakSender();
            case RECEIVER_ERROR -> receiverGateIsOpen() && breakReceiver();
            case SUSPECT -> senderGateIsOpen() && suspect(which);
            case LINK_DOWN -> wire.isUp(which) && cut(which);
            case LINKS_DOWN -> cutAll();
            case LINK_UP -> wire.mend(which);
            case DROP -> wire.drop(which);
            case DOUBLE -> wire.repeat(which);
            case STOP_SENDER -> sending == Life.RUNS && (sending = Life.STOPPED) != null;
            case STOP_RECEIVER -> receiving == Life.RUNS && (receiving = Life.STOPPED) != null;
            case CONTINUE -> goOn();
            case KILL_SENDER -> sending != Life.DEAD && endSender(Life.DEAD);
            case KILL_RECEIVER -> receiving != Life.DEAD && endReceiver(Life.DEAD);
            case SENDER_HAS_NO_THREAD -> senderRuns() && !senderGateIsOpen() && endSender(Life.GAVE_UP);
            case RECEIVER_HAS_NO_THREAD -> receiverRuns() && !receiverGateIsOpen() && endReceiver(Life.GAVE_UP);
            case LOSE_COMPLETIONS -> !losesCompletions && (losesCompletions = true);
        };
    }

    private boolean isPath(int path) {
        return path < paths.count;
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
        suspects = true;
        return greet(overLink);
    }

    private boolean heard() {
        if (paths.isDamaged(sender.epoch())) {
            return false;
        }
        suspects = false;
        return true;
    }

    /** A peer that is heard elsewhere has left the paths in use, or cannot be heard over them: they are given up. */
    private SenderResume challenged() {
        if (sender.state() == SenderResume.State.UP && suspects) {
            suspects = false;
            return sender.broken();
        }
        return sender.challenged();
    }

    private boolean greet(int overLink) {
        return tell(new Message(Kind.GREETING, overLink % wire.links(), 0, 0, 0));
    }

    private boolean tell(Message message) {
        wire.send(message);
        return true;
    }

    private boolean fenceSender() {
        if (sender.state() != SenderResume.State.FENCING) {
            return false;
        }
        int path = sender.epoch();
        if (!losesCompletions) {
            applications.confirmed = paths.confirmed[path];
        }
        paths.senderUp[path] = false;
        sender = sender.fenced(applications.begun, applications.confirmed);
        return true;
    }

    private boolean fenceReceiver() {
        ReceiverResume.State state = receiver.state();
        if (state != ReceiverResume.State.FENCING && state != ReceiverResume.State.FENCING_FOR_OFFER) {
            return false;
        }
        int path = receiver.epoch();
        if (!losesCompletions) {
            applications.complete = paths.arrived(path);
        }
        if (mutation != Mutation.RECEIVER_DOES_NOT_FENCE) {
            paths.receiverUp[path] = false;
        }
        receiver = receiver.fenced(applications.complete);
        return receiverStep();
    }

    private boolean senderTimer(int overLink) {
        return switch (sender.state()) {
            case OFFERED, READY -> {
                paths.senderUp[sender.attempt()] = false;
                sender = sender.failed(sender.attempt());
                yield true;
            }
            case FENCED -> isReceiverOver() ? endSender(Life.GAVE_UP) : greet(overLink);
            case UP -> isReceiverOver() ? endSender(Life.GAVE_UP) : suspects && greet(overLink);
            case FENCING -> isReceiverOver() && endSender(Life.GAVE_UP);
            case LOST -> false;
        };
    }

    private boolean receiverTimer(int overLink) {
        if (isSenderOver()) {
            return endReceiver(Life.GAVE_UP);
        }
        return receiver.state() == ReceiverResume.State.FENCED && notice(overLink);
    }

    private boolean notice(int overLink) {
        return tell(new Message(Kind.NOTICE, overLink % wire.links(), receiver.epoch(), 0, 0));
    }

    private boolean deliver(int index) {
        Message message = wire.get(index);
        boolean toSender = message.kind() == Kind.CHALLENGE
                || message.kind() == Kind.ANSWER
                || message.kind() == Kind.CONFIRM
                || message.kind() == Kind.NOTICE;
        if ((toSender ? sending : receiving) == Life.STOPPED) {
            return false;
        }
        wire.drop(index);
        if (!wire.isUp(message.link()) || (toSender ? sending : receiving).isOver()) {
            return true;
        }
        return toSender ? atSender(message) : atReceiver(message);
    }

    private boolean atSender(Message message) {
        sender = switch (message.kind()) {
            case CHALLENGE -> challenged();
            case ANSWER -> sender.answered(message.attempt(), message.count());
            case CONFIRM -> sender.confirmed(message.attempt());
            case NOTICE -> message.attempt() == sender.epoch() ? sender.broken() : sender;
            case GREETING, OFFER, READY -> throw new AssertionError(message);
        };
        switch (sender.step()) {
            case OFFER -> {
                paths.open(sender.attempt(), message.link(), message.link() >= firstBySend);
                tell(new Message(Kind.OFFER, message.link(), sender.attempt(), sender.begun(), sender.confirmed()));
            }
            case READY -> tell(new Message(Kind.READY, message.link(), sender.attempt(), 0, 0));
            case GO_ON -> {
                int path = sender.epoch();
                suspects = false;
                applications.confirmed = (int) sender.received();
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
        switch (message.kind()) {
            case GREETING -> tell(new Message(Kind.CHALLENGE, message.link(), 0, 0, 0));
            case OFFER -> {
                receiver = receiver.offered(message.attempt(), message.begun(), message.count());
                if (receiver.step() != Step.REFUSE) {
                    offer = message;
                }
                receiverStep();
            }
            case READY -> {
                receiver = receiver.ready(message.attempt());
                if (receiver.step() == Step.GO_ON) {
                    paths.entriesWritten[receiver.epoch()] = applications.asked;
                    tell(new Message(Kind.CONFIRM, message.link(), receiver.epoch(), 0, 0));
                }
            }
            case CHALLENGE, ANSWER, CONFIRM, NOTICE -> throw new AssertionError(message);
        }
        return true;
    }

    private boolean receiverStep() {
        switch (receiver.step()) {
            case ANSWER -> {
                int off = mutation == Mutation.COUNT_OFF_BY_ONE && applications.complete < offer.begun() ? 1 : 0;
                paths.connect(receiver.attempt(), applications.complete + off);
                applications.complete += off;
                tell(new Message(Kind.ANSWER, offer.link(), receiver.attempt(), 0, applications.complete));
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
        wire.cut(overLink);
        for (int path = 0; path < paths.count; path++) {
            if (paths.link[path] == overLink) {
                paths.damage(path, 7);
            }
        }
        return true;
    }

    private boolean goOn() {
        boolean any = sending == Life.STOPPED || receiving == Life.STOPPED;
        sending = sending == Life.STOPPED ? Life.RUNS : sending;
        receiving = receiving == Life.STOPPED ? Life.RUNS : receiving;
        return any;
    }

    private boolean cutAll() {
        boolean any = false;
        for (int link = 0; link < wire.links(); link++) {
            any |= wire.isUp(link) && cut(link);
        }
        return any;
    }

    private boolean endSender(Life how) {
        killed |= !isReceiverOver();
        sending = how;
        Arrays.fill(paths.senderUp, false);
        return true;
    }

    private boolean endReceiver(Life how) {
        killed |= !isSenderOver();
        receiving = how;
        Arrays.fill(paths.receiverUp, false);
        return true;
    }
}
