package trigon.entry;

import java.util.Map;
import trigon.transport.NetPlugin;

/**
 * Makes the plugin that NCCL's calls go to: {@link TransportFactory}, unless {@link java.util.ServiceLoader} finds another
 * one on Trigon's own path, where tests put theirs.
 */
public interface NetPluginFactory {

    /**
     * Makes the plugin. Called once per process, on the thread that starts Java.
     *
     * @param environment the process's environment variables; nothing else reads them
     */
    NetPlugin create(Map<String, String> environment);
}
