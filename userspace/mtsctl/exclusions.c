// SPDX-License-Identifier: GPL-2.0
#include "exclusions.h"

#include <stdio.h>
#include <string.h>

#include "format.h"
#include "glob.h"
#include "watchdog.h"

#define WHY_LOGIN "a display manager: logins wait for it"
#define WHY_SESSION "a session manager: what it starts would wait"
#define WHY_DISPLAY "a display server or a part of the desktop: all its windows would stand still"
#define WHY_ENGINE "a container engine or its monitor: health checks and stops wait for it"
#define WHY_KEYS "mts does not see its keys, so they would wait"
#define WHY_NAMES "names of users and hosts are looked up there: logins wait for it"
#define WHY_LOG "what logs waits for it"
#define WHY_NETWORK "the network: leases and keys would lapse"
#define WHY_DISK "it tends disks, for which the host waits"
#define WHY_AGENT "a CI agent: its server would take it for lost"

/* ---- by path: the cgroup, and all below it --------------------------------------------- */

static const struct {
	const char *pattern;
	const char *why;
} paths[] = {
	{ "init.scope", "PID 1 is in it" },
	{ "user.slice/user-*.slice/user@*.service/init.scope",
	  "the session manager of a user: what it starts would wait" },
	{ "system.slice/systemd-*.service", "a part of systemd, for which the host waits" },
	{ "system.slice/dbus.service", "the system bus, for which the host waits" },
	{ "system.slice/dbus-broker.service", "the system bus, for which the host waits" },
	{ "user.slice/user-*.slice/user@*.service/**/dbus*.service",
	  "the bus of a user's session, for which the desktop waits" },
	{ "system.slice/ssh*.service", "sshd: mts does not see its keys, so they would wait" },
	{ "system.slice/polkit.service", "logins wait for it" },
	{ "system.slice/gdm*.service", WHY_LOGIN },
	{ "system.slice/sddm.service", WHY_LOGIN },
	{ "system.slice/lightdm.service", WHY_LOGIN },
	{ "system.slice/greetd.service", WHY_LOGIN },
	{ "system.slice/display-manager.service", WHY_LOGIN },
	{ "system.slice/docker.service", WHY_ENGINE },
	{ "system.slice/containerd.service", WHY_ENGINE },
	{ "system.slice/crio.service", WHY_ENGINE },
	{ "system.slice/kubelet.service", "the kubelet: its node would be lost" },
	{ "system.slice/mts*.service", "a part of mts" },
};

/* ---- by command: the cgroup in which the process is -------------------------------------- */

static const struct {
	const char *pattern;
	const char *why;
	bool is_root; /* only if its user is root */
} commands[] = {
	{ "sshd", WHY_KEYS, true },
	{ "sshd-session", WHY_KEYS, true },
	{ "dropbear", WHY_KEYS, true },
	{ "mtsd", "a part of mts", false },
	{ "systemd", WHY_SESSION, false },
	{ "systemd-*", "a part of systemd, for which the host waits", true },
	{ "dbus-daemon", "a bus, for which others wait", false },
	{ "dbus-broker*", "a bus, for which others wait", false },
	{ "sssd*", WHY_NAMES, true },
	{ "nscd", WHY_NAMES, false },
	{ "nslcd", WHY_NAMES, false },
	{ "winbindd", WHY_NAMES, true },
	{ "dnsmasq", WHY_NAMES, false },
	{ "rsyslogd", WHY_LOG, false },
	{ "syslog-ng", WHY_LOG, false },
	{ "auditd", WHY_LOG, true },
	{ "NetworkManager", WHY_NETWORK, true },
	{ "wpa_supplicant", WHY_NETWORK, true },
	{ "dhclient", WHY_NETWORK, false },
	{ "dhcpcd", WHY_NETWORK, false },
	{ "multipathd", WHY_DISK, true },
	{ "iscsid", WHY_DISK, true },
	{ "gnome-session*", WHY_SESSION, false },
	{ "ksmserver", WHY_SESSION, false },
	{ "plasma_session", WHY_SESSION, false },
	{ "xfce4-session", WHY_SESSION, false },
	{ "gdm*", WHY_SESSION, false },
	{ "lightdm", WHY_SESSION, false },
	{ "sddm*", WHY_SESSION, false },
	{ "Xorg", WHY_DISPLAY, false },
	{ "Xwayland", WHY_DISPLAY, false },
	{ "X", WHY_DISPLAY, false },
	{ "gnome-shell", WHY_DISPLAY, false },
	{ "mutter*", WHY_DISPLAY, false },
	{ "kwin_*", WHY_DISPLAY, false },
	{ "plasmashell", WHY_DISPLAY, false },
	{ "sway", WHY_DISPLAY, false },
	{ "swaybar", WHY_DISPLAY, false },
	{ "waybar", WHY_DISPLAY, false },
	{ "i3", WHY_DISPLAY, false },
	{ "i3bar", WHY_DISPLAY, false },
	{ "polybar", WHY_DISPLAY, false },
	{ "Hyprland", WHY_DISPLAY, false },
	{ "weston", WHY_DISPLAY, false },
	{ "labwc", WHY_DISPLAY, false },
	{ "xfwm4", WHY_DISPLAY, false },
	{ "xfce4-panel", WHY_DISPLAY, false },
	{ "pipewire*", "sound: it would stop", false },
	{ "wireplumber", "sound: it would stop", false },
	{ "pulseaudio", "sound: it would stop", false },
	{ "dockerd", WHY_ENGINE, false },
	{ "containerd*", WHY_ENGINE, false },
	{ "conmon", WHY_ENGINE, false },
	{ "podman", WHY_ENGINE, false },
	{ "crio", WHY_ENGINE, false },
	{ "kubelet", WHY_ENGINE, false },
	{ "k3s*", WHY_ENGINE, true },
	{ "rke2", WHY_ENGINE, true },
	{ "kubelite", WHY_ENGINE, true },
	{ "buildkitd", WHY_ENGINE, false },
	{ "lxd", WHY_ENGINE, false },
	{ "incusd", WHY_ENGINE, false },
	{ "Runner.Listener", WHY_AGENT, false },
	{ "Runner.Worker", WHY_AGENT, false },
	{ "Agent.Listener", WHY_AGENT, false },
	{ "Agent.Worker", WHY_AGENT, false },
	{ "gitlab-runner", WHY_AGENT, false },
	{ "buildkite-agent", WHY_AGENT, false },
	{ "act_runner", WHY_AGENT, false },
	{ "forgejo-runner", WHY_AGENT, false },
	{ "woodpecker-agent*", WHY_AGENT, false },
	{ "drone-runner*", WHY_AGENT, false },
};

/* The cgroup or one above it. */
static bool by_path(const struct tree *tree, u32 cgroup, char why[EXCLUSION_TEXT])
{
	char path[64];

	for (u32 i = cgroup; i; i = tree->cgroups[i].parent) {
		for (size_t k = 0; k < sizeof(paths) / sizeof(paths[0]); k++) {
			if (!glob_path(paths[k].pattern, tree->cgroups[i].path + 1))
				continue;
			format_name_short(path, sizeof(path) - 1, tree->cgroups[i].path);
			snprintf(why, EXCLUSION_TEXT, "%s: %s", path, paths[k].why);
			return true;
		}
	}
	return false;
}

static bool by_command(const struct tree_process *process, char why[EXCLUSION_TEXT])
{
	for (size_t k = 0; k < sizeof(commands) / sizeof(commands[0]); k++) {
		if (!glob_word(commands[k].pattern, process->comm) ||
		    (commands[k].is_root && process->uid))
			continue;
		snprintf(why, EXCLUSION_TEXT, "it holds %s (%d): %s", process->comm, process->pid,
			 commands[k].why);
		return true;
	}
	return false;
}

bool exclusion_find(const struct tree *tree, u32 cgroup, bool built_in, char why[EXCLUSION_TEXT])
{
	const struct tree_cgroup *c = &tree->cgroups[cgroup];

	for (u32 i = c->first; i < c->own_end; i++) {
		const struct tree_process *process = &tree->processes[i];

		if (process->pid == 1 || process->is_ours) {
			snprintf(why, EXCLUSION_TEXT,
				 "it holds %s (%d): PID 1, mtsctl, and what "
				 "started mtsctl, are never frozen",
				 process->comm, process->pid);
			return true;
		}
		if (built_in && by_command(process, why))
			return true;
	}
	return built_in && by_path(tree, cgroup, why);
}

/* As `mtsctl add`: a pause may take half of the time. */
bool exclusion_by_watchdog(const char *dir, u64 pause_ns, char why[EXCLUSION_TEXT])
{
	char a[FORMAT_SIZE], b[FORMAT_SIZE];
	u64 watchdog;

	if (watchdog_of_cgroup(dir, &watchdog) || !watchdog || watchdog / 2 >= pause_ns)
		return false;
	snprintf(why, EXCLUSION_TEXT,
		 "systemd's watchdog kills it unless it reports every %s, and pauses may take %s: "
		 "a shorter max-pause= allows it",
		 format_time(a, watchdog), format_time(b, pause_ns));
	return true;
}
