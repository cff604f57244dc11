package trigon.transport.plugin;

import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.UnaryOperator;
import trigon.config.PluginConfig;
import trigon.nccl.ConnectionAdvice;
import trigon.routing.DiscoveredLinks;
import trigon.routing.LinkSearch;
import trigon.routing.Relays;
import trigon.routing.RouteLookup;
import trigon.system.NanoClock;
import trigon.transport.metrics.Metrics;
import trigon.transport.request.RequestTable;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsProvider;

/**
 * What a {@link RoutedNetPlugin} is made of.
 *
 * @param config the settings
 * @param discovered this node's links; at least one
 * @param providers the devices behind them, by kind; they stay the caller's
 * @param kernel the kernel's routing table
 * @param hostName what peers see in their logs where the settings name no node
 * @param pageBytes size of the kernel's pages
 * @param requests where the entry library sees requests; the plugin's from now on
 * @param metrics what is counted; the plugin's from now on
 * @param search finds links that come later
 * @param relays the ways through relays; they stay the caller's
 * @param advice has a say in each connection
 * @param halfOpenTimer makes of the timer that waits between two looks for half-open connections the one to use
 * @param clock what handshakes, lifelines and all that waits for a while go by
 */
public record PluginSetup(
        PluginConfig config,
        DiscoveredLinks discovered,
        Map<LinkKind, VerbsProvider> providers,
        RouteLookup kernel,
        String hostName,
        int pageBytes,
        RequestTable requests,
        Metrics metrics,
        LinkSearch search,
        Relays relays,
        ConnectionAdvice advice,
        UnaryOperator<Executor> halfOpenTimer,
        NanoClock clock) {

    /** Without relays. */
    public PluginSetup(
            PluginConfig config,
            DiscoveredLinks discovered,
            Map<LinkKind, VerbsProvider> providers,
            RouteLookup kernel,
            String hostName,
            int pageBytes,
            RequestTable requests,
            Metrics metrics,
            UnaryOperator<Executor> halfOpenTimer,
            NanoClock clock) {
        this(
                config,
                discovered,
                providers,
                kernel,
                hostName,
                pageBytes,
                requests,
                metrics,
                LinkSearch.NONE,
                Relays.NONE,
                ConnectionAdvice.NONE,
                halfOpenTimer,
                clock);
    }

    /** With the timer as it is and the machine's clock, without relays. */
    public PluginSetup(
            PluginConfig config,
            DiscoveredLinks discovered,
            Map<LinkKind, VerbsProvider> providers,
            RouteLookup kernel,
            String hostName,
            int pageBytes,
            RequestTable requests,
            Metrics metrics) {
        this(
                config,
                discovered,
                providers,
                kernel,
                hostName,
                pageBytes,
                requests,
                metrics,
                UnaryOperator.identity(),
                NanoClock.SYSTEM);
    }
}
