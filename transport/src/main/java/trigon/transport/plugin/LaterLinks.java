package trigon.transport.plugin;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.handshake.message.HandshakeException;
import trigon.handshake.message.LinkAddress;
import trigon.routing.DiscoveredLinks;
import trigon.routing.LinkSearch;
import trigon.routing.LocalLink;
import trigon.routing.SharedSubnets;
import trigon.routing.table.RoutingTable;
import trigon.transport.connect.CandidatePaths;
import trigon.transport.path.Link;
import trigon.verbs.VerbsException;

/**
 * Links that the machine gets after the plugin was opened: an address, an interface, a port that becomes active. What
 * is connected from then on knows them; the device that NCCL sees stays the same. Any thread may say that something has
 * changed; the rest runs on control threads, one at a time.
 */
final class LaterLinks {

    private static final Logger log = LoggerFactory.getLogger(LaterLinks.class);

    /** Each costs descriptors and a row of counters, and handles have no room for many: the rest is left out. */
    private static final int MAX = 32;

    private final PluginSetup setup;
    private final NodeResources node;
    private final CandidatePaths candidates;
    private final LinkSearch search;
    private final Executor soon;
    private final AtomicBoolean due = new AtomicBoolean();
    private volatile List<LinkAddress> addresses;
    private DiscoveredLinks known;

    /**
     * None yet.
     *
     * @param soon runs what may block, a moment later
     */
    LaterLinks(PluginSetup setup, NodeResources node, CandidatePaths candidates, Executor soon) {
        this.setup = setup;
        this.node = node;
        this.candidates = candidates;
        this.soon = soon;
        search = setup.host().search();
        known = node.discovered();
        addresses = advertised();
    }

    private List<LinkAddress> advertised() {
        return node.links().advertised(address -> node.listeners().port(address));
    }

    /** Returns where this process listens now, as peers are told. */
    List<LinkAddress> addresses() {
        return addresses;
    }

    /** Something has changed: there is one look for all that does within a moment. */
    void mayHaveCome() {
        if (due.compareAndSet(false, true)) {
            soon.execute(this::look);
        }
    }

    private synchronized void look() {
        due.set(false);
        List<LocalLink> now = node.links().all().stream().map(Link::local).toList();
        try {
            List<LocalLink> added = new ArrayList<>();
            for (LocalLink link : search.beyond(now)) {
                if (now.size() + added.size() < MAX && tryToOpen(link)) {
                    added.add(link);
                }
            }
            if (!added.isEmpty()) {
                known = known.with(added);
                candidates.use(
                        RoutingTable.of(setup.config(), known, setup.host().kernel()));
                addresses = advertised();
                added.forEach(link ->
                        log.info("new link {}: {}; connections made from now on can use it", link, link.carrier()));
                warnOfSharedSubnets(now);
            }
        } catch (RuntimeException e) {
            log.warn("cannot use links that came up after the start: {}", e.getMessage());
        }
    }

    /** An address that the kernel still examines cannot be listened on yet; its next event is the next try. */
    private boolean tryToOpen(LocalLink link) {
        try {
            node.listeners().listen(link.bindAddress());
            node.links().add(link);
            return true;
        } catch (HandshakeException | VerbsException e) {
            log.debug("{} cannot be used yet: {}", link, e.getMessage());
            return false;
        }
    }

    private void warnOfSharedSubnets(List<LocalLink> before) {
        List<String> warned = SharedSubnets.warnings(before, setup.host().kernel());
        SharedSubnets.warnings(known.links(), setup.host().kernel()).stream()
                .filter(warning -> !warned.contains(warning))
                .forEach(warning -> log.warn("{}", warning));
    }
}
