package trigon.entry;

import trigon.transport.NcclResult;
import trigon.verbs.VerbsException;

/** Which result NCCL gets for which exception; nowhere else is that decided. */
final class NcclResults {

    private NcclResults() {}

    /** The result for an exception that ended a call of NCCL's. */
    static NcclResult of(Throwable thrown) {
        return switch (thrown) {
            case VerbsException _ -> NcclResult.SYSTEM_ERROR;
            case InstallationException _ -> NcclResult.INVALID_USAGE;
            case IllegalArgumentException _ -> NcclResult.INVALID_ARGUMENT;
            default -> NcclResult.INTERNAL_ERROR;
        };
    }
}
