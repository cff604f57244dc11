package trigon.onesided.peer;

import org.jspecify.annotations.Nullable;
import trigon.onesided.memory.Window;

/** An operation to be sent: a record, and its payload. Kept and filled anew; its group's thread's. */
final class Operation {

    int kind;

    /** Window of the payload; null where there is none. */
    @Nullable
    Window source;

    long sourceOffset;

    int window;

    long offset;
    long size;

    int signalWindow;
    long signalOffset;
    long addend;

    /** NCCL's, which is finished with the last message; 0 for an answer, and for what a later record finishes. */
    long request;

    /** For who asks, and who answers: the asking rank's request and place. */
    long asked;

    int answerWindow;
    long answerOffset;

    /** Bytes of the messages that the payload goes in; 0: it goes in the record. */
    int pieceBytes;

    /** Messages that have not gone. */
    int remaining;

    /** When the payload is in the record. */
    long mark;

    void begin(int newKind) {
        kind = newKind;
        source = null;
        sourceOffset = 0;
        window = PutRecordLayout.NO_WINDOW;
        offset = 0;
        size = 0;
        signalWindow = PutRecordLayout.NO_WINDOW;
        signalOffset = 0;
        addend = 0;
        request = 0;
        asked = 0;
        answerWindow = PutRecordLayout.NO_WINDOW;
        answerOffset = 0;
        pieceBytes = 0;
        remaining = 0;
        mark = 0;
    }
}
