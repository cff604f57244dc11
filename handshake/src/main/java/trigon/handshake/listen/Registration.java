package trigon.handshake.listen;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import trigon.handshake.OfferHandler;
import trigon.handshake.message.ConnectionSecret;
import trigon.handshake.message.HandshakeException.Kind;
import trigon.handshake.message.Stripe;

/**
 * A connection that is waited for, or that may go on over new paths, and the attempt at it that is under way: a
 * handshake for each of its queue pairs.
 * Event loop only, but for the secret and the handler.
 */
final class Registration {

    private final ConnectionSecret secret;
    private final OfferHandler handler;
    private final boolean resumes;
    /** The attempt's handshakes that are not over, by the queue pair's index. */
    private final SortedMap<Integer, IncomingConnection> current = new TreeMap<>();

    private long attempt;
    /** Queue pairs of the attempt that are established, a bit for each. */
    private int established;
    /** Those whose offer has been made again over a connection of its own. */
    private int repeated;
    /** The number of the connection's queue pairs; 0 as long as nothing is established. */
    private int stripes;

    /** A registration of a connection that is waited for. */
    Registration(ConnectionSecret secret, OfferHandler handler) {
        this(secret, handler, false);
    }

    /**
     * A registration.
     *
     * @param resumes whether the connection is there, and may go on over new paths
     */
    Registration(ConnectionSecret secret, OfferHandler handler, boolean resumes) {
        this.secret = secret;
        this.handler = handler;
        this.resumes = resumes;
    }

    ConnectionSecret secret() {
        return secret;
    }

    OfferHandler handler() {
        return handler;
    }

    /** Returns whether the connection is there, and may go on over new paths. */
    boolean resumes() {
        return resumes;
    }

    /** Returns whether a link came of it: there is only one. */
    boolean isConnected() {
        return stripes > 0 && Integer.bitCount(established) == stripes;
    }

    /**
     * A handshake begins. The peer makes one attempt at a time, so with a new one it has given up the former, even
     * where the news of that is lost on a dead path. Of two connections with the same offer the one that repeats it
     * counts, also where the other one's is read later.
     *
     * @param repeats whether the offer was made over another connection before
     * @return false if another one counts
     */
    boolean begin(IncomingConnection handshake, Stripe stripe, boolean repeats) {
        if (stripe.attempt() != attempt) {
            failAll("the peer tries another path");
            attempt = stripe.attempt();
            established = 0;
            repeated = 0;
            stripes = 0;
        }
        int bit = 1 << stripe.index();
        if (!repeats && (repeated & bit) != 0) {
            return false;
        }
        repeated |= repeats ? bit : 0;
        IncomingConnection former = current.put(stripe.index(), handshake);
        if (former != null) {
            former.fail(Kind.ABANDONED, "the peer tries another path");
        }
        return true;
    }

    /**
     * The peer is ready.
     *
     * @param count how many queue pairs it says the connection has
     * @return whether that can be
     */
    boolean established(Stripe stripe, int count) {
        int bit = 1 << stripe.index();
        boolean possible = count <= stripe.offered() && (stripes == 0 || stripes == count) && (established & bit) == 0;
        if (!possible) {
            return false;
        }
        stripes = count;
        established |= bit;
        current.remove(stripe.index());
        if (isConnected()) {
            failAll("the peer has connected without it");
        }
        return true;
    }

    void ended(@Nullable Stripe stripe, IncomingConnection handshake) {
        if (stripe != null) {
            current.remove(stripe.index(), handshake);
        }
    }

    void unregistered() {
        for (IncomingConnection handshake : List.copyOf(current.values())) {
            handshake.reject(Kind.ABANDONED, "the listener was closed");
        }
    }

    private void failAll(String why) {
        for (IncomingConnection handshake : List.copyOf(current.values())) {
            handshake.fail(Kind.ABANDONED, why);
        }
    }
}
