package trigon.stream.circuit;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import trigon.stream.Conversation;
import trigon.stream.RefusalCause;

/** The side that wants a circuit. */
public final class CircuitOpening implements Conversation {

    /** Would change what a terminal shows: C0 and C1, and marks of directions and lines. */
    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}]");

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
    private RefusalCause cause = RefusalCause.NEXT_RELAY;
    private @Nullable Step refusal;

    /** An opening that has done nothing yet. */
    public CircuitOpening(CircuitRequest request, CircuitKeys keys) {
        this.request = request;
        this.keys = keys;
    }

    @Override
    public ByteBuffer expected() {
        return expected;
    }

    @Override
    public Step next() {
        byte[] read = expected.array();
        return switch (phase) {
            case AWAITS_GREETING -> greeted(read);
            case AWAITS_REPLY -> replied(read);
            case AWAITS_TEXT ->
                refused(
                        cause,
                        UNPRINTABLE
                                .matcher(new String(read, StandardCharsets.UTF_8))
                                .replaceAll("?"));
            case OVER -> refusal == null ? new Step.Open() : refusal;
        };
    }

    private Step greeted(byte[] greeting) {
        Optional<String> flaw = CircuitFormat.flaw(greeting);
        if (flaw.isPresent()) {
            return refused(RefusalCause.DENIED, flaw.get());
        }
        phase = Phase.AWAITS_REPLY;
        expected = ByteBuffer.allocate(CircuitFormat.REPLY_BYTES);
        return new Step.Send(request.encode(greeting, keys));
    }

    private Step replied(byte[] reply) {
        int text = CircuitFormat.textBytes(reply);
        if (text == 0) {
            phase = Phase.OVER;
            return new Step.Open();
        }
        Optional<RefusalCause> told = CircuitFormat.cause(reply);
        if (text < 0 || told.isEmpty()) {
            return refused(RefusalCause.DENIED, "its reply is malformed");
        }
        cause = told.get();
        phase = Phase.AWAITS_TEXT;
        expected = ByteBuffer.allocate(text);
        return new Step.Read();
    }

    private Step refused(RefusalCause why, String text) {
        phase = Phase.OVER;
        refusal = new Step.NotOpened(why, text);
        return refusal;
    }
}
