package trigon.transport.metrics;

import java.io.IOException;

/** The counters that a process hands out are none that Trigon of this version makes. */
public final class UntrustedMetricsException extends IOException {

    private static final long serialVersionUID = 1L;

    UntrustedMetricsException(String message) {
        super(message);
    }

    UntrustedMetricsException(String message, Throwable cause) {
        super(message, cause);
    }
}
