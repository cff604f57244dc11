package trigon.transport.plugin;

import trigon.transport.metrics.Metrics;
import trigon.transport.request.RequestTable;

/**
 * Memory in which others see what a plugin does; the plugin's from now on, which closes it.
 *
 * @param requests where the entry library sees requests
 * @param metrics what is counted
 */
public record VisibleState(RequestTable requests, Metrics metrics) {}
