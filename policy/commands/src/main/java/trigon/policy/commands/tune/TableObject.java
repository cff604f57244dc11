package trigon.policy.commands.tune;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import trigon.cluster.facts.TunedTable;
import trigon.policy.PolicyException;
import trigon.policy.PolicyLoader;
import trigon.policy.verify.VerifierLimits;
import trigon.tools.console.CommandFailure;

/** The policy {@code tuning.o} with other data: {@code policy/examples/tuning.c} has their layout. Pure. */
final class TableObject {

    /** The most rows of a table. */
    static final int MAX_ROWS = 128;

    private static final int ROWS_OFFSET = TunedTable.MARK.length() + 1 + Long.BYTES;

    private TableObject() {}

    /**
     * Writes a table into a copy of the object, and verifies it.
     *
     * @param shipped the object of the distribution
     * @param inTurns true to leave half of the calls to NCCL
     * @param madeFor what {@code trigon doctor} reads
     * @throws CommandFailure if the object is another one, or is refused
     */
    static byte[] of(String name, byte[] shipped, List<Row> rows, boolean inTurns, String madeFor) {
        byte[] object = shipped.clone();
        int mark = TunedTable.markIn(object);
        byte[] text = madeFor.getBytes(StandardCharsets.UTF_8);
        if (mark < 0 || text.length >= TunedTable.MAX_TEXT || rows.size() > MAX_ROWS) {
            throw new CommandFailure("tuning.o of this distribution has no room for the table: install Trigon anew");
        }
        ByteBuffer data = ByteBuffer.wrap(object).order(ByteOrder.LITTLE_ENDIAN);
        data.putLong(mark + ROWS_OFFSET - Long.BYTES, inTurns ? 1 : 0);
        data.position(mark + ROWS_OFFSET);
        for (Row row : rows) {
            data.putLong(row.what().minBytes()).putLong(row.what().maxBytes());
            data.putInt(row.what().collective());
            data.putInt(row.what().ranks()).putInt(row.what().nodes());
            data.putInt(row.choice().algorithm()).putInt(row.choice().protocol());
            data.putInt(row.choice().channels());
        }
        data.put(mark + TunedTable.TEXT_OFFSET, text);
        try {
            PolicyLoader loader = new PolicyLoader(VerifierLimits.DEFAULT);
            loader.check(loader.verify(name, object));
        } catch (PolicyException e) {
            throw new CommandFailure("the table was refused: " + e.summary() + "; install Trigon anew");
        }
        return object;
    }
}
