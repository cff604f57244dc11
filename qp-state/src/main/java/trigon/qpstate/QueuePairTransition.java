package trigon.qpstate;

import static trigon.verbs.QueuePairAttribute.ACCESS_FLAGS;
import static trigon.verbs.QueuePairAttribute.ADDRESS_VECTOR;
import static trigon.verbs.QueuePairAttribute.DESTINATION_NUMBER;
import static trigon.verbs.QueuePairAttribute.MAX_DESTINATION_READ_ATOMIC;
import static trigon.verbs.QueuePairAttribute.MAX_READ_ATOMIC;
import static trigon.verbs.QueuePairAttribute.MIN_RNR_TIMER;
import static trigon.verbs.QueuePairAttribute.PATH_MTU;
import static trigon.verbs.QueuePairAttribute.PKEY_INDEX;
import static trigon.verbs.QueuePairAttribute.PORT;
import static trigon.verbs.QueuePairAttribute.RECEIVE_PSN;
import static trigon.verbs.QueuePairAttribute.RETRY_COUNT;
import static trigon.verbs.QueuePairAttribute.RNR_RETRY;
import static trigon.verbs.QueuePairAttribute.SEND_PSN;
import static trigon.verbs.QueuePairAttribute.STATE;
import static trigon.verbs.QueuePairAttribute.TIMEOUT;

import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import trigon.qpstate.QueuePairState.Name;
import trigon.verbs.QueuePairAttribute;

/**
 * One legal transition of a reliable connected queue pair, and the attributes that {@code ibv_modify_qp(3)} needs for
 * it: exactly these, optional ones are not used.
 *
 * @param from the state before
 * @param to the state after
 * @param attributes what has to be set; empty where the transition is not a modification ({@code ibv_destroy_qp(3)})
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_modify_qp.3.html">ibv_modify_qp(3), IBV_QPT_RC</a>
 */
public record QueuePairTransition(Name from, Name to, Set<QueuePairAttribute> attributes) {

    /** The legal transitions; whatever is not among them, a queue pair refuses. */
    public static final List<QueuePairTransition> ALL = List.of(
            row(Name.RESET, Name.INIT, STATE, PKEY_INDEX, PORT, ACCESS_FLAGS),
            row(
                    Name.INIT,
                    Name.READY_TO_RECEIVE,
                    STATE,
                    ADDRESS_VECTOR,
                    PATH_MTU,
                    DESTINATION_NUMBER,
                    RECEIVE_PSN,
                    MAX_DESTINATION_READ_ATOMIC,
                    MIN_RNR_TIMER),
            row(
                    Name.READY_TO_RECEIVE,
                    Name.READY_TO_SEND,
                    STATE,
                    SEND_PSN,
                    TIMEOUT,
                    RETRY_COUNT,
                    RNR_RETRY,
                    MAX_READ_ATOMIC),
            // any -> ERROR; an error stays what it first was
            row(Name.RESET, Name.ERROR, STATE),
            row(Name.INIT, Name.ERROR, STATE),
            row(Name.READY_TO_RECEIVE, Name.ERROR, STATE),
            row(Name.READY_TO_SEND, Name.ERROR, STATE),
            // any -> RESET
            row(Name.RESET, Name.RESET, STATE),
            row(Name.INIT, Name.RESET, STATE),
            row(Name.READY_TO_RECEIVE, Name.RESET, STATE),
            row(Name.READY_TO_SEND, Name.RESET, STATE),
            row(Name.ERROR, Name.RESET, STATE),
            // any -> destroyed
            row(Name.RESET, Name.CLOSED),
            row(Name.INIT, Name.CLOSED),
            row(Name.READY_TO_RECEIVE, Name.CLOSED),
            row(Name.READY_TO_SEND, Name.CLOSED),
            row(Name.ERROR, Name.CLOSED));

    public QueuePairTransition {
        attributes = Set.copyOf(attributes);
    }

    /** The transition between two states; empty if it is illegal. */
    public static Optional<QueuePairTransition> between(Name from, Name to) {
        return ALL.stream().filter(row -> row.from == from && row.to == to).findFirst();
    }

    /** The states that can be reached from one in one step, in the order of the enum. */
    public static Set<Name> legalFrom(Name from) {
        Set<Name> legal = EnumSet.noneOf(Name.class);
        ALL.stream().filter(row -> row.from == from).forEach(row -> legal.add(row.to));
        return legal;
    }

    private static QueuePairTransition row(Name from, Name to, QueuePairAttribute... attributes) {
        return new QueuePairTransition(from, to, Set.of(attributes));
    }
}
