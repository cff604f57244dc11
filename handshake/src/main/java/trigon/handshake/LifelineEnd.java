package trigon.handshake;

import java.time.Duration;
import trigon.handshake.message.EndFailure;

/** The end of a {@link Lifeline}, as far as this side knows. */
public sealed interface LifelineEnd {

    /** The peer let go in good order: its end of the link is closed. */
    record Released() implements LifelineEnd {}

    /**
     * The peer let go because its end of the link has failed.
     *
     * @param failure in the peer's own words
     */
    record Failed(EndFailure failure) implements LifelineEnd {}

    /**
     * The TCP connection ended without a farewell.
     *
     * @param how what the kernel said
     */
    record Broken(String how) implements LifelineEnd {}

    /**
     * The peer gave no sign of life.
     *
     * @param silence for how long, at the least
     */
    record Silent(Duration silence) implements LifelineEnd {}

    /** The peer's kernel answered, but its process said nothing for too long. */
    record Stopped(Duration silence) implements LifelineEnd {}

    /** This side let go, or closes all its handshakes. */
    record Here() implements LifelineEnd {}

    /** The cause and the remedy, for the log: a clause about "the peer". */
    default String explanation() {
        return switch (this) {
            case Released _ -> "the peer has closed its end";
            case Failed(EndFailure failure) -> "the peer's end failed: " + failure.words();
            case Broken(String how) ->
                ("the peer's process ended or was killed: its connection broke (%s);"
                                + " see that node's log, and its kernel's (dmesg)")
                        .formatted(how);
            case Silent(Duration silence) ->
                ("the peer has been silent for %.1f s, longer than handshake.peerTimeout: its process is stopped, its"
                                + " machine is down, or the link is cut; check both machines, and the link with"
                                + " ip -s link on each")
                        .formatted(silence.toMillis() / 1000.0);
            case Stopped(Duration silence) ->
                ("the peer has been silent for %.1f s, longer than handshake.stoppedTimeout, though its kernel"
                                + " answers: its process is stopped, or gets no processor time; see ps on its machine")
                        .formatted(silence.toMillis() / 1000.0);
            case Here _ -> "this process has closed its end";
        };
    }
}
