package trigon.tools.keep;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** A unit of systemd that runs {@code ip}, where no program is in charge of the interface; see systemd.service(5). */
record UnitKeeper() implements Keeper {

    private static final String FOLDER = "/etc/systemd/system/";

    @Override
    public String program() {
        return "systemd";
    }

    @Override
    public List<LastingFile> files(WantedNic nic) {
        String unit = "trigon-" + escaped(nic.name()) + ".service";
        String addresses = nic.addresses().stream()
                .map(address -> "ExecStart=/usr/bin/env " + new Change.Add(nic.name(), address).command() + "\n")
                .collect(Collectors.joining());
        String text = """
                [Unit]
                Description=Addresses of %1$s, a cable of Trigon's
                Wants=sys-subsystem-net-devices-%2$s.device
                After=sys-subsystem-net-devices-%2$s.device
                Before=network.target

                [Service]
                Type=oneshot
                RemainAfterExit=yes
                ExecStart=/usr/bin/env %3$s
                %4$s
                [Install]
                WantedBy=multi-user.target
                """.formatted(
                        nic.name(), escaped(nic.name()), new Change.Link(nic.name(), nic.mtu()).command(), addresses);
        return List.of(
                new LastingFile(FOLDER + unit, "644", text),
                new LastingFile(FOLDER + "multi-user.target.wants/" + unit, LastingFile.LINK, FOLDER + unit));
    }

    /** As systemd-escape(1) has it. */
    private static String escaped(String nic) {
        return nic.replaceAll("^\\.", "\\\\x2e").replace("-", "\\x2d").replace("@", "\\x40");
    }

    @Override
    public List<String> reread(WantedNic nic) {
        return List.of("if [ -d /run/systemd/system ]; then systemctl daemon-reload; fi");
    }

    @Override
    public List<String> activate(WantedNic nic) {
        return Stream.concat(
                        Stream.of(new Change.Link(nic.name(), nic.mtu())),
                        nic.addresses().stream().map(each -> new Change.Add(nic.name(), each)))
                .map(Change::command)
                .toList();
    }
}
