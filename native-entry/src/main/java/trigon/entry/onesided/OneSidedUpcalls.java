package trigon.entry.onesided;

import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.util.List;
import trigon.entry.host.CallFailures;
import trigon.entry.host.UpcallStubs;
import trigon.nccl.DeviceProperties;
import trigon.nccl.NcclResult;
import trigon.onesided.OneSided;
import trigon.onesided.group.Traffic;
import trigon.onesided.memory.Transfer;
import trigon.system.Memory;

/**
 * The upcall targets of one-sided communication. C has checked the addresses for null, and set what they point to to
 * null. Results that are negative in Java are NCCL's codes in C.
 */
public final class OneSidedUpcalls {

    /** {@code NCCL_ONE_SIDED_FLAG_NEVER_RESET} of NCCL's registration flags. */
    static final long NEVER_RESET = 2;

    private static final OneSidedCall[] CALLS = OneSidedCall.values();
    private static final int INVALID_ARGUMENT = NcclResult.INVALID_ARGUMENT.code();
    private static final int SUCCESS = NcclResult.SUCCESS.code();

    private final OneSided oneSided;
    private final CallFailures failures;

    OneSidedUpcalls(OneSided oneSided, CallFailures failures) {
        this.oneSided = oneSided;
        this.failures = failures;
    }

    /**
     * Fills C's table ({@code struct one_sided_upcalls} in {@code one_sided/upcalls.h}).
     *
     * @throws trigon.entry.host.InstallationException where C expects another number of calls
     */
    public static void fill(OneSidedBlock block, OneSided oneSided, CallFailures failures) {
        OneSidedUpcalls target = new OneSidedUpcalls(oneSided, failures);
        List<Long> inOrderOfC = List.of(
                stub(target, "control", 7),
                stub(target, "put", 13),
                stub(target, "get", 9),
                stub(target, "flush", 3),
                stub(target, "test", 3),
                stub(target, "progress", 1));
        UpcallStubs.fill(block.upcalls(), block.upcallCount(), inOrderOfC);
    }

    private static long stub(OneSidedUpcalls target, String method, int arguments) {
        return UpcallStubs.stub(MethodHandles.lookup(), target, method, arguments, Arena.global());
    }

    /**
     * One of the calls that are not made for every message.
     *
     * @param number of the {@link OneSidedCall}
     */
    int control(long number, long first, long second, long third, long fourth, long fifth, long sixth) {
        OneSidedCall call = CALLS[(int) number];
        try {
            switch (call) {
                case OPEN_CONTEXT -> Memory.putLong(second, oneSided.openContext(first));
                case FINALIZE -> oneSided.closeContext(first);
                case LISTEN -> Memory.putLong(fourth, oneSided.listen(first, (int) second, third));
                case CONNECT ->
                    Memory.putLong(sixth, oneSided.connect(first, (int) second, (int) third, fourth, fifth != 0));
                case CREATE_CONTEXT -> Memory.putLong(fourth, oneSided.createContext(first, (int) second, (int) third));
                case DESTROY_CONTEXT -> oneSided.destroyContext(first);
                case REG_MR_SYM ->
                    Memory.putLong(
                            sixth,
                            oneSided.register(
                                    first,
                                    second,
                                    third,
                                    fourth != DeviceProperties.POINTER_HOST,
                                    (fifth & NEVER_RESET) != 0));
                case DEREG_MR_SYM -> oneSided.deregister(first, second);
                case CLOSE_COLL -> oneSided.closeComm(first);
                case CLOSE_LISTEN -> oneSided.closeListen(first);
                case QUERY_LAST_ERROR -> Memory.putByte(second, (byte) (oneSided.hasFailed(first) ? 1 : 0));
            }
            return SUCCESS;
        } catch (Throwable thrown) {
            int result = failures.report(nameOf(call), thrown);
            return switch (call) {
                case FINALIZE, DESTROY_CONTEXT, DEREG_MR_SYM, CLOSE_COLL, CLOSE_LISTEN ->
                    SUCCESS; // an error would make NCCL stop to free what is left
                default -> result;
            };
        }
    }

    private static String nameOf(OneSidedCall call) {
        return "one-sided "
                + switch (call) {
                    case OPEN_CONTEXT -> "init";
                    case FINALIZE -> "finalize";
                    case LISTEN -> "listen";
                    case CONNECT -> "connect";
                    case CREATE_CONTEXT -> "createContext";
                    case DESTROY_CONTEXT -> "destroyContext";
                    case REG_MR_SYM -> "regMrSym";
                    case DEREG_MR_SYM -> "deregMrSym";
                    case CLOSE_COLL -> "closeColl";
                    case CLOSE_LISTEN -> "closeListen";
                    case QUERY_LAST_ERROR -> "queryLastError";
                };
    }

    int put(
            long handle,
            long context,
            long sourceOffset,
            long source,
            long size,
            long offset,
            long target,
            long rank,
            long signalOffset,
            long signal,
            long value,
            long operation,
            long requestOut) {
        try {
            Traffic traffic = oneSided.traffic(handle, (int) context);
            if (traffic == null) {
                return INVALID_ARGUMENT;
            }
            Transfer put = traffic.transfer()
                    .copy(sourceOffset, source, size, offset, target)
                    .signal(signalOffset, signal, value, (int) operation);
            return returned(traffic.put(put, (int) rank), requestOut);
        } catch (Throwable thrown) {
            return failures.report("iput", thrown);
        }
    }

    int get(
            long handle,
            long context,
            long remoteOffset,
            long remote,
            long size,
            long localOffset,
            long local,
            long rank,
            long requestOut) {
        try {
            Traffic traffic = oneSided.traffic(handle, (int) context);
            if (traffic == null) {
                return INVALID_ARGUMENT;
            }
            Transfer get = traffic.transfer().copy(remoteOffset, remote, size, localOffset, local);
            return returned(traffic.get(get, (int) rank), requestOut);
        } catch (Throwable thrown) {
            return failures.report("iget", thrown);
        }
    }

    int flush(long handle, long context, long requestOut) {
        try {
            Traffic traffic = oneSided.traffic(handle, (int) context);
            return traffic == null ? INVALID_ARGUMENT : returned(traffic.flush(), requestOut);
        } catch (Throwable thrown) {
            return failures.report("one-sided iflush", thrown);
        }
    }

    int test(long handle, long request, long doneOut) {
        try {
            int done = oneSided.test(handle, request);
            if (done < 0) {
                return -done;
            }
            Memory.putInt(doneOut, done);
            return SUCCESS;
        } catch (Throwable thrown) {
            return failures.report("one-sided test", thrown);
        }
    }

    int progress(long handle) {
        try {
            return -oneSided.progress(handle);
        } catch (Throwable thrown) {
            return failures.report("one-sided progress", thrown);
        }
    }

    private static int returned(long request, long requestOut) {
        if (request < 0) {
            return (int) -request;
        }
        Memory.putLong(requestOut, request);
        return SUCCESS;
    }
}
