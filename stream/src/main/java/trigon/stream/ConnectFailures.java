package trigon.stream;

import java.net.ConnectException;
import org.jspecify.annotations.Nullable;

/** Failures of connect(2), as far as they differ in who says so. */
public final class ConnectFailures {

    /** Text of ECONNREFUSED in the JDK's exceptions, of which no type has the errno. */
    private static final String REFUSED = "Connection refused";

    private ConnectFailures() {}

    /** Returns whether the kernel at the other end, or a firewall before it, says that nobody listens: ECONNREFUSED. */
    public static boolean isRefusal(@Nullable Throwable failure) {
        return failure instanceof ConnectException
                && String.valueOf(failure.getMessage()).startsWith(REFUSED);
    }
}
