package trigon.handshake.connect;

import trigon.config.HandshakeConfig;
import trigon.handshake.lifeline.HandshakeEventLoop;
import trigon.stream.dial.Dialer;
import trigon.system.kernel.TcpSegments;

/** The parts that all connections of a client share. Thread-safe, but for what belongs to the event loop. */
final class ClientServices {

    private final HandshakeEventLoop loop;
    private final HandshakeConfig config;
    private final Dialer dialer;
    private final FrameChecks frameChecks;

    /**
     * Those of one client.
     *
     * @param loop the thread of all handshakes
     * @param config the settings in force
     * @param dialer knows the way to each listener
     */
    ClientServices(HandshakeEventLoop loop, HandshakeConfig config, Dialer dialer) {
        this(loop, config, dialer, TcpSegments::readLosses);
    }

    /** The same with another kernel's word on what is lost. */
    ClientServices(HandshakeEventLoop loop, HandshakeConfig config, Dialer dialer, FrameChecks.LossReader losses) {
        this.loop = loop;
        this.config = config;
        this.dialer = dialer;
        frameChecks = new FrameChecks(this, losses);
    }

    HandshakeEventLoop loop() {
        return loop;
    }

    HandshakeConfig config() {
        return config;
    }

    Dialer dialer() {
        return dialer;
    }

    /** Checks whether frames of the full size are lost; the event loop's. */
    FrameChecks frameChecks() {
        return frameChecks;
    }
}
