package trigon.relay;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import trigon.stream.circuit.Prologue;
import trigon.stream.hop.HopDevices;
import trigon.stream.hop.HopUpgrade;

/**
 * Passes on by TCP the first words of the two ends of a circuit; then each of the two hops agrees on what carries the
 * rest. So no stranger gets slots: the ends prove to each other who they are by what they say first. The relay's
 * thread.
 */
final class CircuitUpgrade {

    private enum Phase {
        PROLOGUE,
        UPGRADING
    }

    private final Side incoming;
    private final Side outgoing;
    private final HopDevices hops;
    private final Splice onward;
    private final Splice back;
    private Phase phase = Phase.PROLOGUE;

    /**
     * One that begins.
     *
     * @param slots two empty ones, in use until the end
     */
    CircuitUpgrade(Side incoming, Side outgoing, Prologue prologue, HopDevices hops, ByteBuffer... slots) {
        this.incoming = incoming;
        this.outgoing = outgoing;
        this.hops = hops;
        onward = new Splice(incoming.carrier(), outgoing.carrier(), slots[0], prologue.forward());
        back = new Splice(outgoing.carrier(), incoming.carrier(), slots[1], prologue.back());
        await();
    }

    private void await() {
        incoming.await(onward.wantsToRead(), back.wantsToWrite());
        outgoing.await(back.wantsToRead(), onward.wantsToWrite());
    }

    /**
     * A socket is ready.
     *
     * @return whether both hops have agreed
     * @throws IOException if a neighbour has gone, or does not speak this protocol
     */
    boolean onReady() throws IOException {
        return switch (phase) {
            case PROLOGUE -> {
                pass();
                yield false;
            }
            case UPGRADING -> {
                boolean first = incoming.continueUpgrade();
                yield outgoing.continueUpgrade() && first;
            }
        };
    }

    private void pass() throws IOException {
        onward.step();
        back.step();
        if (onward.isOver() || back.isOver()) {
            throw new IOException("an end has closed the connection");
        }
        if (onward.isComplete() && back.isComplete()) {
            phase = Phase.UPGRADING;
            incoming.upgrade(HopUpgrade.ofIncoming(hops, local(incoming), neighbour(incoming)));
            outgoing.upgrade(HopUpgrade.ofOutgoing(hops, local(outgoing), neighbour(outgoing)));
        } else {
            await();
        }
    }

    private static InetAddress local(Side side) throws IOException {
        return side.ends().local().getAddress();
    }

    private static InetAddress neighbour(Side side) throws IOException {
        return side.ends().remote().getAddress();
    }
}
