package trigon.verbs.ffm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assumptions.abort;

import org.junit.jupiter.api.Test;
import trigon.system.Errno;
import trigon.verbs.LinkKind;
import trigon.verbs.VerbsAvailability.Available;
import trigon.verbs.VerbsAvailability.Unavailable;
import trigon.verbs.VerbsException;
import trigon.verbs.VerbsProvider;

class LibibverbsTest {

    @Test
    void saysWhatToInstallWhereThereIsNoLibrary() {
        assertThat(Libibverbs.load("libibverbs-absent.so.1"))
                .isInstanceOfSatisfying(
                        Unavailable.class,
                        absent -> assertThat(absent.reason())
                                .contains("libibverbs-absent.so.1", "libibverbs1", "ibverbs-providers")
                                .doesNotContain("\n"));
    }

    @Test
    void saysWhatALibraryLacks() {
        assertThat(Libibverbs.load("libc.so.6"))
                .isInstanceOfSatisfying(
                        Unavailable.class,
                        old -> assertThat(old.reason())
                                .contains("libc.so.6 is too old", "ibv_open_device", "rdma-core 28"));
    }

    @Test
    void eitherLoadsOrSaysWhyNot() {
        switch (Libibverbs.load()) {
            case Available(VerbsProvider provider) -> {
                assertThat(provider.name()).isEqualTo("libibverbs");
                assertThat(provider.linkKind()).isEqualTo(LinkKind.RDMA);
                assertThat(provider.ledger().outstanding()).isEmpty();
            }
            case Unavailable(String reason) -> assertThat(reason).contains("install");
        }
    }

    @Test
    void listsNoDeviceAndOpensNoneWhereThereIsNone() {
        if (!(Libibverbs.load() instanceof Available(VerbsProvider provider))) {
            abort("there is no libibverbs here");
            return;
        }
        String absent = "absent_0";

        assertThat(provider.deviceNames()).doesNotContain(absent);
        assertThatExceptionOfType(VerbsException.class)
                .isThrownBy(() -> provider.open(absent))
                .withMessageContaining(absent)
                .satisfies(e -> assertThat(e.errno()).isEqualTo(Errno.ENODEV));
        assertThat(provider.ledger().outstanding()).isEmpty();
    }
}
