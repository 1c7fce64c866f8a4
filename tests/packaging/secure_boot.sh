# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# A host with Secure Boot, where DKMS's key is enrolled: which modules the kernel takes, what mtsctl
# doctor says of the others, and whether mts works. The tests are steps: the last ones have the module.
# secure_boot.py runs them. The modules are in /lab/dkms, /lab/unsigned and /lab/other.

release=$(uname -r)
modules=/lib/modules/$release
folder=$modules/updates/dkms
variables=/sys/firmware/efi/efivars
number=0

fail() { echo "$*" && exit 1; }

# FOLDER CERTIFICATE: DKMS has installed that module, and would sign with that key
install_module() {
	mkdir -p "$folder" /var/lib/dkms
	rm -f "$folder"/*
	cp "/lab/$1"/mts.ko* "$folder" || fail "no module $1"
	cp "/lab/$2.der" /var/lib/dkms/mok.pub || fail "no certificate $2"
	echo "updates/dkms/$(ls "$folder"):" >"$modules/modules.dep"
}

load() {
	case $(echo "$folder"/*) in
	*.xz) xz -dc "$folder/mts.ko.xz" ;;
	*) cat "$folder/mts.ko" ;;
	esac >/tmp/mts.ko
	insmod /tmp/mts.ko 2>&1
}

# REASON: in the kernel's words
expect_refused() {
	dmesg -c >/dev/null
	said=$(load) && fail "the module is loaded"
	case $said in
	*"Key was rejected by service"*) ;;
	*) fail "insmod: $said" ;;
	esac
	dmesg | grep -q "$1" || fail "the kernel does not say: $1"
}

# LEVEL WORDS...: what doctor says of the signature
expect_doctor() {
	level=$1 && shift
	said=$(mtsctl doctor | grep -E '^[a-z]+ +signature')
	for words in "$level " "$@"; do
		case $said in
		*"$words"*) ;;
		*) fail "not '$words': $said" ;;
		esac
	done
}

test_secure_boot_locks_the_kernel_down() {
	grep -q '\[integrity\]' /sys/kernel/security/lockdown ||
		fail "lockdown: $(cat /sys/kernel/security/lockdown)"
	[ "$(tail -c 1 $variables/SecureBoot-* | od -An -tu1)" -eq 1 ] || fail "Secure Boot is off"
}

test_a_module_without_signature_is_refused() {
	install_module unsigned dkms
	expect_refused "Loading of unsigned module is rejected"
	expect_doctor problem "(Secure Boot)" "is not signed" "openssl" "dkms install mts/"
}

test_a_key_that_is_not_enrolled_is_refused() {
	install_module other other
	expect_refused "Loading of module with unavailable key is rejected"
	expect_doctor problem "(DKMS module signing key) is not enrolled" \
		"mokutil --import /var/lib/dkms/mok.pub" "Enroll MOK"
}

test_a_module_of_an_older_key_is_to_be_signed_again() {
	install_module other dkms
	expect_doctor problem "is not enrolled" "sign it with DKMS's key" "dkms install mts/"
}

test_the_module_of_dkms_loads() {
	install_module dkms dkms
	expect_doctor ok "(Secure Boot)" "(DKMS module signing key) is enrolled"
	said=$(load) || fail "insmod: $said: $(dmesg | tail -n 3)"
	said=$(mtsctl doctor) || fail "$said"
}

test_each_hook_is_there() {
	said=$(mtsctl status) || fail "mtsctl status"
	case $said in
	*"not seen"*) fail "$said" ;;
	esac
}

count_switches() { mtsctl stats | awk '/ switches between bins$/ { print $1 }'; }

# JOB JOB: they do not fit in a bin together
expect_turns() {
	mtsctl set mode=always bin=200M slice=2s min_slice=1s overhead=off demand=allocated \
		max_pause=60s || fail "mtsctl set"
	for job; do
		mtsctl run --name "$job" -- syn8 -n 1 -s 150M -a 100G >/dev/null 2>&1 &
	done
	i=0
	until [ "$(count_switches)" -ge 6 ] && mtsctl status | grep -q "1 of them frozen now"; do
		i=$((i + 1))
		[ $i -lt 300 ] || fail "after 60 s: $(mtsctl status; mtsctl stats | head -n 8)"
		sleep 0.2
	done
	[ "$(awk 'NR == 2 { print $4 }' /proc/swaps)" -gt 50000 ] || fail "nothing is evicted"
}

test_jobs_take_turns() { expect_turns a b; }

test_it_unloads_and_all_run() {
	rmmod mts || fail "rmmod"
	said=$(find /sys/fs/cgroup -name cgroup.events -exec grep -l "frozen 1" {} +)
	[ -z "$said" ] || fail "frozen: $said"
	killall syn8
}

test_mtsd_works_without_the_module() {
	mtsd >/tmp/mtsd 2>&1 &
	daemon=$!
	i=0
	until mtsctl status >/dev/null 2>&1; do
		i=$((i + 1))
		[ $i -lt 100 ] || fail "mtsd does not answer: $(cat /tmp/mtsd)"
		sleep 0.1
	done
	expect_turns c d
	kill $daemon
	wait $daemon
	killall syn8
}

# Each test, in a shell of its own.
run() {
	echo "1..$#"
	for name; do
		number=$((number + 1))
		if why=$("test_$name"); then
			echo "ok $number - $name"
		else
			echo "not ok $number - $name # $(echo "$why" | tr '\n#' ';-')"
		fi
	done
}

mount -t securityfs securityfs /sys/kernel/security
mount -t efivarfs efivarfs $variables
# shellcheck disable=SC2154 # secure_boot.py has them
run $steps >/dev/ttyS1
