package trigon.onesided.peer;

import java.lang.foreign.Arena;
import trigon.onesided.memory.GpuMemory;

/**
 * This end's memory of one direction: records, and places where payloads of a GPU's memory lie on their way. Places are
 * taken and given back in one order. Its group's thread's, once it is made.
 */
public final class Staging implements AutoCloseable {

    private static final long LINE = 64;

    /** From one record to the next. */
    private static final long STRIDE = (PutRecordLayout.MAX_BYTES + LINE - 1) / LINE * LINE;

    private static final long RECORDS_BYTES = STRIDE * RankConnection.MAX_MESSAGES;
    private static final long PLACES_BYTES = (long) RankConnection.STAGED_PIECE_BYTES * RankConnection.STAGED_PIECES;

    private final Arena arena = Arena.ofShared();
    private final GpuMemory device;
    private final long records;
    private final long places;
    private long recordsHandle;
    private long placesHandle;
    private long taken;
    private long given;

    /**
     * Memory.
     *
     * @param device copies to and from it
     * @param staged whether there will be payloads of a GPU's memory
     */
    public Staging(GpuMemory device, boolean staged) {
        this.device = device;
        records = arena.allocate(RECORDS_BYTES, 4096).address();
        device.pin(records, RECORDS_BYTES);
        places = staged ? arena.allocate(PLACES_BYTES, 4096).address() : 0;
        if (staged) {
            device.pin(places, PLACES_BYTES);
        }
    }

    /** The transport's numbers for it. */
    public void registered(Registrar registrar, RankConnection connection) {
        recordsHandle = registrar.register(connection.records(), records, RECORDS_BYTES);
        placesHandle = places == 0 ? 0 : registrar.register(connection.payloads(), places, PLACES_BYTES);
    }

    /** Registers memory with a comm. */
    @FunctionalInterface
    public interface Registrar {
        long register(long comm, long address, long bytes);
    }

    /** Address at which a record is built, or comes. */
    long record(long number) {
        return records + STRIDE * (number & (RankConnection.MAX_MESSAGES - 1));
    }

    long recordsHandle() {
        return recordsHandle;
    }

    long placesHandle() {
        return placesHandle;
    }

    boolean hasPlace() {
        return places != 0 && taken - given < RankConnection.STAGED_PIECES;
    }

    /** The one that {@link #takePlace} takes. */
    long nextPlace() {
        return places + (taken % RankConnection.STAGED_PIECES) * RankConnection.STAGED_PIECE_BYTES;
    }

    long takePlace() {
        long place = nextPlace();
        taken++;
        return place;
    }

    void givePlace() {
        given++;
    }

    @Override
    public void close() {
        device.unpin(records);
        if (places != 0) {
            device.unpin(places);
        }
        arena.close();
    }
}
