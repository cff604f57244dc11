package trigon.verbs;

import java.util.List;

/**
 * A source of RDMA devices: libibverbs, or the software devices.
 *
 * <p>Thread-safe. Lives as long as the process; the contexts it opens are closed by whoever opened them.
 */
public interface VerbsProvider {

    /** The provider's name in logs, for example {@code libibverbs}. */
    String name();

    /** The carrier of this provider's data. */
    LinkKind linkKind();

    /** Names of the devices that exist now, in the provider's order. Empty if there are none. */
    List<String> deviceNames();

    /**
     * Opens a device.
     *
     * @throws VerbsException if there is no such device or it cannot be opened
     * @see <a href="https://man7.org/linux/man-pages/man3/ibv_open_device.3.html">ibv_open_device(3)</a>
     */
    DeviceContext open(String deviceName);

    /** Counts what was opened through this provider and not closed yet. */
    ResourceLedger ledger();
}
