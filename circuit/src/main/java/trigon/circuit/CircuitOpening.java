package trigon.circuit;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The side that wants a circuit, without I/O: who has the connection reads what is {@link #expected} and no more, and
 * then asks for the {@link #next} step. One thread at a time.
 */
public final class CircuitOpening {

    /** What to do. */
    public sealed interface Step {

        /** Read what is expected now. */
        record Read() implements Step {}

        /** Send these bytes, then read what is expected now. */
        record Send(byte[] bytes) implements Step {}

        /** The way is open: what follows is between the two ends. */
        record Open() implements Step {}

        /** It will not be. */
        record Refused(String why) implements Step {}
    }

    private enum Phase {
        AWAITS_GREETING,
        AWAITS_REPLY,
        AWAITS_TEXT,
        OVER
    }

    private final CircuitRequest request;
    private final CircuitKeys keys;
    private Phase phase = Phase.AWAITS_GREETING;
    private ByteBuffer expected = ByteBuffer.allocate(CircuitFormat.GREETING_BYTES);
    private @Nullable String refusal;

    /** An opening that has done nothing yet. */
    public CircuitOpening(CircuitRequest request, CircuitKeys keys) {
        this.request = request;
        this.keys = keys;
    }

    /** Where the bytes go that are read next; full before {@link #next} is called. */
    public ByteBuffer expected() {
        return expected;
    }

    /** What was expected is there. */
    public Step next() {
        byte[] read = expected.array();
        switch (phase) {
            case AWAITS_GREETING -> {
                var flaw = CircuitFormat.flaw(read);
                if (flaw.isPresent()) {
                    return refused(flaw.get());
                }
                phase = Phase.AWAITS_REPLY;
                expected = ByteBuffer.allocate(CircuitFormat.REPLY_BYTES);
                return new Step.Send(request.encode(read, keys));
            }
            case AWAITS_REPLY -> {
                int text = CircuitFormat.textBytes(read);
                if (text < 0) {
                    return refused("its reply makes no sense");
                }
                if (text == 0) {
                    phase = Phase.OVER;
                    return new Step.Open();
                }
                phase = Phase.AWAITS_TEXT;
                expected = ByteBuffer.allocate(text);
                return new Step.Read();
            }
            case AWAITS_TEXT -> {
                return refused(new String(read, StandardCharsets.UTF_8).replaceAll("\\p{Cntrl}", "?"));
            }
            case OVER -> {
                return refusal == null ? new Step.Open() : new Step.Refused(refusal);
            }
        }
        throw new AssertionError(phase);
    }

    private Step refused(String why) {
        phase = Phase.OVER;
        refusal = why;
        return new Step.Refused(why);
    }
}
