package trigon.cluster.facts;

import java.util.Optional;
import trigon.cluster.json.JsonObject;

/** What came of an RDMA WRITE between two nodes. */
public record Transfer(JsonObject json) {

    /** A device with the GID that it used. */
    public record End(JsonObject json) {

        public String device() {
            return json.text("device");
        }

        public long gidIndex() {
            return json.whole("gidIndex");
        }

        public String gidType() {
            return json.text("gidType");
        }

        public String gidText() {
            return json.text("gidText");
        }
    }

    /** {@code right}, or how it ended; empty if it was not tried. */
    public String outcome() {
        return json.text("outcome");
    }

    /** The node at which a step failed. */
    public String at() {
        return json.text("at");
    }

    /** That step. */
    public String failed() {
        return json.text("failed");
    }

    public String errno() {
        return json.text("errno");
    }

    public String why() {
        return json.text("why");
    }

    /** Of the completion. */
    public String status() {
        return json.text("status");
    }

    /** That were written until then. */
    public long bytes() {
        return json.whole("bytes");
    }

    public long pathMtu() {
        return json.whole("pathMtu");
    }

    /** Bytes that are others than were sent. */
    public long wrong() {
        return json.whole("wrong");
    }

    /** The place of the first of these. */
    public long firstWrong() {
        return json.whole("firstWrong");
    }

    public Optional<Long> rateMbps() {
        return json.number("rateMbps").map(Double::longValue);
    }

    /** Of all that was written at once, where a gateway is between. */
    public Optional<Long> burstMbps() {
        return json.number("burstMbps").map(Double::longValue);
    }

    public End from() {
        return new End(json.object("from"));
    }

    public End to() {
        return new End(json.object("to"));
    }
}
