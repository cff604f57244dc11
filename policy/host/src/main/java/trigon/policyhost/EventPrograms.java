package trigon.policyhost;

import java.util.Collection;
import java.util.function.Consumer;
import trigon.policy.PolicySlot;
import trigon.policy.ProgramContext;
import trigon.policy.program.Field;
import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramTypes;

/**
 * Runs the policy's program of events: on the process's maps, which the program of connections has, too, and on those
 * of each tuner of the event's communicator. By one thread, which is none of NCCL's.
 */
final class EventPrograms implements Consumer<EndedEvent> {

    private static final ProgramType TYPE = ProgramTypes.PROFILER;
    private static final Field BYTES = TYPE.field("n_bytes");
    private static final Field COMMUNICATOR = TYPE.field("comm_id");
    private static final Field SEQUENCE = TYPE.field("sequence");
    private static final Field START = TYPE.field("start_ns");
    private static final Field DURATION = TYPE.field("duration_ns");
    private static final Field EVENT_TYPE = TYPE.field("event_type");
    private static final Field COLLECTIVE = TYPE.field("coll_type");
    private static final Field ALGORITHM = TYPE.field("algorithm");
    private static final Field PROTOCOL = TYPE.field("protocol");
    private static final Field CHANNELS = TYPE.field("n_channels");
    private static final Field CHANNEL = TYPE.field("channel");
    private static final Field RANK = TYPE.field("rank");
    private static final Field PEER = TYPE.field("peer");
    private static final Field SENDS = TYPE.field("sends");

    private final PolicySlot shared;
    private final Collection<Decider> deciders;
    private final ProgramContext context = new ProgramContext(TYPE);

    /**
     * Lives as long as the process.
     *
     * @param deciders those that there are; read with each event
     */
    EventPrograms(PolicySlot shared, Collection<Decider> deciders) {
        this.shared = shared;
        this.deciders = deciders;
    }

    @Override
    public void accept(EndedEvent event) {
        run(shared, event);
        for (Decider decider : deciders) {
            if (decider.communicator() == event.communicator() && event.communicator() != 0) {
                run(decider.events(), event);
            }
        }
    }

    private void run(PolicySlot slot, EndedEvent event) {
        if (!slot.isFilled()) {
            return;
        }
        context.set(BYTES, event.bytes());
        context.set(COMMUNICATOR, event.communicator());
        context.set(SEQUENCE, event.sequence());
        context.set(START, event.start());
        context.set(DURATION, event.duration());
        context.set(EVENT_TYPE, event.type());
        context.set(COLLECTIVE, event.collective());
        context.set(ALGORITHM, event.algorithm());
        context.set(PROTOCOL, event.protocol());
        context.set(CHANNELS, event.channels());
        context.set(CHANNEL, event.channel());
        context.set(RANK, event.rank());
        context.set(PEER, event.peer());
        context.set(SENDS, event.sends() ? 1 : 0);
        var _ = slot.run(context); // it decides nothing
    }
}
