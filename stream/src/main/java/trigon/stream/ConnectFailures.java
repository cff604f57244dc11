package trigon.stream;

import java.net.ConnectException;
import org.jspecify.annotations.Nullable;

/** Failures of connect(2), as far as they differ in who says so. */
public final class ConnectFailures {

    private ConnectFailures() {}

    /**
     * Returns whether the kernel at the other end, or a firewall before it, says that nobody listens: ECONNREFUSED. The
     * JDK has the same type for ETIMEDOUT, which takes longer than anybody waits here. The text says nothing: it is in
     * the host program's language.
     */
    public static boolean isRefusal(@Nullable Throwable failure) {
        return failure instanceof ConnectException;
    }
}
