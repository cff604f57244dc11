package trigon.handshake.lifeline;

import io.netty.channel.Channel;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import trigon.config.HandshakeConfig;
import trigon.handshake.LifelineEnd;
import trigon.handshake.lifeline.Lifelines.BeatingChannel;

/**
 * The heartbeat of a {@link PeerChannel}: the first of its lifelines says that this side lives, for all of them, and
 * whatever the peer says over one of them counts for all. Event loop only, but for {@link #silence}.
 */
final class ChannelHeartbeat implements BeatingChannel {

    /** A process that is stopped for less is not worth a warning. */
    private static final long STOP_NANOS = TimeUnit.SECONDS.toNanos(5);

    private static final StreamLifeline[] NONE = {};

    /** State of the peer's process, as far as its kernel tells. */
    private enum Peer {
        RUNNING,
        STOPPED
    }

    private final HandshakeEventLoop loop;
    private final HandshakeConfig config;
    private final boolean dialled;
    private final Consumer<LifelineEnd> lost;
    private final Set<StreamLifeline> lifelines = new LinkedHashSet<>();
    private final SilenceClock silence;
    private @Nullable Channel channel;
    private Peer peer = Peer.RUNNING;
    private long beats;

    /** The peer's name; empty where it cannot be told that its process is stopped. */
    private String peerName = "";

    /**
     * One of a channel without a lifeline.
     *
     * @param dialled whether this side sets the pace
     * @param lost hears how the peer was lost
     */
    ChannelHeartbeat(HandshakeEventLoop loop, HandshakeConfig config, boolean dialled, Consumer<LifelineEnd> lost) {
        this.loop = loop;
        this.config = config;
        this.dialled = dialled;
        this.lost = lost;
        silence = new SilenceClock(loop.clock().nanoTime());
        silence.onQuiet(this::tellOfSilence);
    }

    /** The TCP connection is that. */
    void attach(Channel to) {
        channel = to;
    }

    /**
     * A lifeline has begun.
     *
     * @param name the peer's, for the log; empty if the TCP connection ends at a relay, whose kernel would answer
     */
    void add(StreamLifeline lifeline, String name) {
        peerName = name;
        if (lifelines.add(lifeline) && lifelines.size() == 1) {
            silence.begin(loop.clock().nanoTime());
            loop.lifelines().add(this);
            lifeline.tellKey();
        }
    }

    /** A lifeline has ended. */
    void remove(StreamLifeline lifeline) {
        if (lifelines.remove(lifeline) && lifelines.isEmpty()) {
            loop.lifelines().remove(this);
            if (peer == Peer.STOPPED) {
                peer = Peer.RUNNING;
                loop.lifelines().stopped().removeEnded(peerName);
            }
        }
    }

    /** Somebody wants to know soon when the peer is silent. */
    void hurry() {
        if (!lifelines.isEmpty()) {
            loop.lifelines().hurry(this);
        }
    }

    /** The peer has said over one of the lifelines that it lives. */
    void recordHeard(long count) {
        if (peer == Peer.STOPPED) {
            peer = Peer.RUNNING;
            loop.lifelines().stopped().removeHeard(peerName);
        }
        long now = loop.clock().nanoTime();
        Lifelines.traceHeard(channel, count, now, silence.recordHeard(now));
        if (silence.peerHurries() && !dialled && !loop.lifelines().isTraced(this)) {
            beat();
        }
    }

    /**
     * Counts a sign of life that a lifeline is about to give. Each has a number that no other one of the channel has,
     * by which both ends' traces name it.
     */
    long countBeat() {
        beats++;
        loop.lifelines().traceSaid(this, channel, beats);
        return beats;
    }

    @Override
    public void beat() {
        if (!lifelines.isEmpty()) {
            lifelines.iterator().next().beat();
        }
    }

    @Override
    public void tellKey() {
        if (!lifelines.isEmpty()) {
            lifelines.iterator().next().tellKey();
        }
    }

    @Override
    public void look(long passedNanos, long now) {
        long silent = silence.advance(passedNanos, now);
        noteIfStopped(silent);
        boolean stopped = silent > config.stoppedTimeout().toNanos();
        if (stopped
                || silence.outlast(
                        config.peerTimeout().toNanos(), () -> loop.lifelines().askKernel(channel))) {
            Duration length = Duration.ofNanos(silent);
            boolean answers = stopped && config.stoppedTimeout().compareTo(config.peerTimeout()) > 0;
            lost.accept(answers ? new LifelineEnd.Stopped(length) : new LifelineEnd.Silent(length));
        }
        silence.tellIfQuiet();
    }

    private void noteIfStopped(long silent) {
        if (silent > STOP_NANOS
                && peer == Peer.RUNNING
                && !peerName.isEmpty()
                && loop.lifelines().askKernel(channel)) {
            peer = Peer.STOPPED;
            loop.lifelines().stopped().add(peerName);
        }
    }

    private void tellOfSilence() {
        for (StreamLifeline each : lifelines.toArray(NONE)) {
            each.tellOfSilence();
        }
    }

    /** The last sign of life of the peer. Any thread. */
    SilenceClock silence() {
        return silence;
    }

    @Override
    public boolean isDialled() {
        return dialled;
    }

    @Override
    public String peerAddress() {
        return channel != null && channel.remoteAddress() instanceof InetSocketAddress address
                ? address.getAddress().getHostAddress()
                : "";
    }

    @Override
    public void letGo() {
        for (StreamLifeline each : lifelines.toArray(NONE)) {
            each.letGo(Optional.empty());
        }
    }
}
