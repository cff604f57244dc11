package trigon.entry.host;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.config.setting.ConfigException;
import trigon.entry.log.NcclLogger;
import trigon.handshake.message.HandshakeException;
import trigon.nccl.NcclResult;
import trigon.nccl.NoConnectionException;
import trigon.routing.table.NoPathException;
import trigon.verbs.VerbsException;

/**
 * Turns the exception that a call of NCCL's ends with into a line of the log and a result. Never throws; where the
 * JVM is out of memory or stack it allocates nothing either. Any thread.
 */
public final class CallFailures {

    private static final Logger LOG = LoggerFactory.getLogger(CallFailures.class);

    private final NcclLogger nccl;
    private final long outOfMemory;
    private final long outOfStack;

    /**
     * With lines that are made now, for when there is no memory to make any.
     *
     * @param nccl where those go
     */
    public CallFailures(NcclLogger nccl) {
        this.nccl = nccl;
        outOfMemory = nccl.prepare("a call failed because Java is out of memory; give it more, for example with"
                + " TRIGON_JAVA_OPTS=-Xmx512m");
        outOfStack = nccl.prepare("a call failed because the thread is out of stack; give NCCL's threads more, for"
                + " example with ulimit -s 8192");
    }

    /**
     * Reports an exception.
     *
     * @param call NCCL's name of the call
     * @return the code of the result that NCCL gets
     */
    public int report(String call, Throwable thrown) {
        try {
            if (thrown instanceof OutOfMemoryError) {
                nccl.warnPrepared(outOfMemory);
                return NcclResult.INTERNAL_ERROR.code();
            }
            if (thrown instanceof StackOverflowError) {
                nccl.warnPrepared(outOfStack);
                return NcclResult.INTERNAL_ERROR.code();
            }
            NcclResult result = result(thrown);
            if (result == NcclResult.INTERNAL_ERROR) {
                LOG.error("{} failed unexpectedly; please report this", call, thrown);
            } else {
                LOG.error("{} failed: {}", call, thrown.getMessage());
            }
            return result.code();
        } catch (Throwable alsoThrown) {
            return NcclResult.INTERNAL_ERROR.code();
        }
    }

    /** Returns the result for an exception that ended a call; nowhere else is that decided. */
    static NcclResult result(Throwable thrown) {
        return switch (thrown) {
            case VerbsException _ -> NcclResult.SYSTEM_ERROR;
            case NoPathException none when none.wereLinksDown() -> NcclResult.SYSTEM_ERROR;
            case ConfigException _, NoPathException _ -> NcclResult.INVALID_USAGE;
            case HandshakeException failure -> ofHandshake(failure.kind());
            case NoConnectionException _ -> NcclResult.REMOTE_ERROR;
            case InstallationException _ -> NcclResult.INVALID_USAGE;
            case IllegalArgumentException _ -> NcclResult.INVALID_ARGUMENT;
            default -> NcclResult.INTERNAL_ERROR;
        };
    }

    private static NcclResult ofHandshake(HandshakeException.Kind kind) {
        return switch (kind) {
            // the peer runs another network, or another Trigon, or has another cluster key
            case PROTOCOL, UNAUTHENTICATED -> NcclResult.INVALID_USAGE;
            case LISTEN -> NcclResult.SYSTEM_ERROR;
            case UNREACHABLE, REFUSED, NO_CIRCUIT, BLOCKED, TIMED_OUT, REJECTED, DISCONNECTED, ABANDONED ->
                NcclResult.REMOTE_ERROR;
        };
    }
}
