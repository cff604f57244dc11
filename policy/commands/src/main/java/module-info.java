/** The command {@code trigon policy}; {@code tools} finds it as a service. */
module trigon.policy.commands {
    requires info.picocli;
    requires trigon.cluster;
    requires trigon.policy;
    requires trigon.system;
    requires trigon.tools;
    requires static org.jspecify;

    opens trigon.policy.commands to
            info.picocli;

    provides trigon.tools.command.CommandProvider with
            trigon.policy.commands.PolicyCommands;
}
