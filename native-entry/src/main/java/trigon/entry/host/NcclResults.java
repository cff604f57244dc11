package trigon.entry.host;

import trigon.config.setting.ConfigException;
import trigon.handshake.message.HandshakeException;
import trigon.nccl.NcclResult;
import trigon.nccl.NoConnectionException;
import trigon.routing.table.NoPathException;
import trigon.verbs.VerbsException;

/** Which result NCCL gets for which exception; nowhere else is that decided. */
final class NcclResults {

    private NcclResults() {}

    /** The result for an exception that ended a call of NCCL's. */
    static NcclResult of(Throwable thrown) {
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
            case UNREACHABLE, BLOCKED, TIMED_OUT, REJECTED, DISCONNECTED, ABANDONED -> NcclResult.REMOTE_ERROR;
        };
    }
}
