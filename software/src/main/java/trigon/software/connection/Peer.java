package trigon.software.connection;

import java.net.InetSocketAddress;
import trigon.software.wire.Preamble;
import trigon.verbs.Gid;

/**
 * The queue pair at the other end.
 *
 * @param gid GID of its port
 * @param number its number
 * @param address where its device listens
 */
public record Peer(Gid gid, int number, InetSocketAddress address) {

    /** Returns whether a preamble is its, with that first PSN. */
    public boolean matches(Preamble.Hello hello, int firstPsn) {
        return hello.source().equals(gid) && hello.sourceNumber() == number && hello.firstPsn() == firstPsn;
    }
}
