package trigon.routing;

import java.time.Duration;
import java.util.List;

/** Routes through relays, as they are known now. Thread-safe; only {@link #drain} blocks. */
public interface Relays {

    /** No relay is ever known. */
    Relays NONE = new Relays() {
        @Override
        public List<Path> pathsTo(String peer, List<PeerLink> remotes, long tie) {
            return List.of();
        }

        @Override
        public Duration patience() {
            return Duration.ZERO;
        }

        @Override
        public String report(List<PeerLink> remotes) {
            return "";
        }

        @Override
        public String advice() {
            return "";
        }

        @Override
        public void opened(long communicator) {
            // nobody asks
        }

        @Override
        public void closed(long communicator) {
            // nobody asks
        }

        @Override
        public void drain() {
            // nothing is relayed
        }
    };

    /**
     * The paths through relays to a peer, best first: by what they carry, then fewest relays, then load.
     *
     * @param peer its name, for logs
     * @param remotes where it can be reached
     * @param tie decides among equals: connections share them
     */
    List<Path> pathsTo(String peer, List<PeerLink> remotes, long tie);

    /** Time to wait for a route when none is known: others may have started later. */
    Duration patience();

    /**
     * Reason for the lack of a route to a peer, with the shape that is seen and what would help; empty if nothing is
     * known.
     */
    String report(List<PeerLink> remotes);

    /** The order of nodes that needs no relay, ready to paste. */
    String advice();

    /** A communicator is open in this process: without a cluster key, its members are relayed for. */
    void opened(long communicator);

    /** It is open no more. */
    void closed(long communicator);

    /**
     * The last communicator of this process has ended, and the process may end any time: waits some seconds at most
     * until others have what they send each other through it.
     */
    void drain();
}
