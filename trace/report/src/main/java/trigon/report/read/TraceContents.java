package trigon.report.read;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import trigon.trace.Fields;

/** The content of one process's file. */
public final class TraceContents {

    private final String file;
    private Fields process = Fields.NONE;
    private Fields end = Fields.NONE;
    private final Map<Integer, Stream> streams = new LinkedHashMap<>();
    private final List<Event> events = new ArrayList<>();

    TraceContents(String file) {
        this.file = file;
    }

    public String file() {
        return file;
    }

    /** The process's description of itself at its begin: rank, host, program, clock. */
    public Fields process() {
        return process;
    }

    /** The process's words at its end; empty if it did not close its trace. */
    public Fields end() {
        return end;
    }

    /** Its streams, by number. */
    public Map<Integer, Stream> streams() {
        return streams;
    }

    /** Events beside the data path, in order. */
    public List<Event> events() {
        return events;
    }

    void process(Fields fields) {
        process = fields;
    }

    void end(Fields fields) {
        end = fields;
    }

    /**
     * Something that happened beside the data path.
     *
     * @param what a word
     * @param time nanoseconds of the machine's clock
     * @param fields what is known of it
     */
    public record Event(String what, long time, Fields fields) {}
}
