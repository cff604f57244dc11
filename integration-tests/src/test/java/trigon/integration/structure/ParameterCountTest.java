package trigon.integration.structure;

import static java.util.stream.Collectors.toCollection;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaConstructor;
import com.tngtech.archunit.core.domain.JavaModifier;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Constructors and methods take few parameters: what belongs together has a name of its own. Here is what takes more,
 * by the reason for it; these lists may only shrink.
 */
class ParameterCountTest {

    private static final int MAX = 6;

    /** jextract's. */
    private static final String GENERATED = "trigon.verbs.ffm.generated";

    private static final Map<String, List<String>> ALLOWED = Map.of(
            "the arguments of NCCL's own function, in registers as C passes them",
            List.of(
                    "OneSidedUpcalls.control",
                    "OneSidedUpcalls.get",
                    "OneSidedUpcalls.put",
                    "CommunicatorTuner.chunk",
                    "TunerAdvice.chunk",
                    "TunerUpcalls.getChunkSize",
                    "TunerUpcalls.getCollInfo"),
            "the fields of a work request, posted on the data path without an object",
            List.of(
                    "SoftwareQueuePair.post",
                    "SoftwareQueuePair.postWrite",
                    "SoftwareQueuePair.postWriteWithImmediate",
                    "RendezvousSender.post",
                    "QueuePair.postWrite",
                    "QueuePair.postWriteWithImmediate",
                    "PartialQueuePair.postWrite",
                    "PartialQueuePair.postWriteWithImmediate",
                    "NativeQueuePair.postWrite",
                    "NativeQueuePair.postWriteWithImmediate",
                    "SendWorkRequests.prepareSendWithImmediate",
                    "SendWorkRequests.prepareWrite",
                    "SendWorkRequests.prepareWriteWithImmediate"),
            "the fields of a completion, passed on by the data path without an object",
            List.of("WorkCompletions.set"),
            "the arguments of a function of C",
            List.of("NativePair.<init>", "SoftwareFunctions.call", "NativeFunction.call"),
            "a layout in memory: what C or programs of policies know as one struct",
            List.of(
                    "NetBlock.<init>",
                    "ElfFile$Section.<init>",
                    "HashMap.<init>",
                    "MapSpec.<init>",
                    "ArrayMap.<init>",
                    "ProgramType$Field.<init>",
                    "ProgramType.<init>"),
            "a message between nodes",
            List.of(
                    "HandshakeMessage$Answer.<init>",
                    "HandshakeMessage$Offer.<init>",
                    "ListenHandle.<init>",
                    "NodeRecord.<init>"),
            "a record of facts or settings, which are read one by one",
            List.of(
                    "PluginConfig.<init>",
                    "Counterpart.<init>",
                    "Network.<init>",
                    "NoPathReport.<init>",
                    "LinkFacts$Link.<init>",
                    "LinkFacts.<init>",
                    "NetworkFacts.<init>",
                    "Nic.<init>",
                    "NodeFacts.<init>",
                    "PluginFacts.<init>",
                    "RdmaPort.<init>",
                    "ShapeDemo.<init>",
                    "SystemFacts.<init>",
                    "Transfer$Written.<init>",
                    "QueuePairConfig.<init>",
                    "SettingKey.<init>",
                    "Settings.add", // a row of the table of settings
                    "DeviceProperties.<init>",
                    "HostInterface.<init>",
                    "PolicyReport.<init>",
                    "Rejection.<init>",
                    "VerifiedProgram.<init>",
                    "OpenEvent$EndedEvent.<init>",
                    "EventAssembly$Entry.<init>",
                    "RelayLimits.<init>",
                    "Run.<init>",
                    "LinkRow.<init>",
                    "OperationRow.<init>",
                    "LocalLink.<init>",
                    "Completion.<init>",
                    "QueuePairSettings.<init>",
                    "MachineLinks.<init>",
                    "Plan.<init>",
                    "Prober$Order.<init>",
                    "MetricsReader$FailoverMetrics.<init>",
                    "ReceiverResume.<init>",
                    "SenderResume.<init>",
                    "AddressVector.<init>"),
            "private, of the verifier of policies: what it says of one instruction or number",
            List.of("RangeArithmetic.bounded", "Verifier.rejection"));

    @Test
    void fewTakeManyParameters() {
        TreeSet<String> allowed =
                ALLOWED.values().stream().flatMap(List::stream).collect(toCollection(TreeSet::new));
        TreeSet<String> found = ProjectClasses.ALL.stream()
                .filter(type -> !type.getPackageName().startsWith(GENERATED) && !type.isAnonymousClass())
                .flatMap(type -> type.getCodeUnits().stream())
                .filter(unit -> !unit.getModifiers().contains(JavaModifier.SYNTHETIC) && parameters(unit) > MAX)
                .map(ParameterCountTest::nameOf)
                .collect(toCollection(TreeSet::new));

        assertThat(found)
                .as(
                        "what takes more than %d parameters: pass what belongs together as one record;"
                                + " and take out of the lists here what takes fewer by now",
                        MAX)
                .isEqualTo(allowed);
    }

    /** As the source has them: an enum's constructor gets two more, and an inner class's one. */
    private static int parameters(JavaCodeUnit unit) {
        int all = unit.getRawParameterTypes().size();
        JavaClass owner = unit.getOwner();
        if (!(unit instanceof JavaConstructor)) {
            return all;
        }
        boolean isInner = owner.isMemberClass() && !owner.getModifiers().contains(JavaModifier.STATIC);
        return all - (owner.isEnum() ? 2 : isInner ? 1 : 0);
    }

    private static String nameOf(JavaCodeUnit unit) {
        String type = unit.getOwner().getName();
        return type.substring(type.lastIndexOf('.') + 1) + "." + unit.getName();
    }
}
