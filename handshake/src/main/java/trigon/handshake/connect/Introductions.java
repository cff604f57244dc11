package trigon.handshake.connect;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Introductions of this process to listeners: few, though each connection on its way up asks for some. Any thread. */
final class Introductions {

    /** A listener may have learnt another key of the job by then. */
    private static final long KEY_NANOS = Duration.ofMillis(250).toNanos();

    /** The id of the job's key that a listener has been told, and when. */
    private record Told(long key, long at) {}

    private final ClientServices services;
    private final Map<InetSocketAddress, Told> introduced = new ConcurrentHashMap<>(); // as many as there are peers

    Introductions(ClientServices services) {
        this.services = services;
    }

    /** Begins one, unless the listener has been told the present key a moment ago. */
    void begin(Target target) {
        Told now = new Told(
                services.loop().jobKeys().current().id(),
                services.loop().clock().nanoTime());
        Told last = introduced.merge(
                target.remote(), now, (told, _) -> told.key == now.key && now.at - told.at < KEY_NANOS ? told : now);
        if (last.equals(now)) {
            new IntroductionConnection(services, services.config().timeout(), target).start();
        }
    }
}
