package trigon.software.wire;

import trigon.system.Memory;

/** Requests and responses as {@code lane/software/wire.h} has them, for peers that are tests. */
public final class Messages {

    public static final int REQUEST_BYTES = 32;
    public static final int RESPONSE_BYTES = 16;

    /** The bytes of a request's header that its check is of: those before the check. */
    public static final int CHECKED_HEADER_BYTES = REQUEST_BYTES - Integer.BYTES;

    /** Opcodes of requests. */
    public static final int WRITE = 1;

    public static final int WRITE_WITH_IMMEDIATE = 2;
    public static final int SEND = 3;
    public static final int SEND_WITH_IMMEDIATE = 6;

    /** Added to the opcode of a request whose end is waited for: the acknowledgement is not to wait for others. */
    public static final int ACKNOWLEDGE_SOON = 0x200;

    /** Added to the opcode of a SEND that is to be answered by nothing but a refusal. */
    public static final int UNANSWERED = 0x400;

    /** Added to the opcode of a request behind whose payload comes one byte more, which says nothing. */
    public static final int WITH_TAIL = 0x800;

    /**
     * Added to the opcode of a SEND that may wait for its receive without a limit: nothing is said of that. It is
     * acknowledged, and with it all before it that are to have no answer of their own.
     */
    public static final int PATIENT = 0x1000;

    /**
     * Added to the opcode of a request that goes through relays: its header ends with the CRC32C of its other bytes, in
     * the place of the operand's upper half. Once a connection has had such a request, all of its requests are.
     */
    public static final int CHECKED = 0x2000;

    /** Added to the opcode of a {@link #CHECKED} SEND whose payload is checked, too: its remote key is the CRC32C. */
    public static final int CHECKED_PAYLOAD = 0x4000;

    public static final int TAIL_BYTES = 1;

    private static final int OPCODE_MASK = 0xFF;

    /** Kinds of responses. */
    public static final int ACK = 1;

    public static final int NAK = 2;
    public static final int RECEIVER_NOT_READY = 3;

    /** Reasons of a NAK, in {@link #responseDetail}. */
    public static final int REMOTE_ACCESS = 1;

    public static final int REMOTE_INVALID_REQUEST = 2;
    public static final int REMOTE_OPERATION = 3;

    private Messages() {}

    /** Without what may be added to it. */
    public static int plainOpcode(int opcode) {
        return opcode & OPCODE_MASK;
    }

    /** Returns whether it is that of a SEND, with or without an immediate. */
    public static boolean isSend(int plainOpcode) {
        return plainOpcode == SEND || plainOpcode == SEND_WITH_IMMEDIATE;
    }

    // ---- requests

    /**
     * Writes a request.
     *
     * @param operand WRITE_WITH_IMMEDIATE, SEND_WITH_IMMEDIATE: the immediate; else 0
     */
    public static void putRequest(
            long at, int opcode, int psn, int length, long remoteAddress, int remoteKey, long operand) {
        Memory.putInt(at, opcode);
        Memory.putInt(at + 4, psn);
        Memory.putLong(at + 8, remoteAddress);
        Memory.putInt(at + 16, remoteKey);
        Memory.putInt(at + 20, length);
        Memory.putLong(at + 24, operand);
    }

    public static int requestOpcode(long at) {
        return Memory.getInt(at);
    }

    public static int requestPsn(long at) {
        return Memory.getInt(at + 4);
    }

    public static long requestAddress(long at) {
        return Memory.getLong(at + 8);
    }

    public static int requestKey(long at) {
        return Memory.getInt(at + 16);
    }

    public static int requestLength(long at) {
        return Memory.getInt(at + 20);
    }

    public static long requestOperand(long at) {
        return Memory.getLong(at + 24);
    }

    /** Adds to the opcode of a request that was written. */
    public static void addToOpcode(long at, int flags) {
        Memory.putInt(at, requestOpcode(at) | flags);
    }

    /** Puts the check of its payload into a SEND that was written. */
    public static void putPayloadCheck(long at, int check) {
        Memory.putInt(at + 16, check);
    }

    /** Puts the check of its header into a request that was written, of which the operand's upper half says nothing. */
    public static void putHeaderCheck(long at, int check) {
        Memory.putInt(at + CHECKED_HEADER_BYTES, check);
    }

    public static int headerCheck(long at) {
        return Memory.getInt(at + CHECKED_HEADER_BYTES);
    }

    public static int payloadCheck(long at) {
        return requestKey(at);
    }

    // ---- responses

    /**
     * Writes a response.
     *
     * @param detail NAK: the reason; RECEIVER_NOT_READY: the RNR timer's code; else 0
     */
    public static void putResponse(long at, int kind, int detail, int psn) {
        Memory.putShort(at, (short) kind);
        Memory.putShort(at + 2, (short) detail);
        Memory.putInt(at + 4, psn);
        Memory.putLong(at + 8, 0);
    }

    public static int responseKind(long at) {
        return Memory.getShort(at);
    }

    public static int responseDetail(long at) {
        return Memory.getShort(at + 2);
    }

    public static int responsePsn(long at) {
        return Memory.getInt(at + 4);
    }
}
