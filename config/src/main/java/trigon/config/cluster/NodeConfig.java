package trigon.config.cluster;

import java.util.List;
import trigon.config.setting.Source;

/**
 * A node of the cluster.
 *
 * @param name its host name, or what {@code TRIGON_NODE} says there
 * @param index position in the file, from 0; the same on all nodes since the file is
 * @param nics in the file's order, which is the order of preference among equals; not empty
 * @param source where it is listed
 */
public record NodeConfig(String name, int index, List<NicConfig> nics, Source source) {

    public NodeConfig {
        nics = List.copyOf(nics);
    }
}
