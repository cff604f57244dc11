package trigon.entry.net;

import org.jspecify.annotations.Nullable;
import trigon.entry.host.CallFailures;
import trigon.nccl.NcclResult;
import trigon.nccl.NetPlugin;
import trigon.system.Memory;

/**
 * The control path's upcall target: contexts, devices, connections, memory, and flushes, which nobody needs who
 * receives into host memory. C has checked the addresses for null and set what they point to to null. Any thread.
 */
final class ControlUpcalls {

    /** {@code sizeof(ncclNetCommConfig_t)}, v10 to v12. */
    static final int CONFIG_BYTES = 4;

    static final int CONFIG_TRAFFIC_CLASS = 0;

    /** {@code DEFAULT_CONTEXT} of {@code net/upcalls.h}: in place of a context in the API versions that have none. */
    static final long DEFAULT_CONTEXT = -1;

    private static final ControlCall[] CALLS = ControlCall.values();

    private static final long NULL = 0;
    private static final int SUCCESS = NcclResult.SUCCESS.code();

    /** Bytes of heap that are set free when it is full, so that connections can still be closed. */
    private static final int RESERVE_BYTES = 512 << 10;

    private NetPlugin plugin;
    private final CallFailures failures;
    private final PropertiesWriter propertiesWriter = new PropertiesWriter();
    private long defaultContext;

    @SuppressWarnings("UnusedVariable") // it is there to be let go of
    private volatile byte @Nullable [] reserve;

    ControlUpcalls(NetPlugin plugin, CallFailures failures) {
        this.plugin = plugin;
        this.failures = failures;
    }

    /** Replaces the plugin that calls go to; before C knows the calls. */
    void replacePlugin(NetPlugin next) {
        plugin = next;
        reserve = new byte[RESERVE_BYTES];
    }

    /**
     * One of the calls below. All of them have one upcall stub, since each stub costs some milliseconds of the start.
     *
     * @param number of the {@link ControlCall}
     */
    int call(long number, long first, long second, long third, long fourth, long fifth) {
        return switch (CALLS[(int) number]) {
            case OPEN_CONTEXT -> openContext(first, second, third);
            case OPEN_DEFAULT_CONTEXT -> openDefaultContext();
            case FINALIZE -> closeContext(first);
            case DEVICES -> devices(first);
            case GET_PROPERTIES -> properties(first, second, third);
            case LISTEN -> listen(first, second, third, fourth);
            case CONNECT -> connect(first, second, third, fourth, fifth);
            case ACCEPT -> accept(first, second);
            case REG_MR -> registerMemory(first, second, third, fourth, fifth);
            case REG_MR_DMA_BUF -> registerDmaBuf(first, second, third);
            case DEREG_MR -> deregisterMemory(first, second);
            case IFLUSH -> iflush(first, second, third, fourth, fifth);
            case CLOSE_SEND -> closeSend(first);
            case CLOSE_RECV -> closeReceive(first);
            case CLOSE_LISTEN -> closeListen(first);
            case MAKE_ROOM -> makeRoom();
        };
    }

    int openContext(long contextOut, long commId, long config) {
        try {
            Memory.putLong(contextOut, plugin.openContext(commId, trafficClass(config)));
            return SUCCESS;
        } catch (Throwable thrown) {
            return failures.report("init", thrown);
        }
    }

    /** Before v11 there are no contexts and no finalize: one serves the process. */
    int openDefaultContext() {
        try {
            synchronized (this) {
                if (defaultContext == NULL) {
                    defaultContext = plugin.openContext(0, NetPlugin.TRAFFIC_CLASS_UNDEFINED);
                }
            }
            return SUCCESS;
        } catch (Throwable thrown) {
            return failures.report("init", thrown);
        }
    }

    int closeContext(long context) {
        try {
            plugin.closeContext(context);
        } catch (Throwable thrown) {
            failures.report("finalize", thrown);
        }
        return SUCCESS; // an error would only make NCCL leak
    }

    int devices(long countOut) {
        try {
            Memory.putInt(countOut, plugin.devices());
            return SUCCESS;
        } catch (Throwable thrown) {
            return failures.report("devices", thrown);
        }
    }

    int properties(long version, long device, long propertiesOut) {
        try {
            int number = device(device);
            propertiesWriter.write(
                    PropertiesLayout.of((int) version), propertiesOut, number, plugin.properties(number));
            return SUCCESS;
        } catch (Throwable thrown) {
            return failures.report("getProperties", thrown);
        }
    }

    int listen(long context, long device, long handle, long listenCommOut) {
        try {
            Memory.putLong(listenCommOut, plugin.listen(context(context), device(device), handle));
            return SUCCESS;
        } catch (Throwable thrown) {
            return failures.report("listen", thrown);
        }
    }

    int connect(long context, long device, long handle, long config, long sendCommOut) {
        try {
            Memory.putLong(sendCommOut, plugin.connect(context(context), device(device), handle, trafficClass(config)));
            return SUCCESS;
        } catch (Throwable thrown) {
            return failures.report("connect", thrown);
        }
    }

    int accept(long listenComm, long receiveCommOut) {
        try {
            Memory.putLong(receiveCommOut, plugin.accept(listenComm));
            return SUCCESS;
        } catch (Throwable thrown) {
            return failures.report("accept", thrown);
        }
    }

    int registerMemory(long comm, long address, long size, long type, long memoryHandleOut) {
        try {
            if (address == NULL || size <= 0) {
                throw new IllegalArgumentException("no memory: %d bytes at 0x%x".formatted(size, address));
            }
            Memory.putLong(memoryHandleOut, plugin.registerMemory(comm, address, size, (int) type));
            return SUCCESS;
        } catch (Throwable thrown) {
            return failures.report("regMr", thrown);
        }
    }

    /**
     * Registers memory that a descriptor lends.
     *
     * @param lent address, size, offset and descriptor, 8 bytes each
     */
    int registerDmaBuf(long comm, long lent, long memoryHandleOut) {
        try {
            long address = Memory.getLong(lent);
            long size = Memory.getLong(lent + Long.BYTES);
            long offset = Memory.getLong(lent + 2 * Long.BYTES);
            if (address == NULL || size <= 0) {
                throw new IllegalArgumentException("no memory: %d bytes at 0x%x".formatted(size, address));
            }
            int descriptor = (int) Memory.getLong(lent + 3 * Long.BYTES);
            Memory.putLong(memoryHandleOut, plugin.registerDmaBuf(comm, address, size, offset, descriptor));
            return SUCCESS;
        } catch (Throwable thrown) {
            return failures.report("regMrDmaBuf", thrown);
        }
    }

    int deregisterMemory(long comm, long memoryHandle) {
        try {
            plugin.deregisterMemory(comm, memoryHandle);
        } catch (Throwable thrown) {
            failures.report("deregMr", thrown);
        }
        return SUCCESS; // an error would make NCCL stop to free what is left
    }

    int iflush(long receiveComm, long addresses, long sizes, long memoryHandles, long requestOut) {
        try {
            long flushed = plugin.iflush(
                    receiveComm, Memory.getLong(addresses), Memory.getInt(sizes), Memory.getLong(memoryHandles));
            return DataPathUpcalls.returned(flushed, requestOut);
        } catch (Throwable thrown) {
            return failures.report("iflush", thrown);
        }
    }

    int closeSend(long sendComm) {
        try {
            plugin.closeSend(sendComm);
        } catch (Throwable thrown) {
            failures.report("closeSend", thrown);
        }
        return SUCCESS;
    }

    int closeReceive(long receiveComm) {
        try {
            plugin.closeReceive(receiveComm);
        } catch (Throwable thrown) {
            failures.report("closeRecv", thrown);
        }
        return SUCCESS;
    }

    int closeListen(long listenComm) {
        try {
            plugin.closeListen(listenComm);
        } catch (Throwable thrown) {
            failures.report("closeListen", thrown);
        }
        return SUCCESS;
    }

    /** Java has run out of memory, and something is to be closed. */
    int makeRoom() {
        reserve = null;
        return SUCCESS;
    }

    private synchronized long defaultContext() {
        return defaultContext;
    }

    private long context(long context) {
        return context == DEFAULT_CONTEXT ? defaultContext() : context;
    }

    private int device(long device) {
        int count = plugin.devices();
        if (device < 0 || device >= count) {
            throw new IllegalArgumentException("no device %d: there are %d".formatted(device, count));
        }
        return (int) device;
    }

    private static int trafficClass(long config) {
        return config == NULL ? NetPlugin.TRAFFIC_CLASS_UNDEFINED : Memory.getInt(config + CONFIG_TRAFFIC_CLASS);
    }
}
