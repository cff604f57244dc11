package trigon.qpstate;

import java.util.Set;
import trigon.verbs.AccessFlag;
import trigon.verbs.Mtu;
import trigon.verbs.QueuePairEndpoint;

/** The state of a queue pair, with what is known in it. */
public sealed interface QueuePairState {

    /** The states without what is known in them: what the {@link QueuePairTransition} table is made of. */
    enum Name {
        RESET,
        INIT,
        READY_TO_RECEIVE,
        READY_TO_SEND,
        ERROR,
        CLOSED
    }

    /** By this, the table of transitions knows it. */
    Name name();

    /** Created, or reset: nothing is set. */
    record Reset() implements QueuePairState {
        @Override
        public Name name() {
            return Name.RESET;
        }
    }

    /**
     * Bound to a port; receives may be posted.
     *
     * @param port the device's port, from 1
     * @param pkeyIndex index into the port's table of partition keys
     * @param access what the peer may do through the queue pair
     */
    record Init(int port, int pkeyIndex, Set<AccessFlag> access) implements QueuePairState {

        public Init {
            access = Set.copyOf(access);
        }

        @Override
        public Name name() {
            return Name.INIT;
        }
    }

    /**
     * Connected to the peer's queue pair; receives and answers, but sends no requests yet.
     *
     * @param remote the peer's end
     * @param pathMtu MTU of the path
     */
    record ReadyToReceive(QueuePairEndpoint remote, Mtu pathMtu) implements QueuePairState {
        @Override
        public Name name() {
            return Name.READY_TO_RECEIVE;
        }
    }

    /**
     * Fully up.
     *
     * @param remote the peer's end
     * @param pathMtu MTU of the path
     */
    record ReadyToSend(QueuePairEndpoint remote, Mtu pathMtu) implements QueuePairState {
        @Override
        public Name name() {
            return Name.READY_TO_SEND;
        }
    }

    /**
     * Out of use. Where a verb failed on the way here, the device may still have the queue pair in its former state.
     *
     * @param cause the first failure
     */
    @SuppressWarnings("AvoidCommonTypeNames") // the state's name in the verbs; written QueuePairState.Error everywhere
    record Error(Throwable cause) implements QueuePairState {
        @Override
        public Name name() {
            return Name.ERROR;
        }
    }

    /** Destroyed. No transition leads out. */
    record Closed() implements QueuePairState {
        @Override
        public Name name() {
            return Name.CLOSED;
        }
    }
}
