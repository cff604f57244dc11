package trigon.policy.host;

import java.util.Collection;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import trigon.policy.PolicyHost;
import trigon.policy.ProgramContext;
import trigon.policy.host.OpenEvent.EndedEvent;
import trigon.policy.map.MapException;
import trigon.policy.map.NcclBpfMaps;
import trigon.policy.program.ProgramType;
import trigon.policy.program.ProgramType.Field;

/**
 * Runs the policy's program of events: on the process's maps, which the program of connections has, too, and on those
 * of each tuner of the event's communicator. In the same maps, notes for programs of NCCLbpf's how long the collectives
 * of these communicators took. By one thread, which is none of NCCL's.
 */
final class EventPrograms implements Consumer<EndedEvent> {

    private static final Logger log = LoggerFactory.getLogger(EventPrograms.class);

    private static final ProgramType TYPE = ProgramType.PROFILER;
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

    private static final int COLLECTIVE_EVENT = 1 << OpenEvent.COLLECTIVE;

    private final PolicyHost shared;
    private final PolicyHost.Slot sharedEvents;
    private final Collection<CommunicatorTuner> tuners;
    private final ProgramContext context = new ProgramContext(TYPE);

    /**
     * Lives as long as the process.
     *
     * @param tuners those that there are; read with each event
     */
    EventPrograms(PolicyHost shared, Collection<CommunicatorTuner> tuners) {
        this.shared = shared;
        sharedEvents = shared.slot(TYPE);
        this.tuners = tuners;
    }

    /** Tells whether a policy has a use for events. */
    static boolean areWantedBy(PolicyHost policy) {
        return policy.slot(TYPE).isFilled()
                || (policy.slot(ProgramType.NCCLBPF).isFilled()
                        && NcclBpfMaps.telemetry(policy.maps()).isPresent());
    }

    @Override
    public void accept(EndedEvent event) {
        run(sharedEvents, event);
        for (CommunicatorTuner tuner : tuners) {
            PolicyCommunicator communicator = tuner.communicator();
            if (communicator.id() == event.communicator() && event.communicator() != 0) {
                run(tuner.events(), event);
                record(shared, event, communicator.nodes());
                record(tuner.host(), event, communicator.nodes());
            }
        }
    }

    private static void record(PolicyHost host, EndedEvent event, int nodes) {
        if (event.type() == COLLECTIVE_EVENT && host.slot(ProgramType.NCCLBPF).isFilled()) {
            NcclBpfMaps.telemetry(host.maps()).ifPresent(map -> {
                try {
                    NcclBpfMaps.record(map, event.collective(), nodes, event.bytes(), event.duration());
                } catch (MapException e) {
                    log.debug("a collective is not noted for the policy: {}", e.getMessage());
                }
            });
        }
    }

    private void run(PolicyHost.Slot slot, EndedEvent event) {
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
