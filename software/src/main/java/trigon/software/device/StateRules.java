package trigon.software.device;

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
import static trigon.verbs.QueuePairAttribute.TIMEOUT;

import java.util.EnumSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import trigon.system.Errno;
import trigon.verbs.QueuePairAttribute;
import trigon.verbs.QueuePairAttributes;
import trigon.verbs.QueuePairStateCode;
import trigon.verbs.VerbsException;

/**
 * The legal transitions of a reliable connected queue pair, and their attributes.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_modify_qp.3.html">ibv_modify_qp(3), the table for RC</a>
 */
final class StateRules {

    private record Rule(Set<QueuePairAttribute> required, Set<QueuePairAttribute> optional) {}

    private static final Rule ANYTHING_TO_RESET_OR_ERROR = new Rule(Set.of(), Set.of());
    private static final Rule RESET_TO_INIT = new Rule(Set.of(PKEY_INDEX, PORT, ACCESS_FLAGS), Set.of());
    private static final Rule INIT_TO_INIT = new Rule(Set.of(), Set.of(PKEY_INDEX, PORT, ACCESS_FLAGS));
    private static final Rule INIT_TO_RTR = new Rule(
            Set.of(
                    ADDRESS_VECTOR,
                    PATH_MTU,
                    DESTINATION_NUMBER,
                    RECEIVE_PSN,
                    MAX_DESTINATION_READ_ATOMIC,
                    MIN_RNR_TIMER),
            Set.of(PKEY_INDEX, ACCESS_FLAGS));
    private static final Rule RTR_TO_RTS = new Rule(
            Set.of(SEND_PSN, TIMEOUT, RETRY_COUNT, RNR_RETRY, MAX_READ_ATOMIC), Set.of(ACCESS_FLAGS, MIN_RNR_TIMER));
    private static final Rule RTS_TO_RTS = new Rule(Set.of(), Set.of(ACCESS_FLAGS, MIN_RNR_TIMER));

    private StateRules() {}

    /**
     * Checks a change of state.
     *
     * @param object the queue pair, for the message
     * @throws VerbsException EINVAL if the transition is illegal, or an attribute is missing or superfluous
     */
    static void check(String object, QueuePairStateCode from, QueuePairAttributes attributes) {
        QueuePairStateCode to = attributes.state();
        Rule rule = rule(from, to);
        if (rule == null) {
            throw refused(object, from, to, "the transition is illegal");
        }
        Set<QueuePairAttribute> missing = EnumSet.noneOf(QueuePairAttribute.class);
        missing.addAll(rule.required());
        missing.removeAll(attributes.mask());
        if (!missing.isEmpty()) {
            throw refused(object, from, to, "missing " + missing);
        }
        Set<QueuePairAttribute> superfluous = EnumSet.copyOf(attributes.mask());
        superfluous.remove(QueuePairAttribute.STATE);
        superfluous.removeAll(rule.required());
        superfluous.removeAll(rule.optional());
        if (!superfluous.isEmpty()) {
            throw refused(object, from, to, superfluous + " cannot be set here");
        }
    }

    private static @Nullable Rule rule(QueuePairStateCode from, QueuePairStateCode to) {
        return switch (to) {
            case RESET, ERROR -> ANYTHING_TO_RESET_OR_ERROR;
            case INIT ->
                from == QueuePairStateCode.RESET
                        ? RESET_TO_INIT
                        : from == QueuePairStateCode.INIT ? INIT_TO_INIT : null;
            case READY_TO_RECEIVE -> from == QueuePairStateCode.INIT ? INIT_TO_RTR : null;
            case READY_TO_SEND ->
                from == QueuePairStateCode.READY_TO_RECEIVE
                        ? RTR_TO_RTS
                        : from == QueuePairStateCode.READY_TO_SEND ? RTS_TO_RTS : null;
            // the software device's send queue needs no draining: nothing here makes use of these states
            case SEND_QUEUE_DRAINED, SEND_QUEUE_ERROR -> null;
        };
    }

    private static VerbsException refused(
            String object, QueuePairStateCode from, QueuePairStateCode to, String reason) {
        return new VerbsException("ibv_modify_qp", object, Errno.EINVAL, from + " -> " + to + ": " + reason);
    }
}
