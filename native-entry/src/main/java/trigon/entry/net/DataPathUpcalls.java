package trigon.entry.net;

import trigon.entry.host.CallFailures;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;
import trigon.system.Memory;

/**
 * The data path's upcall targets. One comm's calls come from one thread at a time. Allocates nothing unless a call
 * throws, which is a defect.
 *
 * <p>C has checked the addresses for null. There is one buffer per call, so the arrays have one element.
 */
public final class DataPathUpcalls {

    /** The longest message that NCCL sends ({@code MAX_NET_SIZE}). */
    private static final long MAX_MESSAGE_BYTES = 1L << 30;

    private static final long NULL = 0;
    private static final int SUCCESS = NcclResult.SUCCESS.code();
    private static final int INVALID_ARGUMENT = NcclResult.INVALID_ARGUMENT.code();

    private NetPlugin plugin;
    private final CallFailures failures;

    /**
     * Targets.
     *
     * @param plugin where the calls go
     * @param failures where what they throw goes
     */
    public DataPathUpcalls(NetPlugin plugin, CallFailures failures) {
        this.plugin = plugin;
        this.failures = failures;
    }

    /** Replaces the plugin that calls go to; before C knows the calls. */
    void replacePlugin(NetPlugin next) {
        plugin = next;
    }

    int isend(long sendComm, long address, long size, long tag, long memoryHandle, long requestOut) {
        try {
            if (isNoBuffer(address, size)) {
                return INVALID_ARGUMENT;
            }
            return returned(plugin.isend(sendComm, address, size, (int) tag, memoryHandle), requestOut);
        } catch (Throwable thrown) {
            return failures.report("isend", thrown);
        }
    }

    int irecv(long receiveComm, long addresses, long sizes, long tags, long memoryHandles, long request) {
        try {
            Memory.putLong(request, NULL);
            long address = Memory.getLong(addresses);
            long size = Memory.getLong(sizes);
            if (isNoBuffer(address, size)) {
                return INVALID_ARGUMENT;
            }
            return returned(
                    plugin.irecv(receiveComm, address, size, Memory.getInt(tags), Memory.getLong(memoryHandles)),
                    request);
        } catch (Throwable thrown) {
            return failures.report("irecv", thrown);
        }
    }

    /**
     * Asks for a request.
     *
     * @param doneOut an {@code int}, which C has set to 0
     * @param sizes an {@code int}, or null where NCCL does not want to know
     */
    int test(long request, long doneOut, long sizes) {
        try {
            long bytes = plugin.test(request);
            if (bytes == NetPlugin.NOT_DONE) {
                return SUCCESS;
            }
            if (bytes < 0) {
                return (int) -bytes;
            }
            if (sizes != NULL) {
                Memory.putInt(sizes, (int) bytes);
            }
            Memory.putInt(doneOut, 1);
            return SUCCESS;
        } catch (Throwable thrown) {
            return failures.report("test", thrown);
        }
    }

    private static boolean isNoBuffer(long address, long size) {
        return size < 0 || size > MAX_MESSAGE_BYTES || (address == NULL && size != 0);
    }

    /** Splits what the plugin returned: a request, or none yet, goes to NCCL's slot; a failure is the result. */
    static int returned(long requestOrFailure, long requestOut) {
        if (requestOrFailure < 0) {
            return (int) -requestOrFailure;
        }
        Memory.putLong(requestOut, requestOrFailure);
        return SUCCESS;
    }
}
